"""What librdkafka has to say, and what of it is news."""

import logging

import pytest

from catchment.kafka import clients

LOG = logging.getLogger("catchment.kafka.librdkafka")


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """A log to which nothing was said before."""
    monkeypatch.setattr(LOG, "filters", [clients._Patience()])
    return caplog


def test_a_broker_that_is_away_is_told_once_by_each_client(said: pytest.LogCaptureFixture) -> None:
    for number in (1, 2):
        LOG.warning("FAIL [catchment.api#producer-%d] connection refused", number)
        LOG.warning("FAIL [catchment.relay#producer-%d] connection refused", number)
    assert [record.args for record in said.records] == [(1,), (1,)]


def test_what_is_asked_again_by_itself_is_not_told(said: pytest.LogCaptureFixture) -> None:
    LOG.warning("GETPID [catchment.api#producer-1] Failed: Broker: Coordinator load in progress: retrying")
    assert said.records == []
