"""`catchment site`: at the centre, the sites that it gathers from; at a site, who may gather from it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from catchment.cli.centre import Demonstration, up_as
from catchment.cli.console import AsJson, configuration, output, print_json, print_table, working
from catchment.cli.names import Name
from catchment.config import Config, Role

app = typer.Typer(help="Run a site, or register the sites that a centre gathers from.", no_args_is_help=True)

COLUMNS = (
    "name",
    "state",
    "topics",
    "lag_records",
    "delay_ms",
    "relayed_records",
    "incident_count",
    "detail",
)


@app.command()
def up(context: typer.Context, demonstration: Demonstration = False) -> None:
    """Run the node as a site, whatever role the configuration gives it."""
    up_as(Role.SITE, context, demonstration)


@app.command()
def invite(
    context: typer.Context,
    centre: Name,
    to: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to write the files; by default ./relay.NAME.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """At a site: let a centre read what is relayed, and write the files that it needs for that."""
    from catchment.kafka.identities import bootstrap_servers
    from catchment.relay.register import IdentityFiles
    from catchment.security.authority import Authority
    from catchment.security.centres import Centres

    config = configuration(context)
    authority = Authority(config.paths.identities, config.hostnames)
    files = IdentityFiles((to or Path(f"relay.{centre}")).absolute())
    files.fill_from(Centres(config.paths.centres).invite(centre, authority))
    granted = _apply_rights(config)
    address = bootstrap_servers(config)
    if as_json:
        print_json(
            {"centre": centre, "identity": str(files.directory), "bootstrap": address, "granted": granted}
        )
        return
    typer.echo(f"Carry {files.directory} to the centre, over a way that you trust, and run there\n")
    typer.echo(
        f"  catchment site add {config.site} --bootstrap {address} --identity {files.directory.name}\n"
    )
    _say_when(granted)


@app.command()
def join(
    context: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="The API of the centre.")],
    centre: Annotated[str, typer.Option(metavar="NAME", help="The name of the centre.")],
    token: Annotated[str, typer.Option(help="The one-time token of the invitation.")],
    fingerprint: Annotated[str, typer.Option(help="SHA-256 of the centre's certificate.")],
    as_json: AsJson = False,
) -> None:
    """At a site: let a centre read what is relayed, and hand it all that it needs for that.

    The console of the centre shows this command with everything filled in, when a site is added there.
    """
    from catchment.cli.names import checked
    from catchment.client.joining import join_centre
    from catchment.security.authority import Authority
    from catchment.security.centres import Centres

    config = configuration(context)
    authority = Authority(config.paths.identities, config.hostnames)
    credentials = Centres(config.paths.centres).hand_out(checked(centre), authority)
    granted = _apply_rights(config)
    with working(f"Joining {centre}"):
        join_centre(config, url, token, fingerprint, credentials)
    if as_json:
        print_json({"site": config.site, "centre": centre, "granted": granted})
        return
    typer.echo(f"{config.site} has joined {centre}, which relays from it within a second")
    _say_when(granted)


@app.command()
def withdraw(context: typer.Context, centre: Name, as_json: AsJson = False) -> None:
    """At a site: take the right to relay from a centre, for good."""
    from catchment.security.authority import Authority
    from catchment.security.centres import Centres

    config = configuration(context)
    Centres(config.paths.centres).withdraw(centre, Authority(config.paths.identities, config.hostnames))
    granted = _apply_rights(config)
    if as_json:
        print_json({"centre": centre, "granted": granted})
        return
    typer.echo(f"{centre} may relay no more")
    _say_when(granted)


@app.command()
def add(
    context: typer.Context,
    name: Name,
    bootstrap: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where the site's Kafka is.")],
    identity: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder that `catchment site invite` wrote.")
    ] = None,
    ca: Annotated[Path | None, typer.Option(metavar="FILE", help="Instead: authority of the site.")] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate to show to the site.")
    ] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="Private key of that certificate.")] = None,
) -> None:
    """At the centre: relay from a site from now on; also gives a known one another address or identity."""
    from catchment.node.preflight import check_data_dir
    from catchment.relay.register import IdentityFiles, Sites
    from catchment.security.authority import Identity

    config = configuration(context)
    check_data_dir(config)
    if identity:
        shown = IdentityFiles(identity).identity
    elif ca and certificate and key:
        shown = Identity(ca, certificate, key)
    else:
        raise typer.BadParameter("Give --identity, or all of --ca, --certificate and --key.")
    Sites(config.paths.sites).add(name, bootstrap, shown)
    typer.echo(f"{name} is registered; a running relay takes it up within a second")


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """At the centre: list the sites, how far each is relayed, and what was found amiss."""
    from catchment.relay.states import site_states

    states = site_states(configuration(context))
    rows: list[dict[str, Any]] = [state.model_dump(mode="json") for state in states]
    if as_json:
        print_json(rows)
        return
    print_table(COLUMNS, [{**row, **_shown(row)} for row in rows])
    for state in states:
        for incident in state.incidents:
            output.print(f"[red]incident[/] {state.name}: {incident.text}", highlight=False)


@app.command()
def pause(context: typer.Context, name: Name) -> None:
    """At the centre: hold the relay of a site."""
    _hold(context, name, True)
    typer.echo(f"{name} is paused")


@app.command()
def resume(context: typer.Context, name: Name) -> None:
    """At the centre: let the relay of a site go on where it was."""
    _hold(context, name, False)
    typer.echo(f"{name} goes on")


@app.command()
def remove(context: typer.Context, name: Name) -> None:
    """At the centre: relay from a site no more; what was relayed stays."""
    from catchment.relay.register import Sites

    Sites(configuration(context).paths.sites).remove(name)
    typer.echo(f"{name} is removed")


def _hold(context: typer.Context, name: str, paused: bool) -> None:
    from catchment.relay.register import Sites

    Sites(configuration(context).paths.sites).pause(name, paused)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {name: "" for name in ("lag_records", "delay_ms") if row[name] is None}


def _apply_rights(config: Config) -> bool:
    """Whether Kafka knows of the change already; else it will at the next start of the node."""
    from catchment.kafka.rights import apply_rights

    with working("Telling Kafka"):
        return apply_rights(config)


def _say_when(granted: bool) -> None:
    typer.echo(
        "Kafka knows of it."
        if granted
        else "The broker does not answer, or is not ours: the right changes when it starts, or by its owner."
    )
