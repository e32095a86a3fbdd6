"""tokdrain.datasets: functions for map and filter, in this process and in others."""
import json
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
from tokdrain.datasets import CountTokens, WithinBudget  # noqa: E402


def chat(i):
    return [{"role": "user", "content": f"number {i} " + "word " * i, "name": None}]


BATCH = {"messages": [chat(i) for i in range(30)], "id": list(range(30))}


@pytest.fixture(scope="module")
def expected():
    model = tokdrain.Model.built_in()
    return [model.count(chat(i)) for i in range(30)]


def test_map(default_dir, expected):
    count = CountTokens(str(default_dir))
    assert count(BATCH) == {"tokens": expected, "error": [None] * 30}
    again = pickle.loads(pickle.dumps(count))
    assert again(BATCH)["tokens"] == expected
    assert len(pickle.dumps(count)) < 1000, "what is loaded is not to be pickled"
    texts = {"chat": [json.dumps(m) for m in BATCH["messages"]]}
    texts["chat"][1] = json.dumps({"messages": chat(1)})
    assert CountTokens(str(default_dir), messages_column="chat")(texts)["tokens"] == expected
    plain = CountTokens(str(default_dir), text_column="t", tokens_column="n", error_column="e")
    model = tokdrain.Model.built_in()
    assert plain({"t": ["[a]", ""]}) == {"n": [len(model.encode("[a]")), 0], "e": [None, None]}


def test_other_columns_and_nulls(default_dir):
    model = tokdrain.Model.built_in()
    tools = [{"type": "function", "function": {"name": "f", "description": None}}]
    want = model.count(chat(2), tools=tools, custom=1)
    for given in (tools, json.dumps(tools)):
        batch = {"messages": [chat(2)], "t": [given], "k": [{"custom": 1, "none": None}]}
        count = CountTokens(str(default_dir), tools_column="t", kwargs_column="k")
        assert count(batch) == {"tokens": [want], "error": [None]}
    template = "{{ messages | tojson }}"
    part = {"type": "text", "text": "x"}
    chats = [[{"role": "user", "content": [p]}] for p in ({**part, "image": None}, part)]
    kept, dropped = (CountTokens(str(default_dir), chat_template=template, drop_nulls=drop)(
        {"messages": chats})["tokens"] for drop in (False, True))
    full, bare = (model.count(c, chat_template=template) for c in chats)
    assert full > bare and kept == [full, bare] and dropped == [bare, bare]


def test_errors(default_dir):
    batch = {"messages": [chat(1), "[", [], None]}
    got = CountTokens(str(default_dir))(batch)
    assert [t is None for t in got["tokens"]] == [False, True, True, True]
    assert got["error"][0] is None and all(e.startswith("input: ") for e in got["error"][1:])
    with pytest.raises(tokdrain.InputError):
        CountTokens(str(default_dir), raise_errors=True)(batch)
    with pytest.raises(tokdrain.InputError, match="messages_column"):
        CountTokens(str(default_dir))({"chat": []})
    assert WithinBudget(str(default_dir), 10 ** 6)(batch) == [True, False, False, False]
    with pytest.raises(tokdrain.InputError):
        WithinBudget(str(default_dir), 10 ** 6, raise_errors=True)(batch)


def test_filter(default_dir, expected):
    middle = sorted(expected)[15]
    keep = WithinBudget(str(default_dir), middle, least=expected[2])
    assert keep(BATCH) == [expected[2] <= n <= middle for n in expected]


def test_in_other_processes(default_dir, expected):
    count = CountTokens(str(default_dir), jobs=1)
    halves = [{"messages": BATCH["messages"][:15]}, {"messages": BATCH["messages"][15:]}]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        got = [n for part in pool.map(count, halves) for n in part["tokens"]]
    assert got == expected
    count(BATCH)
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        assert [n for p in pool.map(count, halves) for n in p["tokens"]] == expected


def test_with_datasets_itself(default_dir, expected, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    data = datasets.Dataset.from_dict(BATCH)
    count = CountTokens(str(default_dir), jobs=1)
    counted = data.map(count, batched=True, batch_size=7, num_proc=2)
    assert counted["tokens"][:] == expected and counted["id"][:] == BATCH["id"]
    few = data.filter(WithinBudget(str(default_dir), expected[10]), batched=True)
    assert len(few) == sum(n <= expected[10] for n in expected)
    arrow = pytest.importorskip("tokdrain.arrow")
    with tokdrain.Counter(str(default_dir)) as counter:
        tables = data.with_format("arrow").map(lambda table: arrow.count(counter, table),
                                               batched=True, batch_size=7)
    assert tables.with_format(None)["tokens"][:] == expected
