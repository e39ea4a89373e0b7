"""`catchment register`: devices, sensors, sensor types, mappings and schemas."""

import typer

from catchment.cli.register import apply, device, mapping, schema, sensor, sensor_type

app = typer.Typer(help="Register devices, sensors, sensor types, mappings and schemas.", no_args_is_help=True)
app.add_typer(device.app, name="device")
app.add_typer(sensor_type.app, name="type")
app.add_typer(sensor.app, name="sensor")
app.add_typer(mapping.app, name="mapping")
app.add_typer(schema.app, name="schema")
apply.add_to(app)
