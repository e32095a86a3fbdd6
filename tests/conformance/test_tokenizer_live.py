"""Ids, offsets, counts and decoded text, compared with the tokenizers library itself.

Everything goes through build/tests/tools/token_tool, which also checks that encoding with and
without offsets, counting, and counting by segments agree."""
import itertools
import json
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("TD_BUILD", "build") / "tests" / "tools" / "token_tool"
SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
ADD_SPECIAL, PLAIN_TEXT, CODE_POINTS, SKIP_SPECIAL = 1, 2, 16, 1

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} is not built")

REAL = ["qwen3", "llama3_1", "gptoss", "gpt35turbo", "deepseek_v3", "claude", "llama2", "gemma3"]


class Error(str):
    """What the tool answered instead of a result."""


def ask(path, cases, *more):
    """Runs [(op, flags, bytes)] through the tool; one answer each, or one Error if path fails.

    more: an encoding, empty or not, for files of any format."""
    data = b"".join(op.encode() + bytes([flags]) + struct.pack("<I", len(arg)) + arg
                    for op, flags, arg in cases)
    out = subprocess.run([TOOL, path, *more], input=data, stdout=subprocess.PIPE, check=True).stdout
    answers, at = [], 0

    def numbers(count):
        nonlocal at
        at += 4 * count
        return list(struct.unpack_from(f"<{count}I", out, at - 4 * count))

    def text():
        nonlocal at
        (n,) = numbers(1)
        at += n
        return out[at - n : at].decode()

    for op, _, arg in cases:
        at += 1
        if out[at - 1 : at] == b"-":
            answers.append(Error(text()))
            if at == len(out):
                break
        elif op == "e":
            (n,) = numbers(1)
            answers.append((numbers(n), list(zip(numbers(n), numbers(n)))))
        elif op in "dtD":
            answers.append(text())
        elif op == "b":
            (n,) = numbers(1)
            first = numbers(n)
            ids, starts, ends = (numbers(first[-1]) for _ in range(3))
            answers.append([(ids[a:b], list(zip(starts[a:b], ends[a:b])))
                            for a, b in itertools.pairwise(first)])
        elif op == "s":
            steps = []
            for _ in range(step_count(arg)):
                at += 1
                kind = out[at - 1 : at]
                steps.append(Error() if kind == b"!" else None if kind == b"." else text())
            answers.append(steps)
        else:
            answers.append(numbers(2 if op == "i" else 1))
    return answers


def stream_case(prompt, steps, flags=0):
    lists = b"".join(struct.pack(f"<I{len(i)}I", len(i), *i) for i in [prompt, *steps])
    return "s", flags, lists


def step_count(arg):
    at, lists = 0, 0
    while at < len(arg):
        at += 4 + 4 * struct.unpack_from("<I", arg, at)[0]
        lists += 1
    return lists - 1


def same_places(text, offsets, want):
    """Byte offsets beside code points, but for places behind the text, which have none."""
    index = [i for i, c in enumerate(text) for _ in range(len(c.encode()))] + [len(text)]
    return len(offsets) == len(want) and all(
        s >= len(index) - 1 or e >= len(index) or (index[s], index[e]) == w
        for (s, e), w in zip(offsets, want))


def compare_encode(path, reference, texts, flags=0):
    answers = ask(path, [("e", flags | (CODE_POINTS if i % 2 else 0), t.encode())
                         for i, t in enumerate(texts)])
    assert len(answers) == len(texts), answers[:1]
    reference.encode_special_tokens = bool(flags & PLAIN_TEXT)
    for i, (text, answer) in enumerate(zip(texts, answers)):
        try:
            want = reference.encode(text, add_special_tokens=bool(flags & ADD_SPECIAL))
        except BaseException as e:  # the library panics where it cannot encode
            assert isinstance(answer, Error), (text, e)
            continue
        assert not isinstance(answer, Error), (text, answer)
        assert answer[0] == want.ids, text
        if i % 2:
            assert answer[1] == want.offsets, text
        else:
            assert same_places(text, answer[1], want.offsets), text


def compare_batch(path, reference, texts, flags=0):
    """A batch, in code points. Texts that the reference refuses are left out."""
    reference.encode_special_tokens = bool(flags & PLAIN_TEXT)
    special, good = bool(flags & ADD_SPECIAL), []
    for text in texts:
        try:
            reference.encode(text, add_special_tokens=special)
        except BaseException:  # noqa: S112
            continue
        good.append(text)
    arg = b"".join(struct.pack("<I", len(t.encode())) + t.encode() for t in good)
    (answer,) = ask(path, [("b", flags | CODE_POINTS, arg)])
    assert not isinstance(answer, Error), answer
    want = reference.encode_batch(good, add_special_tokens=special)
    for text, got, w in zip(good, answer, want, strict=True):
        assert got == (w.ids, w.offsets), text


def compare_stream(path, reference, cases):
    """[(ids before the stream, ids of each step)], step for step."""
    for flags in (0, SKIP_SPECIAL):
        answers = ask(path, [stream_case(prompt, steps, flags) for prompt, steps in cases])
        for (prompt, steps), answer in zip(cases, answers, strict=True):
            stream = DecodeStream(ids=prompt, skip_special_tokens=bool(flags))
            for at, (ids, got) in enumerate(zip(steps, answer, strict=True)):
                try:
                    want = stream.step(reference, ids)
                except BaseException:  # the decoder panics, or changes earlier text
                    assert isinstance(got, Error), (prompt, steps[: at + 1], got)
                    continue
                assert got == want and not isinstance(got, Error), (prompt, steps[: at + 1])


def random_steps(rng, ids, size):
    """The ids one by one, and with random ones among them a few at a time, behind a prompt."""
    cut = rng.randint(0, len(ids))
    mixed = [rng.randrange(size) if rng.random() < 0.2 else i for i in ids]
    out, at = [], cut
    while at < len(ids):
        n = rng.choice([0, 1, 1, 1, 2, 5])
        out.append(mixed[at : at + n])
        at += n
    return [([], [[i] for i in ids]), (mixed[:cut], out)]


def compare_decode(path, reference, lists):
    for flags in (0, SKIP_SPECIAL):
        answers = ask(path, [("d", flags, struct.pack(f"<{len(i)}I", *i)) for i in lists])
        for ids, answer in zip(lists, answers):
            try:
                want = reference.decode(ids, skip_special_tokens=bool(flags))
            except BaseException as e:
                assert isinstance(answer, Error), (ids, e)
                continue
            assert answer == want, ids


# ---- texts ----

PARTS = ["'s", "'LL", "'Re", "'ſ", " ", "  ", "\n", "\r\n", "\t", "\x0b", "\u0085", "\u00a0", "\u3000", "1",
         "23", "456789", "a", "B", "word", " The", "ſ", "\u212a", "日本語", "アイウ", "e\u0301", "A\u030a\u0327",
         "\uac00\u11a8", "\u1100\u1161", "𠀀", "😀", "👩\u200d💻", "!", "...", "/", "_", "\u0378", "\x00", "\x7f"]


def random_text(rng, contents):
    out = []
    for _ in range(rng.randint(1, 30)):
        kind = rng.random()
        if kind < 0.4:
            out.append(rng.choice(PARTS))
        elif kind < 0.5 and contents:
            out.append(rng.choice(contents))
        else:
            c = rng.randint(0, rng.choice([0x7F, 0x2FF, 0x36F, 0xFFFF, 0x10FFFF]))
            out.append("x" if 0xD800 <= c < 0xE000 else chr(c))
    return "".join(out)


def random_texts(reference, count, seed):
    rng = random.Random(seed)
    contents = [t.content for t in reference.get_added_tokens_decoder().values()]
    return [random_text(rng, contents) for _ in range(int(count * SCALE))]


def every_character():
    chars = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    for at in range(0, len(chars), 400):
        some = chars[at : at + 400]
        yield "".join(c + " " for c in some) if at % 800 else "".join("a" + c + c for c in some)


@pytest.mark.parametrize("name", REAL)
def test_real(model_dir, name):
    path = model_dir(name) / "tokenizer.json"
    reference = Tokenizer.from_file(str(path))
    texts = ["", "Hello, world!", *random_texts(reference, 1000, 1)]
    compare_encode(path, reference, texts)
    compare_encode(path, reference, texts[: len(texts) // 4], ADD_SPECIAL)
    compare_encode(path, reference, texts[: len(texts) // 4], PLAIN_TEXT)
    reference.encode_special_tokens = False
    lists = [reference.encode(t).ids for t in texts[:300]]
    rng = random.Random(2)
    size = reference.get_vocab_size() + 10
    lists += [[rng.randrange(size) for _ in range(20)] for _ in range(200)]
    compare_decode(path, reference, lists)
    compare_batch(path, reference, texts[:200], ADD_SPECIAL)
    size -= 10
    compare_stream(path, reference, [c for i in lists[:100] + lists[-20:] for c in
                                     random_steps(rng, [x for x in i if x < size], size)])
    added = reference.get_added_tokens_decoder()
    special = [i in added and added[i].special for i in range(size)]
    answers = ask(path, [("p", 0, struct.pack("<I", i)) for i in range(size)])
    assert [a == [1] for a in answers] == special
    assert ask(path, [("v", 0, b"")]) == [[reference.get_vocab_size()]]


@pytest.mark.parametrize("name", ["qwen3", "gptoss"])
def test_every_character(model_dir, name):
    path = model_dir(name) / "tokenizer.json"
    compare_encode(path, Tokenizer.from_file(str(path)), list(every_character()))


@pytest.mark.parametrize("unit", ["a", " ", "\n", "1", "中", "\u0301", "😀", "a "])
def test_long_runs(model_dir, unit):
    path = model_dir("qwen3") / "tokenizer.json"
    text = unit * 20000
    compare_encode(path, Tokenizer.from_file(str(path)), [text])


# ---- small tokenizers: components and their options ----

ALPHABET = "abcdeghilnorstuw ABXé1▁Ġ_-.<>/中"
WORDS = ["ab", "abc", "the", "▁the", "th", "Ġth", "12", "--", "é1", "<a", "un", "unk"]


def bpe(**options):
    vocab, merges = {"<unk>": 0}, []
    for c in ALPHABET + "".join(chr(0x100 + b) for b in range(0x44)):
        vocab.setdefault(c, len(vocab))
    prefix = options.get("continuing_subword_prefix") or ""
    suffix = options.get("end_of_word_suffix") or ""
    for c in ALPHABET if prefix or suffix else "":
        for text in (prefix + c, c + suffix, prefix + c + suffix):
            vocab.setdefault(text, len(vocab))
    for left, right in ["ab", ("ab", "c"), "th", ("th", "e"), ("▁", "the"), ("Ġ", "th"), "12", "--", "un",
                        ("un", "k"), "<a", "é1", ("t", "he"), "he"]:
        right = prefix + right
        for text in (left, right, left + right[len(prefix) :]):
            vocab.setdefault(text, len(vocab))
        merges.append([left, right])
    for b in range(0, 256, 1 if options.get("byte_fallback") == "all" else 3):
        vocab.setdefault(f"<0x{b:02X}>", len(vocab))
    if options.get("byte_fallback") == "all":
        options["byte_fallback"] = True
    return {"type": "BPE", "vocab": vocab, "merges": merges, **options}


def small_text(rng, extra=()):
    units = list(ALPHABET) + WORDS + ["é", "\n", "  ", "日", "e\u0301", "\u00a0", "Z", "<x>", "x"] + list(extra)
    return "".join(rng.choice(units) for _ in range(rng.randint(0, 14)))


def check(tmp_path, document, extra=(), count=150, seed=3):
    """Compares on small texts; both must refuse what one refuses."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document, ensure_ascii=False))
    try:
        reference = Tokenizer.from_file(str(path))
    except Exception as e:
        assert isinstance(ask(path, [("v", 0, b"")])[0], Error), e
        return
    rng = random.Random(seed)
    texts = ["", " ", *(small_text(rng, extra) for _ in range(int(count * SCALE)))]
    for flags in (0, ADD_SPECIAL, PLAIN_TEXT):
        compare_encode(path, reference, texts, flags)
    compare_batch(path, reference, texts[:30], ADD_SPECIAL)
    size = reference.get_vocab_size() + 3
    lists = [[rng.randrange(size) for _ in range(rng.randint(0, 8))] for _ in range(100)]
    compare_decode(path, reference, lists)
    compare_stream(path, reference, [c for i in lists[:20] for c in random_steps(rng, i, size)])


MODELS = [
    {}, {"unk_token": "<unk>"}, {"unk_token": "<unk>", "fuse_unk": True}, {"unk_token": "<nope>"},
    {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True}, {"byte_fallback": "all"},
    {"byte_fallback": True, "unk_token": "<unk>"}, {"ignore_merges": True},
    {"continuing_subword_prefix": "##"}, {"end_of_word_suffix": "</w>"},
    {"continuing_subword_prefix": "##", "end_of_word_suffix": "</w>", "unk_token": "<unk>"},
]


@pytest.mark.parametrize("options", MODELS, ids=str)
def test_bpe_options(tmp_path, options):
    check(tmp_path, {"model": bpe(**options)})
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "Removed", "invert": False}
    check(tmp_path, {"model": bpe(**options), "pre_tokenizer": split})


BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
PATTERNS = [{"String": " "}, {"String": "ab"}, {"String": ""}, {"Regex": "\\s+"}, {"Regex": "[aeiou]|\\d"},
            {"Regex": ""}, {"Regex": "(?=b)"}, {"Regex": "\\bt"}, {"Regex": "[^\\s\\p{L}]+"}, {"Regex": "a*"},
            {"Regex": "[[:alpha:]&&[^a-m]]"}, {"Regex": "(?i:AB)|\\W"}, {"Regex": "[\\P{L}\\d]"}]


@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
def test_split(tmp_path, pattern):
    for behavior, invert in itertools.product(BEHAVIORS, (False, True)):
        split = {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}
        check(tmp_path, {"model": bpe(unk_token="<unk>"), "pre_tokenizer": split}, count=60)


CLASSES = ["\\w", "\\W", "[\\w]", "[^\\w]", "\\p{Word}", "\\P{Word}", "[\\p{Word}]", "[[:word:]]", "[[:^word:]]",
           "\\p{Punct}", "[[:punct:]]", "[[:^punct:]]", "[[:graph:]]", "[[:print:]]", "\\p{Graph}", "\\p{Alnum}",
           "[[:alnum:]]", "\\d", "\\s", "\\h", "(?i)\\w", "(?i)[[:upper:]]", "(?i)[[:^lower:]]",
           "(?i)\\p{Lu}", "(?i)\\P{Ll}", "(?i)[\\p{Lu}]", "(?i)[^\\p{Lu}]", "(?i)[^\\P{Lu}]", "(?i:\\ua7cd)|\\p{Lu}",
           "(?i:x-)|[\\p{Lu}]", "x|(?i)[\\p{Lu}]|\\p{Ll}", "((?i)-)[\\p{Lu}]", "(?i:(?-i:[\\p{Lu}])|[\\p{Lt}])", "\\b", "\\B", "(?<=\\w)x", "\\p{^Word}"]


@pytest.mark.parametrize("pattern", CLASSES)
def test_classes(tmp_path, pattern):
    """A class is not everywhere the same: with and without brackets, [:name:] and p{name}."""
    path = tmp_path / "tokenizer.json"
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    path.write_text(json.dumps({"model": {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"},
                                "pre_tokenizer": split}))
    points = {*range(0x800), *range(0x1C80, 0x1C90), *range(0xA7C0, 0xA7E0), *range(0x10D40, 0x10D90),
              *range(0x800, 0x110000, 37)}
    chars = [chr(c) for c in sorted(points) if not 0xD800 <= c < 0xE000]
    texts = ["".join(f"{c}{c}x-{c}" for c in chars[at:at + 40]) for at in range(0, len(chars), 40)]
    compare_encode(path, Tokenizer.from_file(str(path)), texts)


@pytest.mark.parametrize("prefix, trim, regex, special",
                         list(itertools.product((False, True), repeat=4)))
def test_byte_level(tmp_path, prefix, trim, regex, special):
    options = {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": trim, "use_regex": regex}
    document = {"model": bpe(unk_token="<unk>"), "pre_tokenizer": options, "post_processor": options,
                "decoder": options}
    if special:
        document["post_processor"] = {"type": "Sequence", "processors": [options, TEMPLATE]}
    check(tmp_path, document)


TEMPLATE = {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "s", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                       {"SpecialToken": {"id": "e", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"s": {"id": "s", "ids": [3, 4], "tokens": [" a ", "b"]},
                               "e": {"id": "e", "ids": [5], "tokens": ["c"]}}}
TWICE = {**TEMPLATE, "single": TEMPLATE["single"] + [{"Sequence": {"id": "A", "type_id": 0}}]}
MISSING = {**TEMPLATE, "special_tokens": {}}


@pytest.mark.parametrize("post", [TEMPLATE, TWICE, MISSING], ids=["template", "twice", "missing"])
def test_template(tmp_path, post):
    check(tmp_path, {"model": bpe(unk_token="<unk>"), "post_processor": post})


NORMALIZERS = [
    [{"type": "NFC"}], [{"type": "NFD"}], [{"type": "NFKC"}], [{"type": "NFKD"}],
    [{"type": "Prepend", "prepend": "▁"}], [{"type": "Prepend", "prepend": "ab "}],
    [{"type": "Prepend", "prepend": ""}, {"type": "NFD"}],
    [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}],
    [{"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}, {"type": "NFC"}],
    [{"type": "Replace", "pattern": {"Regex": "^"}, "content": "▁"}, {"type": "NFC"}],
    [{"type": "Replace", "pattern": {"String": "ab"}, "content": ""}, {"type": "NFKC"}],
    [{"type": "Replace", "pattern": {"String": "é"}, "content": "eee"}, {"type": "NFD"}],
]
DECODER = {"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}


@pytest.mark.parametrize("parts", NORMALIZERS, ids=str)
def test_normalizers(tmp_path, parts):
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    extra = ["\u1100\u1161\u11a8", "e\u0327\u0301", "\u0301\u0327", "ﬁ", "\u212b", "ａ", "½"]
    normalizer = {"type": "Sequence", "normalizers": parts}
    for pretok in (None, byte_level):
        document = {"model": bpe(unk_token="<unk>"), "normalizer": normalizer, "pre_tokenizer": pretok,
                    "decoder": DECODER}
        check(tmp_path, document, extra)


FLAGS = ["single_word", "lstrip", "rstrip", "normalized", "special"]


@pytest.mark.parametrize("seed", range(int(40 * SCALE) or 1))
def test_added_tokens(tmp_path, seed):
    rng = random.Random(seed)
    contents = ["<x>", "<x", "x>", "ab", "abc", "the", " ", "  ", "▁the", "é", "e\u0301", "X", "", "<unk>", "\n"]
    added = [{"id": 1000 + i, "content": c, **{f: rng.random() < 0.4 for f in FLAGS}}
             for i, c in enumerate(rng.sample(contents, rng.randint(1, 6)))]
    normalizer = rng.choice([None, {"type": "NFD"}, {"type": "Prepend", "prepend": "▁"},
                             {"type": "Replace", "pattern": {"String": "x"}, "content": "X"}])
    document = {"model": bpe(unk_token="<unk>"), "added_tokens": added, "normalizer": normalizer}
    check(tmp_path, document, [t["content"] for t in added] * 3 + ["\u2003", "\t"], seed=seed)


@pytest.mark.parametrize("contents", [["ac", "X", "Y"], ["X", "Y", "ac", "Z"], ["X", "ac", "Y", "ac"]], ids=str)
def test_added_ids_in_holes(tmp_path, contents):
    """New tokens count up from the vocabulary's size, so with holes they can take ids that others have."""
    vocab = {"a": 0, "b": 1, "c": 2, "ab": 4, "bc": 5, "ac": 7}
    flags = {f: False for f in FLAGS}
    added = [{"id": i, "content": c, **flags, "special": c in "aXY"} for i, c in enumerate(contents)]
    check(tmp_path, {"model": {"type": "BPE", "vocab": vocab, "merges": []}, "added_tokens": added},
          ["ab", "ac", "X", "Y", "Z"] * 4, count=20)
    answers = ask(tmp_path / "tokenizer.json", [("i", 0, c.encode()) for c in contents] + [("v", 0, b"")])
    reference = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert answers == [[1, reference.token_to_id(c)] for c in contents] + [[reference.get_vocab_size()]]


@pytest.mark.parametrize("first, second", list(itertools.product((False, True), repeat=2)))
def test_added_twice(tmp_path, first, second):
    flags = {f: False for f in FLAGS}
    added = [{"id": 1000 + i, "content": "ab", **flags, "special": s} for i, s in enumerate((first, second))]
    check(tmp_path, {"model": bpe(unk_token="<unk>"), "added_tokens": added}, ["ab"] * 20, count=40)


def test_shared_ids(tmp_path):
    """Two texts of one id: an entry of the reference's queue that has gone stale may still fit."""
    texts = ["a", "b", "aa", "aaaa", "aaaaa", "aaa", "aaaaaaaa", "baaaa", "baaaaaaaa"]
    vocab = {text: i for i, text in enumerate(texts)}
    vocab["aaa"] = vocab["aaaaaaaa"]
    merges = ["a a", "a aaa", "aa aa", "aaa a", "aaa aa", "aaaa a", "aa aaa", "a aaaa", "a aa",
              "aa a", "aaa aaaaa", "aaaaa aaa", "aaaa aaaa", "b aaaa", "b aaaaaaaa", "baaaa aaaa"]
    path = tmp_path / "t.json"
    path.write_text(json.dumps({
        "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None,
        "decoder": None, "model": {"type": "BPE", "vocab": vocab, "merges": merges}}))
    texts = [head + "a" * n for head in ("", "b") for n in range(1, 130)]
    compare_encode(path, Tokenizer.from_file(str(path)), texts)


def test_sparse_ids(tmp_path):
    """One id far off must not cost memory for all below it."""
    path = tmp_path / "tokenizer.json"
    vocab = {"a": 0, "b": 1, "ab": (1 << 28) - 1}
    path.write_text(json.dumps({"model": {"type": "BPE", "vocab": vocab, "merges": ["a b"]}}))
    assert ask(path, [("e", 0, b"aab")]) == [([0, (1 << 28) - 1], [(0, 1), (1, 3)])]
    # A process counts what its parent held when it was made, so a small one makes it.
    peak = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL,"
            " check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", peak, TOOL, path], capture_output=True, check=True)
    assert int(done.stdout) < 1 << 20  # KiB


DECODERS = [
    {"type": "Fuse"}, {"type": "ByteFallback"}, DECODER,
    {"type": "Strip", "content": "a", "start": 2, "stop": 1}, {"type": "Strip", "content": "▁", "start": 1, "stop": 0},
    {"type": "Replace", "pattern": {"Regex": "[a-d]+"}, "content": "<>"},
    {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteLevel", "add_prefix_space": False,
                                                         "trim_offsets": False, "use_regex": False}]},
    {"type": "WordPiece", "prefix": "a", "cleanup": True}, {"type": "WordPiece", "prefix": "", "cleanup": False},
    {"type": "BPEDecoder", "suffix": "b"}, {"type": "CTC", "pad_token": "a", "word_delimiter_token": "-",
                                            "cleanup": True},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "Metaspace", "replacement": "a", "prepend_scheme": "never", "split": True},
    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
    {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Replace", "pattern": {"Regex": ".$"},
                                                        "content": "?"}]},
    {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Strip", "content": "a", "start": 0, "stop": 1}]},
]


@pytest.mark.parametrize("decoder", DECODERS, ids=str)
def test_decoders(tmp_path, decoder):
    check(tmp_path, {"model": bpe(byte_fallback="all"), "decoder": decoder}, count=20)


# ---- truncation and padding ----

TRUNCATION = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
PADDING = {"strategy": {"Fixed": 7}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 5,
           "pad_type_id": 0, "pad_token": "<pad>"}
POSTS = [None, TEMPLATE, TWICE, {"type": "BertProcessing", "sep": ["a", 1], "cls": ["b", 2]},
         {"type": "RobertaProcessing", "sep": ["a", 1], "cls": ["b", 2], "trim_offsets": True,
          "add_prefix_space": True},
         {"type": "Sequence", "processors": [
             {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
             TEMPLATE]}]


def check_limits(tmp_path, truncation, padding, posts=POSTS):
    for post in posts:
        check(tmp_path, {"model": bpe(unk_token="<unk>"), "post_processor": post,
                         "truncation": truncation, "padding": padding}, count=12)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 6, 2**63, 2**64 - 1])
def test_truncation(tmp_path, length):
    for stride, direction in itertools.product((0, 1, 2), ("Right", "Left")):
        check_limits(tmp_path, {**TRUNCATION, "max_length": length, "stride": stride,
                                "direction": direction}, None)


@pytest.mark.parametrize("strategy", ["OnlyFirst", "OnlySecond", {"OnlySecond": None}], ids=str)
def test_truncation_strategy(tmp_path, strategy):
    check_limits(tmp_path, {**TRUNCATION, "strategy": strategy}, None)


@pytest.mark.parametrize("strategy", ["BatchLongest", {"BatchLongest": None}, {"Fixed": 0}, {"Fixed": 9}],
                         ids=str)
def test_padding(tmp_path, strategy):
    for multiple, direction in itertools.product((None, 0, 1, 4), ("Right", "Left")):
        padding = {**PADDING, "strategy": strategy, "pad_to_multiple_of": multiple, "direction": direction}
        check_limits(tmp_path, None, padding, POSTS[:2])
        check_limits(tmp_path, {**TRUNCATION, "direction": direction}, padding, POSTS[1:])


def test_limits_with_fast_words(model_dir, tmp_path):
    document = json.loads((model_dir("qwen3") / "tokenizer.json").read_text())
    path = tmp_path / "tokenizer.json"
    for truncation, padding in ((TRUNCATION, None), ({**TRUNCATION, "direction": "Left"}, PADDING),
                                (None, {**PADDING, "direction": "Left"})):
        path.write_text(json.dumps({**document, "truncation": truncation, "padding": padding}))
        reference = Tokenizer.from_file(str(path))
        texts = random_texts(reference, 100, 5)
        compare_encode(path, reference, texts)
        compare_batch(path, reference, texts, ADD_SPECIAL)


ODD_LIMITS = [
    {"truncation": value} for value in (
        False, "x", {}, *({k: v for k, v in TRUNCATION.items() if k != key} for key in TRUNCATION),
        *({**TRUNCATION, "max_length": v} for v in (-1, 2.0, None, 2**64, "2")),
        *({**TRUNCATION, "direction": v} for v in ("left", None, {"Left": None}, {"Left": 1})),
        {**TRUNCATION, "strategy": "longest_first"}, {**TRUNCATION, "other": 1})
] + [
    {"padding": value} for value in (
        False, {}, *({k: v for k, v in PADDING.items() if k != key} for key in PADDING),
        *({**PADDING, "strategy": v} for v in ({}, "Fixed", {"Fixed": "3"}, {"Fixed": 3, "BatchLongest": None},
                                                {"Fixed": None}, {"BatchLongest": 1}, None)),
        *({**PADDING, "pad_id": v} for v in (-1, 2**32, 99)), {**PADDING, "pad_token": None},
        {**PADDING, "pad_type_id": -3}, {**PADDING, "pad_to_multiple_of": 2.0},
        {**PADDING, "direction": "left"}, {**PADDING, "direction": {"Left": None}})
]


@pytest.mark.parametrize("limits", ODD_LIMITS, ids=str)
def test_odd_limits(tmp_path, limits):
    check(tmp_path, {"version": "1.0", "model": bpe(unk_token="<unk>"), **limits}, count=10)


REFUSED = [
    {}, {"model": None}, {"model": {"type": "BPE"}}, {"model": {"type": "BPE", "vocab": {}, "merges": ["a"]}},
    {"version": "2.0", "model": bpe()}, {"model": {**bpe(), "merges": ["a b", ["a", "b"]]}},
    {"model": bpe(), "normalizer": {"type": "What"}}, {"model": bpe(), "pre_tokenizer": {"type": "NFC"}},
    {"model": {**bpe(), "merges": [["a", "zz"]]}},
    {"model": bpe(), "added_tokens": [{"id": 1, "content": "x"}]},
    {"model": bpe(), "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated",
                                       "invert": False}},
]


@pytest.mark.parametrize("document", REFUSED, ids=lambda d: str(d)[:60])
def test_refused_by_both(tmp_path, document):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    with pytest.raises(Exception):
        Tokenizer.from_file(str(path))
    assert isinstance(ask(path, [("v", 0, b"")])[0], Error)
