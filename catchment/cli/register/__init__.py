"""`catchment register`: devices, sensors, sensor types, mappings, schemas, and types and feeds of twins."""

import typer

from catchment.cli.register import apply, device, mapping, schema, sensor, sensor_type, twin_feed, twin_type

app = typer.Typer(
    help="Register devices, sensors, sensor types, mappings, schemas, and types and feeds of twins.",
    no_args_is_help=True,
)
app.add_typer(device.app, name="device")
app.add_typer(sensor_type.app, name="type")
app.add_typer(sensor.app, name="sensor")
app.add_typer(mapping.app, name="mapping")
app.add_typer(schema.app, name="schema")
app.add_typer(twin_type.app, name="twin-type")
app.add_typer(twin_feed.app, name="twin-feed")
apply.add_to(app)
