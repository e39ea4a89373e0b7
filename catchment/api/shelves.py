"""The addresses of what people declare: listed, shown, declared and deleted alike, whatever it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fastapi import APIRouter, Response, status
from pydantic import BaseModel, create_model

from catchment.api.declared import (
    CHANGED,
    LISTED,
    PLACE,
    READ,
    SHOWN,
    WRITE,
    Id,
    IfMatch,
    OfSite,
    OnlySite,
    place_of,
    tag,
)
from catchment.api.paging import Cursor, Limit, Next, page_of
from catchment.api.services import Services, ServicesOfApp
from catchment.registry.model import Declared
from catchment.registry.shelf import Expected, Shelf

Thing = TypeVar("Thing", bound=Declared)


@dataclass(frozen=True)
class Addresses(Generic[Thing]):
    """What is particular of one kind: its address, what people call it, its models, and who keeps it.

    `put` and `delete` are those of the shelf, or of whoever checks what they refer to.
    """

    path: str
    group: str
    one: str
    many: str
    made: str
    model: type[Thing]
    spec: type[BaseModel]
    shelf: Callable[[Services], Shelf[Thing]]
    put: Callable[[Services], Callable[[str, Any, Expected], Thing]]
    delete: Callable[[Services], Callable[[str, Expected], None]]
    deletion: str | None = None

    def router(self) -> APIRouter:
        """The four addresses."""
        router = APIRouter(prefix=f"/api/v1/{self.path}", tags=[self.group])
        several = self.path.replace("-", "_")
        single = several.removesuffix("s")
        self._add_list(router, f"list_{several}")
        self._add_get(router, f"get_{single}")
        self._add_put(router, f"put_{single}")
        self._add_delete(router, f"delete_{single}")
        return router

    def _add_list(self, router: APIRouter, name: str) -> None:
        page = create_model(
            f"{self.model.__name__}Page",
            __doc__=f"Some {self.many}, and where the next ones begin.",
            items=(list[self.model], ...),  # type: ignore[name-defined]
            next=(Next, ...),
        )
        summary = f"All {self.many}, sorted by site and id"

        @router.get("", name=name, dependencies=READ, responses=LISTED, summary=summary, response_model=page)
        def list_all(
            services: ServicesOfApp, site: OnlySite = None, limit: Limit = 100, cursor: Cursor = None
        ) -> Any:
            items, following = page_of(self.shelf(services).all(site), place_of, PLACE, limit, cursor)
            return {"items": items, "next": following}

    def _add_get(self, router: APIRouter, name: str) -> None:
        @router.get(
            "/{identifier}",
            name=name,
            dependencies=READ,
            responses=SHOWN,
            summary=f"One {self.one}",
            response_model=self.model,
        )
        def get(services: ServicesOfApp, response: Response, identifier: Id, site: OfSite = None) -> Any:
            found = self.shelf(services).get(identifier, site)
            tag(response, found.version)
            return found

    def _add_put(self, router: APIRouter, name: str) -> None:
        def put(
            services: ServicesOfApp, response: Response, identifier: Id, spec: Any, expected: IfMatch
        ) -> Any:
            written = self.put(services)(identifier, spec, expected)
            tag(response, written.version)
            return written

        # What a caller may say is known only here.
        put.__annotations__["spec"] = self.spec
        router.add_api_route(
            "/{identifier}",
            put,
            methods=["PUT"],
            name=name,
            dependencies=WRITE,
            responses=CHANGED,
            summary=f"{self.made} or change a {self.one} of this site",
            response_model=self.model,
        )

    def _add_delete(self, router: APIRouter, name: str) -> None:
        @router.delete(
            "/{identifier}",
            name=name,
            dependencies=WRITE,
            responses=CHANGED,
            status_code=status.HTTP_204_NO_CONTENT,
            summary=f"Delete a {self.one} of this site",
            description=self.deletion,
        )
        def delete(services: ServicesOfApp, identifier: Id, expected: IfMatch) -> None:
            self.delete(services)(identifier, expected)
