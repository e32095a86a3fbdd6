"""tokdrain.endpoints.BatchTokenizer beside upstream's class where that can be imported, else beside
what upstream does, spelled out with transformers (the wrapped engine)."""
import asyncio
import logging

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
from tokdrain import endpoints  # noqa: E402
from tokdrain.endpoints import MessageInput, PromptInput, TextInput, TokenIdsInput  # noqa: E402

CALL = {"id": "c1", "type": "function",
        "function": {"name": "f", "arguments": '{"city": "Zürich", "n": [1, 2.5, null]}'}}
ODD_CALL = {"type": "function", "function": {"name": "g", "arguments": "not json"}}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}}
HI = {"role": "user", "content": "hi <|im_end|> é🙂\n\tthere"}
TURNS = (HI, {"role": "assistant", "content": None, "tool_calls": [CALL, ODD_CALL]},
         {"role": "tool", "content": '{"ok": true}', "tool_call_id": "c1"})
INPUTS = [
    TokenIdsInput((1, 2, 3)), TokenIdsInput(()), TextInput("Hello, world"), TextInput(""),
    TextInput("<|im_start|>user"), MessageInput("Hello", None, None), MessageInput("", None, None),
    MessageInput("a", "because", None), MessageInput("", "", (CALL,)),
    MessageInput("x", "y", (CALL, ODD_CALL)), PromptInput((HI,), None, None, None),
    PromptInput(TURNS, (TOOL,), None, None), PromptInput(TURNS, (), {"enable_thinking": False},
                                                         None),
    PromptInput((HI,), None, {"tokenize": False, "return_dict": True,
                              "add_generation_prompt": False}, None),
    PromptInput((HI,), None, {"tools": [TOOL], "chat_template": "{{ messages }}{{ tools }}"}, None),
    PromptInput((HI,), (TOOL,), {"tools": []}, "{{ messages[0].content }}{{ tools|tojson }}"),
    PromptInput((HI,), None, None, "{{ tool_choice }}", "auto"),
    PromptInput((HI,), None, None, ""), PromptInput((), None, None, None),
    PromptInput(({"role": "nobody", "content": 'q"\\/\x07\u2028é'},), None, None,
                "{{ raise_exception('no') }}"),
    PromptInput(TURNS, (TOOL,), None, "{{ x.y }}"),
    PromptInput((HI,), None, {"continue_final_message": True}, None),
    PromptInput((HI,), None, {"truncation": True, "max_length": 5}, None),
    PromptInput((HI,), None, {"messages": 1}, None),
    PromptInput(({"role": "assistant", "content": "x", "tool_calls": [3]},), None, None, None),
    MessageInput("", None, (3,)),
]


def outcomes(tokenizer, inputs, **how):
    async def run():
        return await tokenizer.count_batch_async(inputs, asyncio.get_running_loop(), **how)
    return asyncio.run(run())


@pytest.fixture(scope="module", params=["default", "qwen3"])
def folder(request, default_dir, model_dir):
    return str(default_dir if request.param == "default" else model_dir(request.param))


def plain(results):
    return ["error" if isinstance(x, Exception) else x for x in results]


def test_beside_the_wrapped_engine(folder):
    from transformers import AutoTokenizer

    from tokdrain.endpoints.wrapped import WrappedEngine
    engine = WrappedEngine(folder, AutoTokenizer.from_pretrained(folder), 1)

    async def run():
        return await engine.count(INPUTS, asyncio.get_running_loop(), None)
    want = plain(asyncio.run(run()))
    engine.close()
    with endpoints.BatchTokenizer(folder, live_workers=1) as tokenizer:
        assert plain(outcomes(tokenizer, INPUTS)) == want
        assert plain(outcomes(tokenizer, INPUTS, live=True)) == want
        assert outcomes(tokenizer, []) == []
    assert want[-2:] == ["error", "error"] and "error" not in want[:-2]


def test_beside_upstream(folder):
    module = pytest.importorskip(
        "inference_endpoint.async_utils.services.metrics_aggregator.token_metrics",
        reason="mlcommons/endpoints is not installed")
    kinds = {c.__name__: c for c in (module.TokenIdsInput, module.TextInput, module.MessageInput,
                                     module.PromptInput)}
    theirs = [kinds[type(i).__name__](**vars(i)) for i in INPUTS]
    with module.BatchTokenizer(folder, live_workers=1, n_workers=0) as upstream, \
            endpoints.BatchTokenizer(folder, live_workers=1) as tokenizer:
        assert plain(outcomes(tokenizer, theirs)) == plain(outcomes(upstream, theirs))


def test_closed(folder):
    tokenizer = endpoints.BatchTokenizer(folder, live_workers=2, cores_per_worker=1, n_workers=2)
    tokenizer.close()
    tokenizer.close()
    got = outcomes(tokenizer, INPUTS[:3])
    assert got[:2] == [3, 0] and isinstance(got[2], RuntimeError)
    with pytest.raises(AssertionError):
        outcomes(tokenizer, [object()])


def test_a_fallback_is_logged_once(folder, caplog):
    bad = [PromptInput((HI,), None, None, "{{ x.y }}")] * 3
    with caplog.at_level(logging.ERROR), \
            endpoints.BatchTokenizer(folder, live_workers=1, n_workers=0) as tokenizer:
        outcomes(tokenizer, bad)
    assert len([r for r in caplog.records if "falling back" in r.getMessage()]) == 1


def test_a_custom_tokenizer_counts_with_its_own_code(tmp_path, default_dir):
    """A class whose Python code comes with the model, as transformers loads it."""
    import json
    import shutil
    folder = tmp_path / "custom"
    shutil.copytree(default_dir, folder)
    (folder / "own.py").write_text(
        "from transformers import PreTrainedTokenizerFast\n"
        "class OwnTokenizer(PreTrainedTokenizerFast):\n"
        "    def encode(self, text, **kwargs):\n"
        "        return [7] * len(text.split())\n")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config |= {"tokenizer_class": "OwnTokenizer",
               "auto_map": {"AutoTokenizer": ["own.OwnTokenizer", "own.OwnTokenizer"]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    with endpoints.BatchTokenizer(str(folder), live_workers=1) as tokenizer:
        assert outcomes(tokenizer, [TextInput("one two three"), TokenIdsInput((1,))]) == [3, 1]


def test_no_such_model():
    with pytest.raises(OSError):
        endpoints.BatchTokenizer("nobody/no-such-model", live_workers=1)
