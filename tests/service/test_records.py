"""Records that were damaged anywhere: what msgspec's strict decoding makes of them decides."""
import os
import random
import typing

import pytest

from expected_run import Run
from harness import START, Parent, batch, record
from random_run import as_record, random_event, random_output, random_prompt

msgspec = pytest.importorskip("msgspec")
SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))


class TextModelOutput(msgspec.Struct, tag=True, array_like=True):
    output: str | list[str] = ""
    reasoning: str | list[str] | None = None
    tool_calls: list[typing.Any] | None = None


class PromptData(msgspec.Struct, tag=True, array_like=True):
    text: str | None = None
    token_ids: list[int] | None = None
    messages: list[dict[str, typing.Any]] | None = None
    tools: list[dict[str, typing.Any]] | None = None
    chat_template_kwargs: dict[str, typing.Any] | None = None
    chat_template: str | None = None
    tool_choice: str | dict[str, typing.Any] | None = None


class ErrorData(msgspec.Struct, tag=True, array_like=True):
    error_type: str
    error_message: str = ""


TOPICS = [f"session.{name}" for name in ("started", "ended", "stop_loadgen",
                                         "start_performance_tracking",
                                         "stop_performance_tracking")]
TOPICS += [f"error.{name}" for name in ("generic", "loadgen", "session", "client")]
TOPICS += [f"sample.{name}" for name in ("issued", "complete", "recv_first", "recv_non_first")]


class Record(msgspec.Struct):
    event_type: typing.Literal[tuple(TOPICS)]
    timestamp_ns: int | msgspec.UnsetType = msgspec.UNSET
    sample_uuid: str = ""
    conversation_id: str = ""
    turn: int | None = None
    data: TextModelOutput | PromptData | ErrorData | None = None
    finish_reason: str | msgspec.UnsetType = msgspec.UNSET
    worker_id: int | msgspec.UnsetType = msgspec.UNSET


DECODER = msgspec.msgpack.Decoder(Record)


def read(payload):
    """The record, or None."""
    try:
        return DECODER.decode(payload)
    except (ValueError, RecursionError):
        return None


def damaged(rng, payload, others):
    """The same bytes with some of them wrong, missing, doubled or from elsewhere."""
    data = bytearray(payload)
    for _ in range(rng.choice([1, 1, 2, 3])):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(6)
        if how == 0 and at < len(data):
            data[at] = rng.randrange(256)
        elif how == 1 and at < len(data):
            data[at] = rng.choice(b"\xc0\xc1\xc2\xc3\xca\xcb\xcf\xd3\xc4\xc6\xd9\xdb\xdc\xdf\x80\x90\xa0\xff")
        elif how == 2:
            del data[at:at + rng.choice([1, 1, 2, 9])]
        elif how == 3:
            data[at:at] = data[at:at + rng.randrange(12)]
        elif how == 4:
            other = rng.choice(others)
            data[at:at] = other[:rng.randrange(40)]
        else:
            del data[at:]
    return bytes(data)


def sources(rng):
    """Valid records of every type, with every kind of data and every key."""
    out = [as_record(random_event(rng)) for _ in range(150)]
    for n in range(60):
        out.append(record("sample.issued", START, "a", random_prompt(rng), worker_id=n))
        out.append(record("sample.complete", START, "a", random_output(rng), turn=5,
                          conversation_id="c", finish_reason="stop"))
        out.append(record("error.client", START, "a", ["ErrorData", "E", "m"], other=[{"x": 1}]))
    return out


def within(value):
    """The nearest that a snapshot has."""
    return min(max(value, -2**63), 2**64 - 1)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_records(aggregator, seed):
    rng = random.Random(seed)
    good = sources(rng)
    payloads = []
    while len(payloads) < 20000 * SCALE:
        payload = damaged(rng, rng.choice(good), good)
        found = read(payload)
        # what our own clock would decide is left out, and so is the end
        if payload and not (found and (found.timestamp_ns is msgspec.UNSET or
                                       found.event_type in ("session.ended", "session.started"))):
            payloads.append((payload, found))
    assert 0.02 < sum(f is not None for _, f in payloads) / len(payloads) < 0.9
    run = Run(streaming=True)
    run.event("session.start_performance_tracking", START)
    for _, found in payloads:
        if found is None:
            run.event("error.generic", START)
            continue
        data, reason = found.data, found.finish_reason
        if isinstance(data, PromptData):
            data = ["PromptData", data.text, data.token_ids]
        else:
            data = None
        run.event(found.event_type, found.timestamp_ns, found.sample_uuid, data,
                  None if reason is msgspec.UNSET else reason)
    run.durations()
    with Parent(aggregator, ["--streaming"]) as parent:
        parent.send(batch([record("session.start_performance_tracking", START)]))
        for i in range(0, len(payloads), 500):
            parent.send(batch(p for p, _ in payloads[i:i + 500]))
        final = parent.end()
    got = {m["name"]: m for m in final["metrics"]}
    counters = {n: m["value"] for n, m in got.items() if m["type"] == "counter"}
    assert counters == {name: within(value) for name, value in run.counters.items()}
    for name, want in run.series.items():
        assert (got[name]["count"], got[name]["total"]) == (len(want), within(sum(want))), name
