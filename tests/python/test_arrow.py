"""Counts over Arrow columns equal the counts of the same rows as Python objects."""
import json
import math
import random

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from tokdrain import arrow  # noqa: E402

ECHO = "{{ messages | tojson }}{{ tools | tojson if tools else '' }}{{ extra | string }}"


def chat(i):
    return [{"role": "user", "content": f"number {i} \"é\\\n\t\x01 {'word ' * (i % 9)}"},
            {"role": "assistant", "content": "yes" * (i % 3)}]


@pytest.fixture(scope="module")
def model():
    return tokdrain.Model.built_in()


@pytest.fixture(params=[1, 3], scope="module")
def counter(request, model):
    with tokdrain.Counter(model, jobs=request.param, queue=64) as made:
        yield made


def want(counter, requests):
    results = counter.count_batch(requests)
    return ([r.tokens for r in results],
            [None if r.error is None else arrow.error_text(r.error) for r in results])


def lists(pair):
    return tuple(column.to_pylist() for column in pair)


def test_json_and_structs_in_all_layouts(counter):
    rows = [chat(i) for i in range(1000)]
    texts = [json.dumps(r, ensure_ascii=i % 2 == 0) for i, r in enumerate(rows)]
    expected = want(counter, rows)
    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    large = pa.struct([("role", pa.large_string()), ("content", pa.large_string())])
    for column in [pa.array(texts), pa.array(texts, pa.large_string()),
                   pa.array(texts, pa.binary()), pa.array(texts, pa.string_view()),
                   pa.array(texts).dictionary_encode(), pa.array(rows, pa.list_(message)),
                   pa.array(rows, pa.large_list(large)), pa.array(rows, pa.list_(message, 2)),
                   pa.array([[list(m.items()) for m in r] for r in rows],
                            pa.list_(pa.map_(pa.string(), pa.string())))]:
        assert lists(arrow.count_column(counter, column)) == expected, column.type
        # slices have offsets, chunks have ends
        cut = pa.chunked_array([column[:7], column[7:7], column[7:900], column[900:]])
        got = arrow.count_column(counter, cut)
        assert isinstance(got[0], pa.ChunkedArray) and lists(got) == expected
        part = arrow.count_column(counter, column[13:97])
        assert lists(part) == (expected[0][13:97], expected[1][13:97])


def test_tables_and_batches(counter, model):
    rows = [chat(i) for i in range(50)]
    table = pa.table({"id": range(50), "messages": rows})
    got = arrow.count(counter, table)
    assert got.column_names == ["id", "messages", "tokens", "error"]
    assert got.column("tokens").to_pylist() == [model.count(r) for r in rows]
    assert got.column("error").null_count == 50
    assert got.select(["id", "messages"]).equals(table)
    batch = arrow.count(model, table.to_batches()[0], tokens_column="n", error_column="e")
    assert isinstance(batch, pa.RecordBatch) and batch.column("n").to_pylist() == \
        got.column("tokens").to_pylist()
    empty = arrow.count(counter, table.slice(0, 0))
    assert empty.num_rows == 0 and empty.column("tokens").type == pa.int64()
    for bad in [{"messages_column": "nope"}, {"tokens_column": "id"},
                {"columns": {"nonsense": "id"}}]:
        with pytest.raises(tokdrain.InputError):
            arrow.count(counter, table, **bad)
    with pytest.raises(TypeError):
        arrow.count(counter, [1])


BAD = ['[', '[]', 'null', None, '"text"', '12', '', ' ', '{}', '[{"role": "user"]}', '[] []',
       '[],"text":"not counted"', '[1]', '[{"role":"user","content":"x"}]x', '{"text": "a"}}',
       '[{"role":"user","content":"\\ud800"}]', '[{"role":"user","content":"]}"}]',
       '{"text": "whole request"}', ' [ {"role":"user","content":"spaces"} ] \n',
       '[{"role":"user","content":"\\"]}\\\\"}]', '{"messages":[{"role":"user","content":"x"}]}',
       '[{"role":"user","content":"x"}],"add_generation_prompt":[false]', '[[[[', ']', '[}', '{]']


def reference(text):
    """The request that a JSON text in a messages column says."""
    if text is None or text.strip() == "null":
        return {"messages": None}
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return {"messages": value} if isinstance(value, list) else value


def test_malformed_texts_fail_alone(counter):
    tokens, errors = lists(arrow.count_column(counter, pa.array(BAD * 3)))
    assert tokens[:len(BAD)] * 3 == tokens and errors[:len(BAD)] * 3 == errors
    for text, count, error in zip(BAD, tokens, errors, strict=False):
        request = reference(text)
        if isinstance(request, dict):
            assert ([count], [error]) == want(counter, [request]), text
        else:
            assert count is None and error.startswith("input: "), text
    good = '[{"role":"user","content":"x"}]'
    pair = pa.array([good, good, good, good]), pa.array(["[]", "[", '[],"text":"no"', None])
    tokens, errors = lists(arrow.count_column(counter, pair[0], tools=pair[1]))
    assert [t is not None for t in tokens] == [True, False, False, True]
    assert [e is not None for e in errors] == [False, True, True, False]


def test_texts_that_are_no_utf8(counter):
    data = [b'[{"role":"user","content":"\xff"}]', b'[{"role":"user","content":"x"}]', b"\xc3"]
    tokens, errors = lists(arrow.count_column(counter, pa.array(data, pa.binary())))
    assert [t is None for t in tokens] == [True, False, True] and errors[1] is None
    inner = pa.array([b"\xff", b"fine"]).cast(pa.binary()).view(pa.string())
    messages = pa.StructArray.from_arrays([pa.array(["user"] * 2), inner], ["role", "content"])
    column = pa.ListArray.from_arrays([0, 1, 2], messages)
    tokens, errors = lists(arrow.count_column(counter, column))
    assert [t is None for t in tokens] == [True, False]


def test_values_of_every_type(model):
    """What the template sees is what to_pylist gives."""
    floats = [1.0, -0.0, 0.1, 1e300, 5e-324, math.inf, math.nan, 1e16, 123456789.125, None]
    for kind, values in [(pa.int8(), [-128, 127, None]), (pa.uint8(), [255]),
                         (pa.int16(), [-32768]), (pa.uint16(), [65535]), (pa.int32(), [-2**31]),
                         (pa.uint32(), [2**32 - 1]), (pa.int64(), [-2**63, 2**63 - 1]),
                         (pa.uint64(), [2**64 - 1]), (pa.float64(), floats),
                         (pa.float32(), [0.1, 1.5, -0.0]), (pa.bool_(), [True, False, None]),
                         (pa.null(), [None]), (pa.string(), ["", "é\u2028\x00", None]),
                         (pa.list_(pa.int64()), [[1, None], [], None]),
                         (pa.dictionary(pa.int8(), pa.string()), ["a", None, "b", "a"]),
                         (pa.struct([("a", pa.int64()), ("é\"", pa.string())]),
                          [{"a": 1, "é\"": None}, None])]:
        column = pa.array([[{"v": v}] for v in [None, *values]], pa.list_(pa.struct([("v", kind)])))
        with tokdrain.Counter(model, chat_template=ECHO) as counter:
            expected = want(counter, [{"messages": m} for m in column[1:].to_pylist()])
            assert expected[1] == [None] * len(values), (kind, expected)
            assert lists(arrow.count_column(counter, column[1:])) == expected, kind
    for kind in (pa.timestamp("s"), pa.decimal128(5), pa.binary(), pa.float16()):
        with pytest.raises(TypeError, match="Arrow's type"):
            arrow.count_column(model, pa.nulls(1, pa.list_(pa.struct([("v", kind)]))))


def test_other_columns(model):
    tools = [[{"type": "function", "function": {"name": f"f{i}", "description": "d"}}]
             for i in range(20)]
    rows = [chat(i) for i in range(20)]
    kwargs = [{"extra": "x" * i} if i % 3 else None for i in range(20)]
    flags = [i % 2 == 0 for i in range(20)]
    requests = [{"messages": m, "tools": t, "chat_template_kwargs": k, "add_generation_prompt": f}
                for m, t, k, f in zip(rows, tools, kwargs, flags, strict=True)]
    for template in (None, ECHO):
        with tokdrain.Counter(model, chat_template=template) as counter:
            expected = want(counter, requests)
            for dump in (False, True):
                def column(values):
                    return pa.array([json.dumps(v) for v in values] if dump else values)
                got = arrow.count_column(counter, column(rows), tools=pa.array(
                    [json.dumps(t) for t in tools]), chat_template_kwargs=column(kwargs),
                    add_generation_prompt=pa.array(flags))
                if not dump:  # a struct has its field in every row
                    expected_here = want(counter, [
                        {**r, "chat_template_kwargs": k} for r, k in
                        zip(requests, pa.array(kwargs).to_pylist(), strict=True)])
                assert lists(got) == (expected if dump else expected_here)
    texts = pa.array(["plain [text]", "", "{}", None])
    with tokdrain.Counter(model) as counter:
        got = lists(arrow.count_columns(counter, {"text": texts}))
        assert got == want(counter, [{"text": t} for t in texts.to_pylist()])
        lines = pa.array([json.dumps(r) for r in requests])
        assert lists(arrow.count_columns(counter, {"request": lines})) == want(counter, requests)
        nested = pa.array([{"messages": m, "tools": None} for m in rows])
        assert lists(arrow.count_columns(counter, {"request": nested})) == want(counter, rows)
    for bad in [{}, {"request": lines, "tools": lines}, {"messages": lines, "tools": lines[1:]}]:
        with pytest.raises(tokdrain.InputError):
            arrow.count_columns(model, bad)


def test_nulls_of_structs(model):
    parts = [{"type": "text", "text": "x"}, {"type": "image", "url": "y"}]
    rows = [[{"role": "user", "content": [part]}] for part in parts]
    column = pa.array(rows, pa.list_(pa.struct([("role", pa.string()), ("content", pa.list_(
        pa.struct([(n, pa.string()) for n in ("type", "text", "url")])))])))
    with tokdrain.Counter(model, chat_template=ECHO) as counter:
        kept = want(counter, column.to_pylist())
        bare = want(counter, rows)
        assert min(kept[0]) > max(bare[0])
        assert lists(arrow.count_column(counter, column)) == kept
        assert lists(arrow.count_column(counter, column, drop_nulls=True)) == bare


def test_offsets_that_lie(counter):
    """Buffers of a broken file: an item's error, or the array is refused; never a crash."""
    rng = random.Random(8)
    good = pa.array([json.dumps(chat(i)) for i in range(40)])
    validity, offsets, data = good.buffers()
    nested = pa.array([chat(i) for i in range(40)])
    outer = nested.buffers()[1]
    refused = read = 0
    for _ in range(300):
        raw = bytearray(offsets.to_pybytes())
        raw_outer = bytearray(outer.to_pybytes())
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(41) * 4
            raw[at:at + 4] = rng.choice([-1, 2**31 - 1, 0, rng.randrange(10000)]).to_bytes(
                4, "little", signed=True)
            raw_outer[at:at + 4] = raw[at:at + 4]
        for kind, buffers, children in [
                (pa.string(), [validity, pa.py_buffer(raw), data], None),
                (nested.type, [None, pa.py_buffer(raw_outer)], [nested.values])]:
            try:
                broken = pa.Array.from_buffers(kind, 40, buffers, children=children)
                tokens, errors = arrow.count_column(counter, broken)
            except pa.ArrowInvalid:
                refused += 1
                continue
            read += 1
            assert len(tokens) == 40
            for t, e in zip(tokens.to_pylist(), errors.to_pylist(), strict=True):
                assert (t is None) != (e is None)
    assert refused and read
