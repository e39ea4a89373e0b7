"""What a deployed query is called where it runs, and where it runs."""

from catchment.config import Role
from catchment.queries.model import QuerySpec, Where

PREFIX = "deployed/"


def query_name(name: str) -> str:
    """The name of a deployed query in the pipeline, beside those that come with Catchment."""
    return PREFIX + name


def component_name(name: str) -> str:
    """The same in the status of a node."""
    return f"query:{query_name(name)}"


def runs_at(query: QuerySpec, role: Role) -> bool:
    """Whether a query runs at a node of this role."""
    if query.where is Where.BOTH or role is Role.BOTH:
        return True
    return query.where.value == role.value
