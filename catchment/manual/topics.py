"""Tables of the page of topics: what each holds and how long it is kept, and who may do what."""

from catchment.kafka.access import READS, WRITES
from catchment.kafka.parties import Party
from catchment.kafka.topics import TOPICS, TopicSpec
from catchment.records import Kind

HOLDS: dict[Kind, str] = {
    Kind.RECORDS: "what devices sent, as it came, each message with its stamp",
    Kind.MARKS: "up to which number each gateway accepted each stream",
    Kind.LEDGER: "what the pipeline counted of each stream",
    Kind.HOPS: "what each node counted, about once a second, for `catchment verify` at the centre",
    Kind.DEADLETTER: "what could not be processed, with the reason",
    Kind.RELAYED: "how far each site has been relayed",
    Kind.DEVICES: "devices",
    Kind.SENSORS: "sensors",
    Kind.SENSOR_TYPES: "sensor types",
    Kind.SEEN_SENSORS: "sensors that sent and that nobody registered",
    Kind.SCHEMAS: "schemas, all their versions, and how they are compared",
    Kind.MAPPINGS: "how messages become measurements",
    Kind.MEASUREMENTS: "typed readings of sensors, in Avro",
    Kind.RULES: "thresholds",
    Kind.EVENTS: "transgressions that start, last and end, and notices of twins",
    Kind.ALERTS: "what people are told: alerts that are raised and cleared",
    Kind.DELIVERIES: "each attempt to tell it on a channel",
    Kind.NOTIFIED: "what the notifier has told of each sensor and rule, and how far each channel is",
    Kind.REPLAYS: "which dead letters were sent again",
    Kind.TWIN_TYPES: "types of twins",
    Kind.TWIN_FEEDS: "which messages and measurements change twins",
    Kind.TWIN_MESSAGES: "changes that were asked for through the API, before they are split",
    Kind.TWIN_CHANGES: "changes by object",
    Kind.TWINS: "the state of every object",
    Kind.TWIN_HISTORY: "every update of every object",
    Kind.TWIN_OUTCOMES: "what became of each transaction",
    Kind.TWIN_VIEWS: "which instance of the API has which partitions of the twins",
    Kind.AUDIT: "who changed what",
    Kind.ACKNOWLEDGEMENTS: "who has taken note of an alert",
    Kind.GAPS: "numbers that were missing for a while, and when they came",
    Kind.QUERIES: "continuous queries that are deployed",
    Kind.RESULTS: "what continuous queries answer",
    Kind.TICKS: "the time of day once a second, for windows that close while nothing comes",
}


def topics() -> str:
    """Every topic."""
    rows = [
        f"| `{kind}` | `{kind.topic}` | {spec.partitions} | {_kept(spec)} | {HOLDS[kind]} |\n"
        for kind, spec in TOPICS.items()
    ]
    return "| kind | topic | partitions | kept | holds |\n|---|---|---|---|---|\n" + "".join(rows)


def rights() -> str:
    """What every party reads and writes."""
    parties = [party for party in Party if party in READS.keys() | WRITES.keys()]
    rows = [f"| `{party}` | {_listed(WRITES, party)} | {_listed(READS, party)} |\n" for party in parties]
    return "| party | writes | reads |\n|---|---|---|\n" + "".join(rows)


def _kept(spec: TopicSpec) -> str:
    if spec.compacted:
        return "the latest of each key"
    hours = spec.retention_hours or 0
    return f"{hours:g} hours" if hours != 1 else "1 hour"


def _listed(kinds: dict[Party, tuple[Kind, ...]], party: Party) -> str:
    return ", ".join(kind.value for kind in kinds.get(party, ()))
