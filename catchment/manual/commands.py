"""What of the command line the API has under which address, and what it leaves out, with the reason."""

from collections.abc import Iterator

_REGISTRY = "/schema-registry"
_SHELVES = {
    "register device": "devices",
    "register type": "sensor-types",
    "register sensor": "sensors",
    "register mapping": "mappings",
    "register twin-type": "twin-types",
    "register twin-feed": "twin-feeds",
    "rules": "rules",
}
_VERBS = {"add": "PUT", "show": "GET", "remove": "DELETE"}
_SHARED = (
    "It runs a process, which belongs to the machine that it runs on and to whoever supervises it there."
)
_LOAD = "It is load of one's own making, sent through the real listeners by whoever holds a provider's key."


def _of_shelves() -> Iterator[tuple[str, tuple[str, ...]]]:
    for command, name in _SHELVES.items():
        yield f"{command} list", (f"GET /api/v1/{name}",)
        for verb, method in _VERBS.items():
            yield f"{command} {verb}", (f"{method} /api/v1/{name}/{{identifier}}",)


# By command; several where one command does what several requests do.
OPERATIONS: dict[str, tuple[str, ...]] = {
    "status": ("GET /api/v1/status",),
    "sql": ("POST /api/v1/sql", "POST /api/v1/sql/rows"),
    "export": ("GET /api/v1/export/{table}",),
    "lake list": ("GET /api/v1/lake",),
    "verify": ("GET /api/v1/proof", "POST /api/v1/proof/recount", "GET /api/v1/proof/recount"),
    "audit": ("GET /api/v1/audit",),
    "config show": ("GET /api/v1/configuration",),
    "site invite": ("PUT /api/v1/centres/{name}", "POST /api/v1/sites/{name}/invitation"),
    "site join": ("POST /api/v1/centres/{name}/join",),
    "site withdraw": ("DELETE /api/v1/centres/{name}",),
    "site add": ("PUT /api/v1/sites/{name}",),
    "site list": ("GET /api/v1/sites", "GET /api/v1/centres"),
    "site pause": ("PUT /api/v1/sites/{name}/pause",),
    "site resume": ("PUT /api/v1/sites/{name}/resume",),
    "site remove": ("DELETE /api/v1/sites/{name}",),
    "provider add": ("PUT /api/v1/providers/{name}",),
    "provider list": ("GET /api/v1/providers",),
    "provider remove": ("DELETE /api/v1/providers/{name}",),
    "consumer add": ("PUT /api/v1/consumers/{name}", "POST /api/v1/consumers/{name}/certificate"),
    "consumer list": ("GET /api/v1/consumers",),
    "consumer remove": ("DELETE /api/v1/consumers/{name}",),
    "user add": ("PUT /api/v1/users/{name}",),
    "user list": ("GET /api/v1/users",),
    "user role": ("PUT /api/v1/users/{name}",),
    "user password": ("PUT /api/v1/users/{name}/password",),
    "user remove": ("DELETE /api/v1/users/{name}",),
    "token create": ("PUT /api/v1/tokens/{name}",),
    "token list": ("GET /api/v1/tokens",),
    "token revoke": ("DELETE /api/v1/tokens/{name}",),
    **dict(_of_shelves()),
    "register apply": (
        *(f"PUT /api/v1/{name}/{{identifier}}" for name in _SHELVES.values() if name != "rules"),
        f"POST {_REGISTRY}/subjects/{{subject}}/versions",
    ),
    "register sensor confirm": ("POST /api/v1/sensors/{identifier}/confirm",),
    "register schema add": (f"POST {_REGISTRY}/subjects/{{subject}}/versions",),
    "register schema check": (f"POST {_REGISTRY}/compatibility/subjects/{{subject}}/versions/{{version}}",),
    "register schema show": (f"GET {_REGISTRY}/subjects/{{subject}}/versions/{{version}}",),
    "register schema list": ("GET /api/v1/schemas",),
    "register schema remove": (f"DELETE {_REGISTRY}/subjects/{{subject}}",),
    "rules apply": ("PUT /api/v1/rules/{identifier}",),
    "rules enable": ("PUT /api/v1/rules/{identifier}",),
    "rules disable": ("PUT /api/v1/rules/{identifier}",),
    "query check": ("POST /api/v1/queries/check",),
    "query explain": ("POST /api/v1/queries/explain",),
    "query test": ("POST /api/v1/queries/test",),
    "query deploy": ("PUT /api/v1/queries/{identifier}",),
    "query list": ("GET /api/v1/queries",),
    "query stop": ("DELETE /api/v1/queries/{identifier}",),
    "query trace": ("GET /api/v1/queries/{identifier}/trace",),
    "twins list": ("GET /api/v1/twins",),
    "twins search": ("GET /api/v1/twins",),
    "twins get": ("GET /api/v1/twins/{identifier}",),
    "twins create": ("POST /api/v1/twins",),
    "twins change": ("PATCH /api/v1/twins/{identifier}",),
    "twins delete": ("DELETE /api/v1/twins/{identifier}",),
    "twins transaction": ("GET /api/v1/twins/transactions/{transaction}",),
    "twins watch": ("GET /api/v1/twins",),
    "deadletter list": ("GET /api/v1/deadletters",),
    "deadletter show": ("GET /api/v1/deadletters/{identifier}",),
    "deadletter replay": ("POST /api/v1/deadletters/{identifier}/replay",),
    "alerts list": ("GET /api/v1/alerts",),
    "alerts show": ("GET /api/v1/alerts/{alert}",),
    "alerts acknowledge": ("PUT /api/v1/alerts/{alert}/acknowledgement",),
    "alerts test": ("POST /api/v1/channels/{name}/test",),
}
LEFT_OUT: dict[str, str] = {
    **dict.fromkeys(
        ("up", "site up", "centre up", "relay", "pipeline", "notify", "serve", "gateway"), _SHARED
    ),
    "down": "A node that was stopped from afar could not be started from there again.",
    "config check": "It is asked before a node starts; one that answers has a configuration that is right.",
    "completion": "It prints what a shell reads.",
    "consume": "Records are read with Kafka's own protocol, which keeps the place of each reader; "
    "`PUT /api/v1/consumers/{name}` gives the identity that it needs.",
    "gateway spool": "It reads the spool's files, also those of a gateway that does not start; "
    "`GET /api/v1/gateways` has how full the spool is and what waits there.",
    "query run": "It is for writing a query on one's own machine, with Spark there; "
    "`POST /api/v1/queries/test` tries one on rows that are sent along.",
    **dict.fromkeys(("simulate lines", "simulate sensors", "simulate twins"), _LOAD),
    "bench run": "It takes a whole machine for minutes, and starts and kills brokers on it.",
}


def commands() -> str:
    """Both as tables."""
    there = "".join(
        f"| `catchment {name}` | {', '.join(f'`{each}`' for each in those)} |\n"
        for name, those in OPERATIONS.items()
    )
    left_out = "".join(
        f"| {', '.join(f'`catchment {name}`' for name in names)} | {why} |\n" for why, names in _by_reason()
    )
    return (
        f"| command | in the API |\n|---|---|\n{there}\n"
        f"These the API leaves out on purpose:\n\n| command | why |\n|---|---|\n{left_out}"
    )


def _by_reason() -> list[tuple[str, list[str]]]:
    names: dict[str, list[str]] = {}
    for name, why in LEFT_OUT.items():
        names.setdefault(why, []).append(name)
    return list(names.items())
