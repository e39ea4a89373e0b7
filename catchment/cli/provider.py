"""`catchment provider`: who may send data to the gateway."""

import typer

from catchment.cli.console import AsJson, configuration, print_json, print_table
from catchment.cli.names import Name
from catchment.config import Config

app = typer.Typer(help="Register the devices that may send data.", no_args_is_help=True)


@app.command()
def add(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Register a provider and print where its certificate is."""
    from catchment.node.preflight import check_data_dir
    from catchment.security.authority import Authority
    from catchment.security.providers import Providers

    config = configuration(context)
    check_data_dir(config)
    authority = Authority(config.paths.identities, config.hostnames)
    identity = Providers(config.paths.providers).add(name, authority)
    files = {
        "certificate": str(identity.certificate_file),
        "key": str(identity.key_file),
        "authority": str(identity.ca_file),
    }
    if as_json:
        print_json({"name": name, **files})
    else:
        _print_instructions(config, name, files)


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the providers that may send data."""
    from catchment.security.providers import Providers

    rows = [{"name": name} for name in Providers(configuration(context).paths.providers).names()]
    if as_json:
        print_json(rows)
    else:
        print_table(["name"], rows)


@app.command()
def remove(context: typer.Context, name: Name) -> None:
    """Refuse a provider from now on, and delete its certificate."""
    from catchment.security.authority import Authority
    from catchment.security.providers import Providers

    config = configuration(context)
    Providers(config.paths.providers).remove(name, Authority(config.paths.identities, config.hostnames))
    typer.echo(f"{name} is removed")


def _print_instructions(config: Config, name: str, files: dict[str, str]) -> None:
    typer.echo(f"{name} may send lines to {config.gateway.host}:{config.gateway.port} with\n")
    for what, file in files.items():
        typer.echo(f"  {what:<12} {file}")
    typer.echo(
        "\nTry it:\n\n  echo hello | openssl s_client -quiet -no_ign_eof -verify_return_error"
        f" -connect {config.gateway.host}:{config.gateway.port} -CAfile {files['authority']}"
        f" -cert {files['certificate']} -key {files['key']}"
    )
