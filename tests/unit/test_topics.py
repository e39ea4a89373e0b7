"""The table of topics and what the configuration changes in it."""

from typing import Any

import pytest
from annotated_types import Le

from catchment.config.models import GatewaySettings
from catchment.kafka.clients import MAX_RECORD_BYTES
from catchment.kafka.topics import TOPICS, planned
from catchment.records import Kind
from tests.conftest import MakeConfig

DAY_MS = 24 * 3_600_000


def test_every_kind_has_a_topic() -> None:
    assert set(TOPICS) == set(Kind)


@pytest.mark.parametrize(("kind", "days"), [(Kind.RECORDS, 7), (Kind.DEADLETTER, 30)])
def test_what_is_kept_for_a_time_is_deleted_after_it(kind: Kind, days: int) -> None:
    settings = TOPICS[kind].settings(replication_factor=1)
    assert settings["cleanup.policy"] == "delete"
    assert settings["retention.ms"] == str(days * DAY_MS)
    assert int(settings["segment.ms"]) < days * DAY_MS


@pytest.mark.parametrize("kind", [Kind.MARKS, Kind.LEDGER])
def test_what_is_kept_by_key_is_compacted_and_never_deleted(kind: Kind) -> None:
    settings = TOPICS[kind].settings(replication_factor=1)
    assert settings["cleanup.policy"] == "compact"
    assert "retention.ms" not in settings


@pytest.mark.parametrize(("copies", "must_have_it"), [(1, "1"), (2, "1"), (3, "2"), (5, "4")])
def test_a_record_counts_as_written_when_one_copy_may_be_away(copies: int, must_have_it: str) -> None:
    assert TOPICS[Kind.RECORDS].settings(copies)["min.insync.replicas"] == must_have_it


def test_the_longest_line_fits_into_a_record() -> None:
    (longest,) = (
        rule for rule in GatewaySettings.model_fields["max_line_bytes"].metadata if isinstance(rule, Le)
    )
    limit: Any = longest.le
    for spec in TOPICS.values():
        settings = spec.settings(replication_factor=1)
        assert (
            limit < int(settings["max.message.bytes"]) == MAX_RECORD_BYTES <= int(settings["segment.bytes"])
        )


def test_the_configuration_changes_single_topics(make_config: MakeConfig) -> None:
    config = make_config(
        kafka={"topics": {"records": {"partitions": 12}, "deadletter": {"retention_hours": 0.5}}}
    )
    plan = planned(config)
    assert (plan[Kind.RECORDS].partitions, plan[Kind.RECORDS].retention_hours) == (12, 168)
    assert (plan[Kind.DEADLETTER].partitions, plan[Kind.DEADLETTER].retention_hours) == (1, 0.5)
    assert plan[Kind.LEDGER] == TOPICS[Kind.LEDGER]
    assert plan[Kind.DEADLETTER].settings(1)["retention.ms"] == "1800000"
