"""Some 1,090 model directories, beside AutoTokenizer: ids with and without special tokens, decoded
text, special tokens. What the reference cannot load must be refused, and nothing else, but for the
classes in Python. Classes whose input is lists of words load, refuse texts and decode."""
import json
import subprocess

import directories
import pytest

CASES = directories.cases()
# The reference makes a tokenizer without a vocabulary of the first two, and one whose template
# fails of the third.
EMPTY = {"files-none", "class-MBart50-over-bytes", "odd-template-number"}


def reference(folder):
    from transformers import AutoTokenizer
    try:
        t = AutoTokenizer.from_pretrained(str(folder))
        if not t.is_fast:
            return None
        return t
    except Exception:  # noqa: BLE001 - whatever it raises, we must refuse, too
        return None


def ids_of(t, request):
    try:
        return t(request["text"], add_special_tokens=request["add_special_tokens"])["input_ids"]
    except Exception:  # noqa: BLE001 - a text that the tokenizer refuses
        return None


def prompts(t):
    """Ids with prompts, which Whisper drops with the special tokens, where its names for them are tokens
    and where they are not."""
    if type(t).__name__ != "WhisperTokenizer":
        return []
    prev, start = t.convert_tokens_to_ids(["<|startofprev|>", "<|startoftranscript|>"])
    some = t("a <|1.20|> b<|3|><|\u0663.\u0664|>")["input_ids"]
    return [[prev], [prev, start], [prev, *some], [prev, *some, start, *some], [prev, start, start, *some, start],
            [*some, prev, *some, start, *some], [start, prev, *some], [prev, prev, *some, start, *some], some, []]


def run(program, command, folder, requests, *options):
    return subprocess.run([program, command, "-m", folder, *options], capture_output=True, check=False,
                          input="".join(json.dumps(r) + "\n" for r in requests).encode())


@pytest.mark.parametrize("name", CASES)
def test_directory(name, program, tmp_path):
    directories.write(tmp_path, CASES[name])
    t = reference(tmp_path)
    requests = [{"text": x, "add_special_tokens": s} for x in directories.TEXTS for s in (False, True)]
    done = run(program, "encode", tmp_path, requests)
    if t is None or name.startswith("python-") or name in EMPTY:
        assert done.returncode == 3, "only the reference refuses"
        return
    assert done.returncode in (0, 1), done.stderr.decode()
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    want = [ids_of(t, r) for r in requests]
    for request, line, w in zip(requests, lines, want, strict=True):
        assert line.get("ids") == w, (request, line)
    info = json.loads(subprocess.run([program, "info", "--json", "-m", tmp_path], capture_output=True,
                                     check=True).stdout)
    assert list(info["special_tokens"].items()) == list(t.special_tokens_map.items())
    want = [ids for ids in want if ids is not None] or [[i, 0, 3 * i] for i in range(len(t) // 3)]
    want += prompts(t)
    for skip in (False, True):
        decoded = run(program, "decode", tmp_path, [{"ids": i} for i in want], *["--skip-special-tokens"] * skip)
        texts = [json.loads(line)["text"] for line in decoded.stdout.splitlines()]
        for ids, g, w in zip(want, texts, [t.decode(i, skip_special_tokens=skip) for i in want], strict=True):
            assert g == w, (ids, skip)
