"""padding, truncation, max_length, return_tensors and tokenizer_kwargs among chat_template_kwargs,
beside apply_chat_template: ids, counts, masks, and what is refused."""
import json
import random
import shutil
import subprocess

import pytest
from test_tokenizer_live import SCALE

CONFIGS = {
    "as it is": {},
    "short": {"model_max_length": 9},
    "left": {"model_max_length": 12, "truncation_side": "left", "padding_side": "left"},
    "huge": {"model_max_length": 1000000000000000019884624838656},
    "huge float": {"model_max_length": 1e30},
    "float": {"model_max_length": 12.0},
    "true": {"model_max_length": True},
    "negative": {"model_max_length": -3},
    "null": {"model_max_length": None, "max_len": 7},
    "max_len": {"model_max_length": ..., "max_len": 7},
    "no pad": {"pad_token": None},
    "class that pads left": {"tokenizer_class": "LlamaTokenizer", "model_max_length": 20},
}
VALUES = {
    "padding": [True, False, None, "longest", "max_length", "do_not_pad", "other", 0, 1],
    "truncation": [True, False, None, "longest_first", "only_first", "only_second", "do_not_truncate", "x", 1, []],
    "max_length": [None, 0, 1, 5, 8, 40, 64, -1, 7.0, "9", True, 10 ** 20],
    "return_tensors": [None, "np", "np"],
    "tokenizer_kwargs": [None, {}, {"pad_to_multiple_of": 8}, {"pad_to_multiple_of": 0}, {"pad_to_multiple_of": 7},
                         {"padding_side": "left"}, {"padding_side": "up"}, {"stride": 0, "return_length": True},
                         {"pad_to_multiple_of": "8"}, {"padding_side": "right", "pad_to_multiple_of": 16}],
}
MESSAGES = [
    [{"role": "user", "content": "hi"}],
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 17 times 3? " * 4},
     {"role": "assistant", "content": "51 <|im_end|>"}],
]
TEMPLATE = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}"
            "{{ m.content }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}<|im_end|>{% endfor %}")


def folder_of(root, tmp_path, changes):
    folder = tmp_path / "model"
    shutil.copytree(root / "assets" / "default", folder)
    path = folder / "tokenizer_config.json"
    config = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not ...}))
    return folder


def requests(rng, count):
    for _ in range(count):
        kwargs = {name: rng.choice(values) for name, values in VALUES.items() if rng.random() < 0.55}
        extra = rng.choice([{}, {}, {}, {"sanitize_control_tokens": True}, {"return_assistant_tokens_mask": True}])
        yield {"messages": rng.choice(MESSAGES), "chat_template": TEMPLATE, **extra}, kwargs


def reference(tokenizer, line, kwargs):
    """(ids, mask or None), or the error."""
    asks = dict(line)
    mask = asks.get("return_assistant_tokens_mask", False)
    try:
        out = tokenizer.apply_chat_template(asks.pop("messages"), add_generation_prompt=True, return_dict=True,
                                            **asks, **kwargs)
    except BaseException as error:  # the library panics, too
        if isinstance(error, KeyboardInterrupt):
            raise
        return error
    ids, masks = out["input_ids"], out.get("assistant_masks") if mask else None
    if kwargs.get("return_tensors"):  # a batch of one
        ids, masks = ids[0].tolist(), masks[0] if masks is not None else None
    return ids, masks if masks is None else list(masks)


def lines_of(program, command, folder, lines):
    done = subprocess.run([program, command, "-m", folder], capture_output=True, check=False,
                          input="".join(json.dumps(x) + "\n" for x in lines).encode())
    assert done.returncode in (0, 1), done.stderr
    return [json.loads(x) for x in done.stdout.splitlines()]


@pytest.mark.parametrize("name", CONFIGS)
def test_lengths(program, root, tmp_path, name):
    from transformers import AutoTokenizer
    folder = folder_of(root, tmp_path, CONFIGS[name])
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    cases = list(requests(random.Random(f"lengths {name}"), int(400 * SCALE)))
    lines = [{**line, "chat_template_kwargs": kwargs} for line, kwargs in cases]
    encoded, counted = (lines_of(program, c, folder, lines) for c in ("encode", "count"))
    refused = 0
    for (line, kwargs), ids, count in zip(cases, encoded, counted, strict=True):
        want = reference(tokenizer, line, kwargs)
        if isinstance(want, BaseException):
            refused += 1
            assert ids.get("error", {}).get("kind") in ("input", "limit"), (kwargs, want, ids)
            assert count["tokens"] is None, (line, kwargs, want)
            continue
        assert "error" not in ids, (kwargs, ids)
        assert ids["ids"] == want[0], (line, kwargs)
        assert want[1] is None or ids["assistant_masks"] == [int(x) for x in want[1]], (line, kwargs, ids)
        assert count["tokens"] == len(want[0]), (line, kwargs)
    assert 0 < refused < len(cases)


@pytest.mark.parametrize("kwargs, message", [
    ({"truncation": True, "max_length": 5, "tokenizer_kwargs": {"stride": 2}}, "\"stride\" is not available but as 0"),
    ({"tokenizer_kwargs": {"return_overflowing_tokens": True}}, "return_overflowing_tokens"),
    ({"return_tensors": "pt"}, "return_tensors"),
])
def test_not_available(program, root, kwargs, message):
    line = {"messages": MESSAGES[0], "chat_template_kwargs": kwargs}
    (answer,) = lines_of(program, "count", root / "assets" / "default", [line])
    assert answer["error"]["kind"] == "input" and message in answer["error"]["message"]


def test_where_they_say_nothing(program, root):
    """Rendering takes no notice; a message alone and owners of tokens have no cut prompt."""
    line = {"messages": MESSAGES[1], "chat_template_kwargs": {"truncation": "bogus", "padding": 7}}
    folder = root / "assets" / "default"
    rendered = [x["text"] for x in lines_of(program, "render", folder, [line, {"messages": MESSAGES[1]}])]
    assert rendered[0] == rendered[1]
    cut = {"truncation": True, "max_length": 3}
    (answer,) = lines_of(program, "count", folder, [{"message": MESSAGES[1][2], "chat_template_kwargs": cut}])
    assert "a message alone" in answer["error"]["message"]
