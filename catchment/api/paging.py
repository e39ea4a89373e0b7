"""Lists page by page: a cursor names the last item that was seen, so that pages hold while lists change."""

import base64
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import orjson
from fastapi import Query
from pydantic import Field, TypeAdapter

from catchment.errors import InvalidRequest

Item = TypeVar("Item")
Place = TypeVar("Place", bound=tuple[Any, ...])

Limit = Annotated[int, Query(ge=1, le=1000, description="Most items of a page.")]
Cursor = Annotated[str | None, Query(max_length=1000, description="The `next` of the page before.")]
Next = Annotated[str | None, Field(description="The cursor of the next page; null on the last one.")]


def page_of(
    items: Sequence[Item],
    place_of: Callable[[Item], Place],
    place: TypeAdapter[Place],
    limit: int,
    cursor: str | None,
) -> tuple[list[Item], str | None]:
    """The items after the cursor, and the cursor of those after them. The items are sorted by place."""
    start = bisect_right(items, decode_place(place, cursor), key=place_of) if cursor else 0
    page = list(items[start : start + limit])
    more = len(items) > start + limit
    return page, encode_place(place_of(page[-1])) if more else None


def encode_place(place: tuple[Any, ...]) -> str:
    """A place as a cursor."""
    return base64.urlsafe_b64encode(orjson.dumps(place)).decode()


def decode_place(place: TypeAdapter[Place], cursor: str) -> Place:
    """The place that a cursor names."""
    try:
        return place.validate_json(base64.urlsafe_b64decode(cursor))
    except ValueError:
        raise InvalidRequest(
            "The cursor cannot be read", "Send the `next` of an earlier page as it is."
        ) from None
