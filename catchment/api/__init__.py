"""The API: FastAPI routers, one file a resource, and the service that runs them over HTTPS."""
