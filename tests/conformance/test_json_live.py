"""JSON, floats and big integers, compared with CPython itself through build/tests/tools/json_tool."""
import json
import math
import os
import random
import struct
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("TD_BUILD", "build") / "tests" / "tools" / "json_tool"
SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} is not built")


def ask(cases):
    """Runs [(op, bytes)] through the tool; a list of (good, bytes)."""
    data = b"".join(op.encode() + struct.pack("<I", len(arg)) + arg for op, arg in cases)
    run = subprocess.run([TOOL], input=data, stdout=subprocess.PIPE, check=True)
    answers, at, out = [], 0, run.stdout
    while at < len(out):
        (n,) = struct.unpack_from("<I", out, at + 1)
        answers.append((out[at : at + 1] == b"+", out[at + 5 : at + 5 + n]))
        at += 5 + n
    assert len(answers) == len(cases)
    return answers


def utf8(text):
    return text.encode("utf-8", "surrogatepass")


# ---- documents ----

TEXT_PARTS = [
    "a", "hello world, this is a longer run of plain text without anything special in it ",
    "é", "日本語", "\U0001f600", "\x7f", "\u2028", "/", "\u0080", "\ud800", "\udc00", "\udbff",
    '"', "\\", "\n", "\r", "\t", "\b", "\f", "\x00", "\x1f", "\x0b", "</think>", "\u00ff",
]  # fmt: skip
ESCAPES = [
    '\\"', "\\\\", "\\/", "\\n", "\\r", "\\t", "\\b", "\\f", "\\u0041", "\\u00e9", "\\u00E9", "\\u4e2d",
    "\\ud83d\\ude00", "\\uD83D\\uDE00", "\\ud83d", "\\ude00", "\\ud83d\\ud83d", "\\ud83d\\n", "\\u0000",
    "\\u001f", "\\u001F", "\\u000a", "\\u000b", "\\u0022", "\\u005c", "\\ud83dx", "\\ude00\\ud83d", "\\u007f",
]  # fmt: skip
BAD_ESCAPES = ["\\x", "\\u12", "\\u12g4", "\\uD83D\\u12g4", "\\ud83d\\u1", "\\", "\\u", "\\u+123", "\\é"]
NUMBERS = [
    "0", "-0", "-0.0", "1", "-1", "1.0", "1e5", "1E+5", "1e-7", "1.5e300", "1e999", "-1e999", "1e-999",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551616", "123456789012345678", "1234567890123456789", "1" * 40, "1.7976931348623157e308",
    "1.7976931348623159e308", "5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "0.1", "1e16",
    "1e15", "1e22", "1e23", "123456789.123456789123456789", "NaN", "Infinity", "-Infinity", "0e5", "0.0e-5",
    "1e00000000000000000000001", "1e99999999999999999999", "1e-99999999999999999999", "0e99999999999999",
]  # fmt: skip
BAD_NUMBERS = [
    "01", "-", "+1", "1.", "1.e5", ".5", "1e", "1e+", "--1", "-a", "1.5.5", "0x10", "1_000", "nan", "inf", "-NaN",
    "Infinit", "-Infinit", "nul", "tru", "falsy", "Nan", "1e5.5", "٣", "-I",
]  # fmt: skip
SPACE = ["", "", "", " ", "\n", "\t", "\r\n", "  ", " \n\t "]
BAD_SPACE = ["\x0b", "\x0c", "\u00a0", "\ufeff", "\x00", "#", "//"]


class Maker:
    def __init__(self, seed, bad):
        self.r = random.Random(seed)
        self.bad = bad  # how likely a place is spoiled

    def spoil(self):
        return self.r.random() < self.bad

    def space(self):
        return self.r.choice(BAD_SPACE if self.spoil() else SPACE)

    def string(self):
        r, parts = self.r, []
        for _ in range(r.choice([0, 1, 1, 2, 3, 5, 12])):
            kind = r.random()
            if self.spoil():
                parts.append(r.choice(BAD_ESCAPES + ["\n", "\x00", "\x1f", '"']))
            elif kind < 0.5:
                text = r.choice(TEXT_PARTS) * r.choice([1, 1, 2, 20])
                # raw surrogates are not UTF-8: they come in as escapes only
                keep = [c for c in text if c >= " " and c not in '"\\' and not 0xD800 <= ord(c) < 0xE000]
                parts.append("".join(keep))
            elif kind < 0.6:
                parts.append("x" * r.randrange(130))
            else:
                parts.append(r.choice(ESCAPES))
        return '"' + "".join(parts) + ('"' if not self.spoil() else r.choice(["", "'"]))

    def number(self):
        r = self.r
        if self.spoil():
            return r.choice(BAD_NUMBERS)
        kind = r.random()
        if kind < 0.4:
            return r.choice(NUMBERS)
        if kind < 0.7:
            return str(r.randrange(-(10 ** r.randrange(1, 40)), 10 ** r.randrange(1, 40)))
        return repr(struct.unpack("<d", r.randbytes(8))[0]).replace("nan", "NaN").replace("inf", "Infinity")

    def value(self, depth):
        r = self.r
        kind = r.random()
        if depth <= 0 or kind < 0.45:
            return r.choice([self.string, self.string, self.number, lambda: r.choice(["true", "false", "null"])])()
        items = []
        is_dict = kind < 0.75
        for i in range(r.choice([0, 1, 2, 3, 5, 9, 14])):
            if i:
                items.append("" if self.spoil() else ",")
                if self.spoil():
                    items.append(",")
            items.append(self.space())
            if is_dict:
                key = f'"k{r.randrange(12)}"' if r.random() < 0.7 else self.string()
                items.append(key if not self.spoil() else r.choice(["k", "1", "'k'", ""]))
                items += [self.space(), ":" if not self.spoil() else r.choice(["", "=", "::"]), self.space()]
            items += [self.value(depth - 1), self.space()]
        left, right = ("{", "}") if is_dict else ("[", "]")
        if self.spoil():
            right = r.choice(["", "]", "}", ",]", ",}"])
        return left + "".join(items or [self.space()]) + right

    def document(self):
        text = self.space() + self.value(self.r.choice([0, 1, 2, 3])) + self.space()
        if self.spoil():
            text = text[: self.r.randrange(len(text) + 1)]
        if self.spoil():
            text += self.r.choice(["x", "1", "{}", '"', ","])
        return text


def expected(text, **style):
    """What CPython makes of text: (True, bytes) or (False, byte position, line, column)."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as e:
        return False, len(utf8(text[: e.pos])), e.lineno, e.colno
    return True, utf8(json.dumps(value, **style))


STYLES = {
    "r": {"ensure_ascii": False},
    "c": {"ensure_ascii": False},
    "a": {"ensure_ascii": True},
    "s": {"ensure_ascii": False, "sort_keys": True, "indent": 2},
}


def check_documents(texts):
    refused = 0
    for op, style in STYLES.items():
        for text, (good, got) in zip(texts, ask([(op, utf8(t)) for t in texts])):
            want = expected(text, **style)
            if not want[0]:
                kind, offset, line, column = got.decode().split(" ")[:4]
                assert not good, (text, got)
                assert (kind, int(offset), int(line), int(column)) == ("input", *want[1:]), (text, got, want)
                refused += 1
            else:
                assert good and got == want[1], (op, text, got, want)
    return refused


@pytest.mark.parametrize("bad", [0.0, 0.02, 0.1])
def test_documents(bad):
    n = int(4000 * SCALE)
    refused = check_documents([Maker(f"{bad}-{i}", bad).document() for i in range(n)])
    assert (refused == 0) == (bad == 0.0)


def test_cut_documents():
    """Every prefix of documents that have everything in them."""
    text = ' {"a\\u00e9\\n": [1, -2.5e+3, true, null, NaN, -Infinity, {"x": "\\ud83d\\ude00é😀"}], "": ""} '
    long = '["' + 'some text with \\"escapes\\" and \\\\ more \\n' * 6 + '", {"k": "' + "é" * 70 + '"}]'
    check_documents([doc[:i] for doc in (text, long) for i in range(len(doc) + 1)])


def test_string_lengths():
    """Each special byte at each distance from the start, the end and the block borders."""
    texts = []
    for n in range(0, 150):
        for part in ["", "\\n", "\\u0041", "\\ud83d\\ude00", "é", "\\/", "\x01", "\\x"]:
            texts.append('["' + "a" * n + part + '"]')
            texts.append('"' + "b" * (149 - n) + part + "c" * n + '"')
    check_documents(texts)


def test_scalars():
    check_documents(NUMBERS + BAD_NUMBERS + ["", " ", "\ufeff1", "[\ufeff]", "1 2", "[1,]", '{"a":1,}', "[1 2]", "]", "{]"])


def test_long_integers():
    for n, fine in [(4299, True), (4300, True), (4301, False)]:
        for sign in ("", "-"):
            text = sign + "7" * n
            ((good, got),) = ask([("r", text.encode())])
            assert good == fine
            if fine:
                assert got == text.encode()
            else:
                assert got.startswith(b"input 0 ")
                with pytest.raises(ValueError):
                    json.loads(text)


def test_nesting():
    for left, right, middle in [("[", "]", ""), ('{"a":', "}", "1"), ('[{"a":', "}]", "null")]:
        levels = 1 if left != '[{"a":' else 2
        for depth in (1, 10, 999, 1000):
            text = left * (depth // levels) + middle + right * (depth // levels)
            assert ask([("r", text.encode())])[0][0], depth
        text = left * (1000 // levels) + left + middle + right + right * (1000 // levels)
        good, got = ask([("r", text.encode())])[0]
        assert not good and got.startswith(b"limit ")
    good, got = ask([("r", b"[" * 1_000_000)])[0]
    assert not good and got.startswith(b"limit 1000 ")


def test_invalid_utf8():
    pieces = [b"a", "é".encode(), "日".encode(), "😀".encode(), b"\\n", b"\\u0041", b"x" * 40]
    bad = [b"\x80", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe6\x97", b"\xf0\x9f\x98", b"\xff"]
    r = random.Random(7)
    cases = []
    for _ in range(3000):
        parts = [r.choice(pieces) for _ in range(r.randrange(6))]
        parts.insert(r.randrange(len(parts) + 1), r.choice(bad))
        text = b'{"k": "' + b"".join(parts) + b'"}'
        if r.random() < 0.2:
            text = text.replace(b'"k"', b"k")  # the text must be UTF-8 before it can be wrong
        cases.append(text)
    cases += [b + b"1" for b in bad] + [b"1" + b for b in bad]
    for text, (good, got) in zip(cases, ask([("r", c) for c in cases])):
        with pytest.raises(UnicodeDecodeError) as e:
            text.decode("utf-8")
        assert not good and got.startswith(b"input %d " % e.value.start), (text, got)


# ---- str() and repr() ----


def test_repr_of_documents():
    texts = [Maker(f"repr-{i}", 0.0).document() for i in range(int(4000 * SCALE))]
    for op, function in (("R", repr), ("S", str)):
        for text, (good, got) in zip(texts, ask([(op, utf8(t)) for t in texts])):
            assert good and got == utf8(function(json.loads(text))), text


def test_repr_of_every_character():
    """repr's escapes and isprintable(), at each code point of Unicode, in runs of 64."""
    runs = ["".join(map(chr, range(c, c + 64))) for c in range(0, 0x110000, 64)]
    # Two surrogates side by side would read as one character.
    runs = [r for r in runs if not "\ud800" <= r[0] <= "\udfff"] + [chr(c) for c in range(0xD800, 0xE000)]
    for run, (_, got) in zip(runs, ask([("R", json.dumps(run).encode()) for run in runs])):
        assert got == utf8(repr(run)), hex(ord(run[0]))


def test_repr_quotes():
    texts = ["", "'", '"', "'\"", "\\", "it's", 'say "hi"', "it's \"both\"", "\\'", "\n'\t\"\r"]
    for text, (good, got) in zip(texts, ask([("R", json.dumps(t).encode()) for t in texts])):
        assert good and got == utf8(repr(text))


# ---- numbers ----


def doubles(seed, n):
    r = random.Random(seed)
    for _ in range(n):
        kind = r.random()
        if kind < 0.5:
            yield struct.unpack("<d", r.randbytes(8))[0]
        elif kind < 0.6:  # subnormal
            yield struct.unpack("<d", struct.pack("<Q", r.getrandbits(52) >> r.randrange(52)))[0]
        elif kind < 0.7:  # around powers of two
            yield math.nextafter(math.ldexp(1.0, r.randrange(-1074, 1024)), r.choice([-math.inf, 0.0, 1.0, math.inf]))
        elif kind < 0.8:
            yield r.randrange(10 ** r.randrange(1, 20)) / 10 ** r.randrange(0, 12)
        elif kind < 0.9:
            yield float(r.randrange(10 ** r.randrange(1, 25)))
        else:
            yield r.randrange(1, 1000) * 10.0 ** r.randrange(-30, 30)


SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 2.2250738585072014e-308, 2.225073858507201e-308,
           1.7976931348623157e308, 1e16, 9999999999999998.0, 1e-4, 1e-5, 9007199254740993.0, 1e22, 1e23]  # fmt: skip


def test_float_repr_and_parse():
    values = SPECIAL + [math.ldexp(1.0, e) for e in range(-1074, 1024)] + list(doubles(1, int(250_000 * SCALE)))
    texts = ask([("f", struct.pack("<d", d)) for d in values])
    for d, (_, got) in zip(values, texts):
        assert got.decode() == repr(d)
    finite = [d for d in values if math.isfinite(d)]
    for d, (good, got) in zip(finite, ask([("p", repr(d).encode()) for d in finite])):
        assert good and got == struct.pack("<d", d), repr(d)


def exact_decimal(x, digits):
    """The fraction x > 0 rounded down to so many significant digits, and whether that is exact."""
    e = 0
    n = x
    while n >= 10**digits:
        n /= 10
        e += 1
    while n < 10 ** (digits - 1):
        n *= 10
        e -= 1
    return int(n), e, n.denominator == 1


def test_float_parse_near_midpoints():
    """Texts at, just below and just above the middle of two doubles, short and long."""
    texts = []
    for d in doubles(2, int(3000 * SCALE)):
        d = abs(d)
        if not math.isfinite(d) or math.isinf(math.nextafter(d, math.inf)):
            continue
        middle = (Fraction(d) + Fraction(math.nextafter(d, math.inf))) / 2
        for digits in (17, 18, 19, 20, 30, 100, 800):
            n, e, _ = exact_decimal(middle, digits)
            texts += [f"{n}e{e}", f"{n + 1}e{e}"]
        n, e, exact = exact_decimal(middle, 780)
        if exact:
            texts += [f"{n}e{e}", f"{n}{'0' * 100}1e{e - 101}", f"{n - 1}{'9' * 100}e{e - 100}"]
    texts += ["1" + "0" * 400, "0." + "0" * 400 + "1", "0" * 1000 + "1.5", "1" * 5000, "." + "9" * 1000,
              "00000e500", "0.000e-500", "1e308", "1e309", "179769313486231580793e288", "+5", "-5.", "5.e1", "-.5e1"]  # fmt: skip
    for text, (good, got) in zip(texts, ask([("p", t.encode()) for t in texts])):
        assert good and got == struct.pack("<d", float(text)), text


def test_float_parse_refuses():
    bad = ["", "+", "-", ".", "e5", ".e5", "1e", "1e+", "1e+-5", "1.5.5", " 1", "1 ", "1_0", "0x1", "inf", "nan", "--1"]
    assert not any(good for good, _ in ask([("p", t.encode()) for t in bad]))


def test_float_print():
    r = random.Random(3)
    values = SPECIAL[:4] + SPECIAL[5:] + list(doubles(4, int(20_000 * SCALE)))
    values += [0.5, 1.5, 2.5, 0.25, 0.05, 9.5, 99.5, 0.95, 9.995, 999999.5, 1e-10, 0.049999999999999996, 5e-7]
    values = [d for d in values if not math.isnan(d)]
    cases = [(r.choice("eF"), r.choice([0, 1, 2, 3, 6, 10, 16, 17, 20, 60, 350, 1100]), d) for d in values]
    answers = ask([(op, struct.pack("<Id", p, d)) for op, p, d in cases])
    for (op, precision, d), (good, got) in zip(cases, answers):
        assert good and got.decode() == f"%.{precision}{'e' if op == 'e' else 'f'}" % d, (precision, d)


def integers(r, bits):
    edge = [0, 1, 2**31, 2**32, 2**63, 2**64, 2**96, 10**18, 10**19]
    n = r.choice(edge) + r.randrange(-2, 3) if r.random() < 0.3 else r.getrandbits(r.randrange(1, bits))
    if r.random() < 0.1:
        n = (2 ** r.randrange(1, bits) - 1) << r.randrange(40)  # long runs of ones: carries
    return n if r.random() < 0.5 else -n


def test_big_integers():
    r = random.Random(5)
    cases = []
    for _ in range(int(20_000 * SCALE)):
        x, y = integers(r, 700), integers(r, r.choice([40, 300, 700]))
        op = r.choice("+-**//")
        if op == "/" and y == 0:
            continue
        cases.append((op, x, y))
    for _ in range(300):
        cases.append(("^", integers(r, r.choice([4, 40, 80])), r.randrange(0, 60)))
    answers = ask([(op, f"{x} {y}".encode()) for op, x, y in cases])
    for (op, x, y), (good, got) in zip(cases, answers):
        if op == "/":
            want = "%d %d" % divmod(x, y)
        else:
            want = str({"+": x + y, "-": x - y, "*": x * y}[op] if op != "^" else x**y)
        assert good and got.decode() == want, (op, x, y)


def test_big_integer_limits():
    for case, fine in [("2 262143", True), ("2 262144", False), ("2 99999999999", False), ("1 99999999999999999999", True),
                       ("-1 99999999999999999999", True), ("0 99999999999999999999", True), ("3 4000000000", False)]:  # fmt: skip
        assert ask([("^", case.encode())])[0][0] == fine, case


def test_big_integer_and_float():
    r = random.Random(6)
    cases = []
    for _ in range(int(20_000 * SCALE)):
        n = r.getrandbits(r.randrange(65, 1100)) | 1 << 64
        n = n if r.random() < 0.5 else -n
        if r.random() < 0.5:  # halves, to round
            n = n >> 1 << 1 if r.random() < 0.5 else (n >> 60 << 60) + r.randrange(-1, 2)
        if abs(n) < 2**64:
            continue
        try:
            near = float(n)
        except OverflowError:
            near = math.inf if n > 0 else -math.inf
        d = r.choice([near, math.nextafter(near, math.inf), math.nextafter(near, -math.inf), 1.5, math.inf, math.nan])
        cases.append((n, d, near))
    answers = ask([("=", struct.pack("<d", d) + str(n).encode()) for n, d, _ in cases])
    for (n, d, near), (good, got) in zip(cases, answers):
        order = 2 if math.isnan(d) else (n > d) - (n < d)
        assert good and got.decode() == f"{order} {near!r}", (n, d)
