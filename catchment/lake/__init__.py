"""The lake: Delta tables of what is on the topics, and questions about them."""
