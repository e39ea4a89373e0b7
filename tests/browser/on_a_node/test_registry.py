"""Devices, types, sensors and schemas in the browser."""

import re

import httpx
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.looking import (
    row_of,
    visit,
)
from tests.browser.on_a_node.using import ON_A_NODE, SCRIPT, WIDTHS, NodeInBrowser, confirm, fill, signed_in
from tests.running_node import RunningNode

pytestmark = ON_A_NODE


@WIDTHS
def test_a_device_a_type_and_a_sensor_are_registered(
    node: NodeInBrowser, open_page: OpenPage, width: int
) -> None:
    page = signed_in(open_page, node, width)
    visit(page, "sensors/devices", "Sensors and devices")
    page.get_by_role("button", name="Register a device").click()
    confirm(page, "Register")
    expect(page.get_by_label(re.compile("^Id"))).to_be_focused()
    expect(page.get_by_text("Please fill this in")).to_have_count(2)
    fill(page, Id=f"press-{width}", Name=SCRIPT, Location="Hall 3")
    confirm(page, "Register")
    expect(row_of(page, "Devices", f"press-{width}")).to_contain_text(SCRIPT)

    visit(page, "sensors/types", "Sensors and devices")
    page.get_by_role("button", name="Register a sensor type").click()
    fill(page, Id=f"heat-{width}", Name="Heat", Schema="TemperatureData", Unit="C")
    confirm(page, "Register")
    expect(row_of(page, "Sensor types", f"heat-{width}")).to_be_visible()

    visit(page, "sensors", "Sensors and devices")
    page.get_by_role("button", name="Register a sensor").click()
    fill(page, Id="a b", Name="Press", Device=f"press-{width}", Sensor_type=f"heat-{width}")
    confirm(page, "Register")
    expect(page.get_by_text("with a letter or digit first")).to_be_visible()
    fill(page, Id=f"press-heat-{width}")
    confirm(page, "Register")
    sensor = row_of(page, "Registered sensors", f"press-heat-{width}")
    expect(sensor).to_contain_text(SCRIPT)
    sensor.get_by_role("link").click()
    page.get_by_role("button", name="Delete").click()
    confirm(page, "Delete")
    expect(page.get_by_role("heading", level=1, name="Sensors and devices")).to_be_visible()
    expect(sensor).to_have_count(0)


@WIDTHS
def test_a_seen_sensor_is_confirmed(node: NodeInBrowser, open_page: OpenPage, width: int) -> None:
    sensor = "cellar-00001" if width == 390 else "cellar-00002"
    page = signed_in(open_page, node, width)
    visit(page, "sensors", "Sensors and devices")
    waiting = row_of(page, "Sensors that wait to be confirmed", sensor)
    expect(waiting).to_contain_text("temperature", timeout=90_000)
    page.get_by_role("button", name=f"Confirm {sensor}").click()
    fill(page, Name=f"Cellar {width}", Device="simulator", Sensor_type="simulated-temperature")
    confirm(page, "Confirm")
    expect(row_of(page, "Registered sensors", f"Cellar {width}")).to_be_visible()
    expect(page.get_by_role("button", name=f"Confirm {sensor}")).to_have_count(0)


@WIDTHS
def test_a_chart_of_stored_and_live_readings_moves(
    node: NodeInBrowser, whole_node: RunningNode, open_page: OpenPage, api: httpx.Client, width: int
) -> None:
    stored = {"sensor": "local/hall"}
    whole_node.wait_until(lambda: bool(api.get("/readings", params=stored).json().get("points")))
    page = signed_in(open_page, node, width)
    visit(page, "sensors/of/local/hall", "hall")
    latest = page.get_by_test_id("latest")
    expect(latest).to_contain_text(re.compile(r"\d °C live"), timeout=30_000)
    seen = latest.inner_text()
    expect(latest).not_to_have_text(seen)
    expect(page.get_by_role("img", name="temperature of local/hall")).to_be_visible()
    expect(page.get_by_text(re.compile(r"[1-9][\d,]* stored readings"))).to_be_visible()
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.get_by_role("img", name="temperature of local/hall")).to_be_visible()


def test_a_schema_is_shown_and_a_new_version_registered(node: NodeInBrowser, open_page: OpenPage) -> None:
    page = signed_in(open_page, node, 1440)
    visit(page, "schemas", "Schemas")
    row_of(page, "Subjects", "TemperatureData").get_by_role("link").click()
    expect(row_of(page, "Fields", "temperature")).to_contain_text("double")
    visit(page, "schemas", "Schemas")
    page.get_by_role("button", name="Register a schema").click()
    fill(page, Subject="HumidityData")
    confirm(page, "Register")
    expect(row_of(page, "Subjects", "HumidityData")).to_contain_text("humidity")


def test_a_mapping_is_declared_changed_and_deleted(node: NodeInBrowser, open_page: OpenPage) -> None:
    page = signed_in(open_page, node, 1440)
    visit(page, "sensors/mappings", "Sensors and devices")
    page.get_by_role("button", name="Declare a mapping").click()
    fill(
        page, Id="furnaces", Streams="furnace/*", Schema="TemperatureData", Fields='{"temperature": "data.t"}'
    )
    page.get_by_label("The sensor is").select_option("field")
    confirm(page, "Declare")
    expect(page.get_by_text("Please fill this in")).to_be_visible()
    fill(page, Member_with_the_sensor="meta.sensor")
    confirm(page, "Declare")
    expect(row_of(page, "Mappings", "furnaces")).to_contain_text("member meta.sensor")
    page.get_by_role("button", name="Change furnaces").click()
    expect(page.get_by_label("Fields")).to_have_value(re.compile('"temperature": "data.t"'))
    page.get_by_label("The sensor is").select_option("stream")
    confirm(page, "Save")
    expect(row_of(page, "Mappings", "furnaces")).to_contain_text("the stream")
    page.get_by_role("button", name="Delete furnaces").click()
    confirm(page, "Delete")
    expect(row_of(page, "Mappings", "furnaces")).to_have_count(0)
