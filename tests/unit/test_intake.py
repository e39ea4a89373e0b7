"""Numbering messages, and leaving out what was sent before."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.config.models import SpoolSettings, WhenFull
from catchment.errors import InvalidRecord, SpoolFull
from catchment.gateway.intake import Intake
from catchment.gateway.spool import Batch, Spool

payloads = st.lists(st.binary(max_size=10), min_size=1, max_size=5)


@contextmanager
def spooling(settings: SpoolSettings | None = None, directory: Path | None = None) -> Iterator[Spool]:
    with TemporaryDirectory() as scratch:
        yield Spool(directory or Path(scratch), settings or SpoolSettings())


def with_intake(
    scenario: Callable[[Intake, Spool], Coroutine[None, None, None]],
    settings: SpoolSettings | None = None,
    directory: Path | None = None,
) -> list[Batch]:
    """Runs a scenario on a real spool, and gives what the spool holds in the end."""
    settings = settings or SpoolSettings()
    with spooling(settings, directory) as spool:

        async def run() -> None:
            spool.start()
            await scenario(Intake(spool, settings.when_full), spool)
            await asyncio.to_thread(spool.close)

        asyncio.run(run())
        return [placed.batch for placed in spool.take(spool.progress.position)]


@given(st.lists(st.tuples(st.sampled_from(["press", "oven", "press/2"]), payloads), max_size=20))
def test_every_stream_is_numbered_from_one_without_a_gap(messages: list[tuple[str, list[bytes]]]) -> None:
    async def scenario(intake: Intake, spool: Spool) -> None:
        for stream, each in messages:
            intake.offer(stream, each)

    batches = with_intake(scenario)
    for stream in {stream for stream, _ in messages}:
        own = [batch for batch in batches if batch.stream == stream]
        numbers = [n for batch in own for n in range(batch.first_sequence, batch.last_sequence + 1)]
        assert numbers == list(range(1, len(numbers) + 1))
        sent = [payload for name, each in messages if name == stream for payload in each]
        assert [payload for batch in own for payload in batch.payloads] == sent


def test_what_a_provider_sends_again_is_left_out() -> None:
    async def scenario(intake: Intake, spool: Spool) -> None:
        assert await intake.accept("press", [b"1", b"2", b"3"], number=3) == 3
        assert await intake.accept("press", [b"2", b"3", b"4"], number=4) == 1
        assert await intake.accept("press", [b"1", b"2"], number=2) == 0
        assert intake.last_number("press") == 4
        assert intake.last_number("oven") == 0

    batches = with_intake(scenario)
    assert [payload for batch in batches for payload in batch.payloads] == [b"1", b"2", b"3", b"4"]


def test_an_idempotency_key_counts_once_for_each_stream() -> None:
    async def scenario(intake: Intake, spool: Spool) -> None:
        assert await intake.accept("press", [b"1", b"2"], key="order-7") == 2
        assert await intake.accept("press", [b"1", b"2"], key="order-7") == 0
        assert await intake.accept("oven", [b"1"], key="order-7") == 1

    assert sum(len(batch.payloads) for batch in with_intake(scenario)) == 3


def test_numbers_and_keys_are_known_after_a_restart(tmp_path: Path) -> None:
    async def first(intake: Intake, spool: Spool) -> None:
        await intake.accept("press", [b"1", b"2"], number=2)
        await intake.accept("oven", [b"1"], key="order-7")

    async def second(intake: Intake, spool: Spool) -> None:
        assert await intake.accept("press", [b"2", b"3"], number=3) == 1
        assert await intake.accept("oven", [b"1"], key="order-7") == 0

    with_intake(first, directory=tmp_path)
    batches = with_intake(second, directory=tmp_path)
    press = [batch for batch in batches if batch.stream == "press"]
    assert [batch.first_sequence for batch in press] == [1, 3]
    assert len({batch.epoch for batch in batches}) == 1


def test_dead_letters_take_no_number() -> None:
    async def scenario(intake: Intake, spool: Spool) -> None:
        await intake.bury(b"???", "press", "line-too-long")
        await intake.accept("press", [b"1"])

    letter, record = with_intake(scenario)
    assert (letter.reason, letter.payloads) == ("line-too-long", [b"???"])
    assert (record.reason, record.first_sequence) == ("", 1)


def test_a_full_spool_refuses_if_it_is_to() -> None:
    async def scenario(intake: Intake, spool: Spool) -> None:
        await intake.accept("press", [b"x" * 2_000_000])
        with pytest.raises(SpoolFull):
            await intake.accept("press", [b"y"])

    with_intake(scenario, SpoolSettings(max_mib=1, when_full=WhenFull.REFUSE))


def test_a_full_spool_makes_wait_until_there_is_room() -> None:
    async def scenario(intake: Intake, spool: Spool) -> None:
        await intake.accept("press", [b"x" * 2_000_000])
        waiting = asyncio.create_task(intake.accept("press", [b"y"]))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        held = spool.take(0)
        spool.release(held[-1].end, [placed.batch for placed in held], {})
        assert await asyncio.wait_for(waiting, 5) == 1

    with_intake(scenario, SpoolSettings(max_mib=1))


def test_a_name_that_is_no_stream_is_refused() -> None:
    async def scenario(intake: Intake, spool: Spool) -> None:
        with pytest.raises(InvalidRecord):
            intake.offer("no spaces", [b"x"])

    with_intake(scenario)
