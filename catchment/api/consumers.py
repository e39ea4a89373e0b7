"""Who may read from Kafka, and what."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response
from pydantic import BaseModel, Field

from catchment.api.access import Caller, allowed
from catchment.api.handed_out import HandedOut, authority_of
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.config import Config
from catchment.config.section import Name
from catchment.errors import Conflict
from catchment.kafka.access import groups_of
from catchment.kafka.identities import bootstrap_servers
from catchment.kafka.rights import apply_rights
from catchment.records import Kind
from catchment.security.authority import Credentials
from catchment.security.consumers import Consumers
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/consumers", tags=["parties"])

_Manager = Annotated[Caller, Depends(allowed(Scope.PARTIES_WRITE))]
_Name = Annotated[Name, Path(description="The consumer's name.")]
# Nobody can let others read what they may not read themselves.
_SCOPES = {Kind.AUDIT: Scope.AUDIT_READ, Kind.DEADLETTER: Scope.DEADLETTER_READ}


class Consumer(BaseModel):
    """A program that may read."""

    name: str
    topics: list[Kind] = Field(description="What it may read.")


class ConsumerList(BaseModel):
    """All consumers, sorted by name."""

    items: list[Consumer]


class ConsumerSpec(BaseModel):
    """What a consumer may read."""

    topics: list[Kind] = Field([Kind.RECORDS], min_length=1, max_length=len(Kind))

    model_config = {"json_schema_extra": {"examples": [{"topics": ["measurements", "alerts"]}]}}


class ChangedConsumer(Consumer):
    """A consumer after a change."""

    bootstrap_servers: str = Field(description="Where it finds Kafka.")
    groups: str = Field(description="What the names of its consumer groups begin with.")
    granted: bool = Field(description="Whether Kafka knows of it already; else from its next start on.")
    identity: HandedOut | None = Field(description="Told this once, if it was made now.")


@router.get(
    "",
    dependencies=[Depends(allowed(Scope.STATUS_READ))],
    responses=answers(401, 403),
    summary="Who may read data from Kafka",
    description="Needs the scope `status:read`.",
)
def list_consumers(services: ServicesOfApp) -> ConsumerList:
    grants = Consumers(services.config.paths.consumers).grants()
    return ConsumerList(
        items=[Consumer(name=name, topics=list(grant.topics)) for name, grant in grants.items()]
    )


@router.put(
    "/{name}",
    responses={
        201: {"model": ChangedConsumer, "description": "The consumer was made"},
        **answers(401, 403, 409, 422),
    },
    summary="Let a consumer read, or change what it may read",
    description="A new one gets a certificate. A name that was removed is never given again. Nobody can let "
    "others read what they may not. Needs the scope `parties:write`, and `data:read` (`audit:read`, "
    "`deadletter:read` for those topics).",
)
def put_consumer(
    name: _Name, spec: ConsumerSpec, response: Response, services: ServicesOfApp, caller: _Manager
) -> ChangedConsumer:
    topics = tuple(dict.fromkeys(spec.topics))
    for kind in topics:
        caller.holder.require(_SCOPES.get(kind, Scope.DATA_READ))
    config = _with_own_broker(services.config)
    made = Consumers(config.paths.consumers).hand_out(name, topics, authority_of(config))
    response.status_code = 201 if made else 200
    return _changed(config, name, topics, made)


@router.post(
    "/{name}/certificate",
    status_code=201,
    responses=answers(401, 403, 404, 409, 422),
    summary="Give a consumer another certificate",
    description="Those before count until they expire: remove the consumer if one of them is in wrong hands. "
    "Needs the scope `parties:write`, and those of its topics.",
)
def certify_consumer(name: _Name, services: ServicesOfApp, caller: _Manager) -> ChangedConsumer:
    config = _with_own_broker(services.config)
    consumers = Consumers(config.paths.consumers)
    consumers.check(name)
    topics = consumers.grants()[name].topics
    for kind in topics:
        caller.holder.require(_SCOPES.get(kind, Scope.DATA_READ))
    return _changed(config, name, topics, consumers.hand_out_again(name, authority_of(config)))


@router.delete(
    "/{name}",
    status_code=204,
    responses=answers(401, 403, 404, 422),
    summary="Take all rights from a consumer, for good",
    description="Its name cannot be used again. Needs the scope `parties:write`.",
)
def delete_consumer(name: _Name, services: ServicesOfApp, _: _Manager) -> None:
    Consumers(services.config.paths.consumers).remove(name, authority_of(services.config))
    apply_rights(services.config)


def _changed(
    config: Config, name: str, topics: tuple[Kind, ...], made: Credentials | None
) -> ChangedConsumer:
    return ChangedConsumer(
        name=name,
        topics=list(topics),
        bootstrap_servers=bootstrap_servers(config),
        groups=groups_of(name),
        granted=apply_rights(config),
        identity=HandedOut.of(made) if made else None,
    )


def _with_own_broker(config: Config) -> Config:
    if not config.kafka.embedded:
        raise Conflict(
            "Kafka is a cluster whose owner gives identities", "Ask its owner to let the consumer read."
        )
    return config
