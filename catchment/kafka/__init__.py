"""The embedded broker, or an existing cluster: its topics, who may do what, and clients."""
