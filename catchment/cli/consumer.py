"""`catchment consumer`: who may read from Kafka."""

from typing import Annotated, Any

import typer

from catchment.cli.console import AsJson, configuration, errors, print_json, print_table, working
from catchment.cli.names import Name
from catchment.config import Config
from catchment.records import Kind

app = typer.Typer(help="Register the consumers that may read data.", no_args_is_help=True)

Topics = Annotated[
    list[Kind] | None,
    typer.Option(
        "--topic", metavar="KIND", help="What it may read, by default records; repeat it for several."
    ),
]


@app.command()
def add(
    context: typer.Context,
    name: Name,
    topic: Topics = None,
    as_json: AsJson = False,
) -> None:
    """Register a consumer, or change what it may read, and print where its certificate is."""
    from catchment.consume.identity import check_embedded
    from catchment.kafka.access import groups_of
    from catchment.kafka.identities import bootstrap_servers
    from catchment.node.preflight import check_data_dir
    from catchment.security.authority import Authority
    from catchment.security.consumers import Consumers

    config = configuration(context)
    check_embedded(config)
    check_data_dir(config)
    topics = tuple(dict.fromkeys(topic or [Kind.RECORDS]))
    authority = Authority(config.paths.identities, config.hostnames)
    identity = Consumers(config.paths.consumers).add(name, topics, authority)
    files = {
        "certificate": str(identity.certificate_file),
        "key": str(identity.key_file),
        "authority": str(identity.ca_file),
    }
    _apply(config)
    if as_json:
        print_json({"name": name, "bootstrap_servers": bootstrap_servers(config), **files})
    else:
        typer.echo(f"{name} may read {', '.join(topics)} at {bootstrap_servers(config)},")
        typer.echo(f"in groups whose names begin with {groups_of(name)}, with\n")
        for what, file in files.items():
            typer.echo(f"  {what:<12} {file}")


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the consumers and what they may read."""
    from catchment.security.consumers import Consumers

    grants = Consumers(configuration(context).paths.consumers).grants()
    rows: list[dict[str, Any]] = [
        {"name": name, "topics": [kind.value for kind in grant.topics]} for name, grant in grants.items()
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(["name", "topics"], [{**row, "topics": " ".join(row["topics"])} for row in rows])


@app.command()
def remove(context: typer.Context, name: Name) -> None:
    """Take all rights from a consumer for good, and delete its certificate."""
    from catchment.security.authority import Authority
    from catchment.security.consumers import Consumers

    config = configuration(context)
    authority = Authority(config.paths.identities, config.hostnames)
    Consumers(config.paths.consumers).remove(name, authority)
    _apply(config)
    typer.echo(f"{name} is removed")


def _apply(config: Config) -> None:
    from catchment.kafka.rights import apply_rights

    with working("Telling Kafka"):
        granted = apply_rights(config)
    if not granted:
        errors.print("Kafka does not answer: this counts from its next start on.", soft_wrap=True)
