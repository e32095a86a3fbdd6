"""Real tokenizers with one part or option changed, beside the reference: every component in the place of
the file's own, options of the model, flags of added tokens. The first merges of a file are kept, so that
files load in no time."""
import copy
import json

import pytest

tokenizers = pytest.importorskip("tokenizers")
from test_components_live import (  # noqa: E402
    DECODERS, NORMALIZERS, POST_PROCESSORS, PRE_TOKENIZERS, check, load_error, pytestmark, reference_loads, texts_for)

__all__ = ["pytestmark"]
MERGES = 2000
PARTS = {"normalizer": NORMALIZERS, "pre_tokenizer": PRE_TOKENIZERS, "post_processor": POST_PROCESSORS,
         "decoder": DECODERS}
OPTIONS = [{"ignore_merges": True}, {"ignore_merges": False}, {"byte_fallback": True}, {"byte_fallback": False},
           {"unk_token": None}, {"unk_token": "a"}, {"unk_token": "a", "fuse_unk": True, "byte_fallback": False},
           {"unk_token": "a", "fuse_unk": False, "byte_fallback": False}, {"unk_token": "absent"},
           {"continuing_subword_prefix": ""}, {"continuing_subword_prefix": "##"}, {"end_of_word_suffix": ""},
           {"end_of_word_suffix": "</w>"}, {"end_of_word_suffix": "e"}]


def cut(path):
    """The file with its first merges, what they join and make, and some of its added tokens."""
    state = json.loads(path.read_text())
    model = state["model"]
    model["merges"] = model["merges"][:MERGES]
    pairs = [m if isinstance(m, list) else m.split(" ", 1) for m in model["merges"]]
    known = {p for pair in pairs for p in [*pair, "".join(pair)]}
    kept = [t for t in model["vocab"] if t in known or len(t) == 1 or (len(t) == 6 and t.startswith("<0x"))]
    added = [a for a in state["added_tokens"] if a["content"] not in kept][-40:]
    model["vocab"] = {t: i for i, t in enumerate([*kept, *(a["content"] for a in added)])}
    state["added_tokens"] = [a | {"id": model["vocab"][a["content"]]} for a in added]
    return state | {"post_processor": None}


def changes(state):
    yield {}
    for part, components in PARTS.items():
        for component in [None, *components.values()]:
            yield {part: component}
    for options in OPTIONS:
        yield {"model": state["model"] | options}
    for flag in ("single_word", "lstrip", "rstrip", "normalized", "special"):
        yield {"added_tokens": [a | {flag: not a[flag]} for a in state["added_tokens"]]}


@pytest.mark.parametrize("name", ["qwen3", "llama3_1", "deepseek_v3", "gemma3", "llama2", "claude"])
def test_changed(tmp_path, model_dir, name):
    state = cut(model_dir(name) / "tokenizer.json")
    words = [a["content"] for a in state["added_tokens"]]
    texts = texts_for(7, 40) + [f"x {w}  don't{w}{words[i - 1]}\n{w} é日本 12" for i, w in enumerate(words[:12])]
    for change in changes(state):
        text = json.dumps(copy.copy(state) | change)
        if reference_loads(text):
            check(tmp_path, text, texts)
        else:
            assert load_error(tmp_path, text) is not None, list(change)
