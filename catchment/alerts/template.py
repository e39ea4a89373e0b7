"""Messages in people's own words: text with names in it, and nothing that could run.

`$name` and `${name}` stand for a fact of the alert, `$$` for a dollar sign. A name that is not known is
refused when the rule is made, not when it fires.
"""

import difflib
from collections.abc import Mapping
from string import Template

MAX_CHARACTERS = 1000

# Every fact that a message may name, with what it says.
NAMES = {
    "state": "`raised` or `cleared`",
    "what": "what happened: `temperature above 80 °C`, or `temperature no longer above 80 °C`",
    "sensor": "the sensor's name, or its id as long as it is not registered",
    "sensor_id": "the sensor's id",
    "sensor_type": "the name of the sensor's type",
    "device": "the name of the device that the sensor belongs to",
    "location": "where the device is",
    "site": "the site of the sensor",
    "place": "device, location and site, as far as they are known: `Press 7, Hall 2, site oslo`",
    "rule": "the rule's id",
    "node": "the site name of the node whose rule it is",
    "field": "the field that the rule watches",
    "threshold": "the threshold, with its unit",
    "value": "the newest value beyond the threshold, with its unit",
    "average": "the average since it began, with its unit",
    "peak": "the value furthest beyond the threshold, with its unit",
    "statistics": "average and peak: `average 84.2 °C, maximum 90.1 °C`, below a threshold `minimum`",
    "unit": "the rule's unit",
    "since": "when it began",
    "duration": "for how long it has lasted: `12 min 5 s`",
    "count": "how many readings there were in that time",
}


def check(text: str) -> None:
    """Refuses a template with a ValueError that says what to change."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"the message has {len(text)} characters: {MAX_CHARACTERS} at most")
    template = Template(text)
    if not template.is_valid():
        raise ValueError(
            "a $ in the message is followed by no name: write $name, ${name}, or $$ for a dollar"
        )
    for name in template.get_identifiers():
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, n=1, cutoff=0.5)
            hint = f"did you mean ${near[0]}?" if near else f"known are {', '.join(NAMES)}"
            raise ValueError(f"the message names ${name}, which is not known: {hint}")


def fill(text: str, facts: Mapping[str, str]) -> str:
    """The message; what was checked names nothing that is not there."""
    return Template(text).safe_substitute(facts)
