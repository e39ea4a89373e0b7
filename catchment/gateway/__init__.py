"""The site gateway: listeners that hear devices, and a forwarder that hands on to Kafka."""
