"""`catchment register apply`: everything that a file declares, in the order in which it refers to itself."""

from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from catchment.cli.console import AsJson, print_json, working
from catchment.cli.register import calls, device, mapping, schema, sensor, sensor_type, twin_feed, twin_type
from catchment.client import Session
from catchment.config.section import Name
from catchment.errors import ConfigurationError

Bodies = dict[Name, dict[str, Any]]


class Declarations(BaseModel):
    """What a file may declare, each by its id; the API checks what stands below."""

    model_config = ConfigDict(extra="forbid")

    schemas: dict[str, Path] = Field(default_factory=dict)
    types: Bodies = Field(default_factory=dict)
    devices: Bodies = Field(default_factory=dict)
    sensors: Bodies = Field(default_factory=dict)
    mappings: Bodies = Field(default_factory=dict)
    twin_types: Bodies = Field(default_factory=dict)
    twin_feeds: Bodies = Field(default_factory=dict)


def add_to(app: typer.Typer) -> None:
    app.command()(apply)


def apply(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A YAML file; see the manual for its form.")],
    as_json: AsJson = False,
) -> None:
    """Register all that a file declares; what is so already stays as it is."""
    declared = _read(file)
    with working(f"Registering what {file} declares"), calls.api(context) as session:
        written = {"schemas": _register_schemas(session, declared, file.parent)}
        for kind, path, bodies in (
            ("types", sensor_type.PATH, declared.types),
            ("devices", device.PATH, declared.devices),
            ("sensors", sensor.PATH, declared.sensors),
            ("mappings", mapping.PATH, declared.mappings),
            ("twin_types", twin_type.PATH, declared.twin_types),
            ("twin_feeds", twin_feed.PATH, declared.twin_feeds),
        ):
            written[kind] = {name: session.put(f"{path}/{name}", body) for name, body in bodies.items()}
    if as_json:
        print_json(written)
    else:
        typer.echo(f"{sum(map(len, written.values()))} declarations of {file} are registered")


def _register_schemas(session: Session, declared: Declarations, folder: Path) -> dict[str, Any]:
    """Schemas stand in files of their own, beside the one that names them."""
    return {
        subject: schema.register(session, subject, folder / name)
        for subject, name in declared.schemas.items()
    }


def _read(file: Path) -> Declarations:
    try:
        return Declarations.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")) or {})
    except (OSError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{file} cannot be read ({error})", "Name a YAML file.") from None
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise ConfigurationError(
            f"{file} does not declare what can be registered: {wrong}",
            f"Use the keys {', '.join(Declarations.model_fields)}, and under each the ids.",
        ) from None
