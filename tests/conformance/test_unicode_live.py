"""src/unicode against the references it stands for, over every code point and random texts."""

import os
import random
import struct
import subprocess
import sys
import unicodedata

import pytest

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import normalizers  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tools"))
import gen_names  # noqa: E402
import gen_unicode  # noqa: E402
import reference  # noqa: E402

TOOL = os.path.join(ROOT, os.environ.get("TD_BUILD", "build"), "tests", "tools", "unicode_tool")
FORMS = ["NFC", "NFD", "NFKC", "NFKD"]
METHODS = ["upper", "lower", "title", "capitalize", "swapcase", "casefold", "strip", "lstrip",
           "rstrip"]

pytestmark = pytest.mark.skipif(not os.path.exists(TOOL), reason="unicode_tool is not built")
exact_python = pytest.mark.skipif(
    unicodedata.unidata_version != gen_unicode.PYTHON_UNICODE, reason="another CPython")
exact_tokenizers = pytest.mark.skipif(
    tokenizers.__version__ != gen_unicode.TOKENIZERS, reason="another tokenizers")


def tool(command, stdin=b""):
    return subprocess.run([TOOL, command], input=stdin, stdout=subprocess.PIPE, check=True).stdout


def mapped(command, texts):
    """What the tool makes of each text."""
    stdin = []
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        stdin.append(struct.pack("<I", len(data)) + data)
    out, at, found = tool(command, b"".join(stdin)), 0, []
    while at < len(out):
        n, = struct.unpack_from("<I", out, at)
        found.append(out[at + 4:at + 4 + n].decode("utf-8", "surrogatepass"))
        at += 4 + n
    assert len(found) == len(texts)
    return found


def assert_same(found, wanted, texts):
    for text, a, b in zip(texts, found, wanted):
        assert a == b, ascii(text[:200])


def python_line(c):
    s = chr(c)
    flags = "".join("01"[f] for f in gen_unicode.py_flags(c))
    maps = ("+".join("%X" % ord(x) for x in text)
            for text in (s.upper(), s.lower(), s.title(), s.casefold()))
    return "%s %d %s" % (flags, unicodedata.decimal(s, -1), " ".join(maps))


@exact_python
def test_every_code_point_is_what_python_says():
    lines = tool("py").decode().splitlines()
    assert len(lines) == 0x110000
    for c, line in enumerate(lines):
        assert line == python_line(c), hex(c)


def random_texts(seed, count, longest, pools, surrogates=False):
    r = random.Random(seed)
    out = []
    for _ in range(count):
        text = []
        for _ in range(r.randrange(longest)):
            pool = r.choice(pools)
            c = r.choice(pool) if pool else r.randrange(0x110000)
            if surrogates or not 0xD800 <= c < 0xE000:
                text.append(chr(c))
        out.append("".join(text))
    return out


def interesting_to_case():
    sigma = [0x3A3, 0x3C3, 0x3C2]
    ignorable = [c for c in range(0x110000) if gen_unicode.py_flags(c)[13]]
    changing = [c for c in range(0x110000) if chr(c).swapcase() != chr(c)
                or chr(c).title() != chr(c) or chr(c).casefold() != chr(c)]
    spaces = [c for c in range(0x110000) if chr(c).isspace()]
    return [sigma, sigma, ignorable, changing, changing, list(range(0x20, 0x7F)), spaces,
            [0x20, 0x41, 0x61, 0x27], [0xD800, 0xDFFF], []]


@exact_python
def test_string_methods_on_random_texts():
    texts = ["", "\u03a3", "A\u03a3", "\u1d2c\u03a3\u0301 a", "\u0130\u03a3\u0130", "o\u2019neill's",
             "\u01c6\u01c5\u01c4", "\ufb01\ufb03\xdf\u1e9e"]
    texts += random_texts(1, 20000, 24, interesting_to_case(), surrogates=True)
    for method in METHODS:
        assert_same(mapped(method, texts), [getattr(t, method)() for t in texts], texts)


@exact_python
def test_string_methods_on_every_code_point_in_context():
    texts = [form % chr(c) for c in range(0x110000) for form in ("%s", "a\u03a3%sa")]
    for method in METHODS:
        assert_same(mapped(method, texts), [getattr(t, method)() for t in texts], texts)


@exact_tokenizers
def test_every_class_the_reference_knows():
    names = reference.property_names()
    assert len(names) > 800
    names += ["[:%s:]" % n for n in gen_unicode.POSIX] + ["\\" + n for n in gen_unicode.ESCAPES]
    names = [n for n in names if not n.startswith("in")] + [n for n in names if n[:2] == "in"][::9]
    lines = tool("class", "\n".join(names).encode()).decode().splitlines()
    for name, line in zip(names, lines, strict=True):
        if line == "none" and name.startswith("[:"):
            line = tool("class", name.strip("[:]").encode()).decode().strip()
        found = [tuple(int(x, 16) for x in r.split("-")) for r in line.split()]
        inside = name if name[0] in "[\\" else "\\p{%s}" % name
        assert found == reference.regex_class(inside), name


@exact_tokenizers
def test_class_names_are_matched_loosely():
    for name in ["White_Space", "white-space", "WHITE SPACE", "L u", "_L", "Old-Italic", "lu "]:
        tokenizers.Regex("\\p{%s}" % name)
        assert tool("class", name.encode()).strip() != b"none", name
    for name in ["", "Nope", "L\u00fc", "Lu" * 60]:
        with pytest.raises(Exception):
            tokenizers.Regex("\\p{%s}" % name)
        assert tool("class", name.encode() + b"\n").strip() == b"none", name


@exact_tokenizers
def test_class_bits():
    bits = tool("bits")
    assert len(bits) == 0x110000
    for i, inside in enumerate(gen_unicode.RE_BITS):
        mine = reference.to_ranges(c for c in reference.SCALARS if bits[c] >> i & 1)
        assert mine == reference.regex_class(inside), inside


@exact_tokenizers
@pytest.mark.parametrize("form", FORMS)
def test_every_scalar_is_normalized_as_the_reference_does(form):
    marks = ["", "\u0301", "\u0334\u0345", "\u0316\u11a8"]
    for before, behind in [("", m) for m in marks] + [("a\u0345", ""), ("\uac00", ""), ("\u1100", "")]:
        texts = [before + chr(c) + behind for c in reference.SCALARS if c != 1]
        found = mapped(form, ["\x01".join(texts)])[0].split("\x01")
        assert_same(found, reference.normalize_each(form, texts), texts)


def interesting_to_normalize():
    changing = [c for c in reference.SCALARS if unicodedata.normalize("NFKD", chr(c)) != chr(c)
                and not 0xAC00 <= c < 0xD7A4]
    parts = sorted({ord(x) for c in changing for x in unicodedata.normalize("NFD", chr(c))})
    marks = [c for c in reference.SCALARS if unicodedata.combining(chr(c))]
    return [changing, parts, parts, marks, marks, marks, list(range(0x1100, 0x1200)),
            [0x1100, 0x1161, 0x11A7, 0x11A8, 0xAC00, 0xAC01, 0xAC1C], list(range(0xAC00, 0xD7A4)),
            [0x61, 0x41, 0x20, 0x3C], list(range(0x4E00, 0x5000)), []]


@exact_tokenizers
@pytest.mark.parametrize("form", FORMS)
def test_random_texts_are_normalized_as_the_reference_does(form):
    texts = random_texts(2, 20000, 20, interesting_to_normalize())
    texts += random_texts(3, 300, 2000, interesting_to_normalize())
    reference_form = getattr(normalizers, form)()
    wanted = [reference_form.normalize_str(t) for t in texts]
    assert_same(mapped(form, texts), wanted, texts)
    # The quick check may hesitate but must not lie, and knows its own output.
    for text, want, quick in zip(texts, wanted, mapped("?" + form, texts)):
        assert quick == "0" or text == want, ascii(text)
    if form in ("NFD", "NFKD"):
        assert set(mapped("?" + form, wanted)) == {"1"}


@exact_tokenizers
@pytest.mark.parametrize("form", FORMS)
def test_a_megabyte_of_marks(form):
    r = random.Random(4)
    marks = [chr(c) for c in reference.SCALARS if unicodedata.combining(chr(c))]
    text = "e" + "".join(r.choice(marks) for _ in range(400000))
    assert mapped(form, [text])[0] == getattr(normalizers, form)().normalize_str(text)


@exact_tokenizers
def test_no_pair_composes_that_should_not():
    decomposed = [unicodedata.normalize("NFD", chr(c)) for c in reference.SCALARS
                  if not 0xAC00 <= c < 0xD7A4]
    firsts = sorted({d[0] for d in decomposed if len(d) > 1} | {"\u1100", "\u1112", "\uac00"})
    seconds = sorted({x for d in decomposed if len(d) > 1 for x in d[1:]}
                     | {"\u1160", "\u1161", "\u1175", "\u1176", "\u11a7", "\u11a8", "\u11c2", "\u11c3"})
    composites = [chr(c) for c in reference.SCALARS if 0xAC00 > c or c > 0xD7A3
                  if unicodedata.normalize("NFD", chr(c)) != chr(c)]
    texts = [a + b for a in firsts + composites for b in seconds]
    found = mapped("NFC", ["\x01".join(texts)])[0].split("\x01")
    assert_same(found, reference.normalize_each("NFC", texts), texts)


@pytest.fixture(scope="module")
def tk_lines():
    lines = [line.split() for line in tool("tk").decode().splitlines()]
    assert len(lines) == 0x110000
    return lines


@exact_tokenizers
def test_what_components_ask_of_every_scalar(tk_lines):
    for i, wanted in enumerate(gen_unicode.tk_sets()):
        found = {c for c in range(0x110000) if tk_lines[c][0][i] == "1"}
        assert found == wanted, gen_unicode.TK_FLAGS[i]


@exact_tokenizers
def test_lower_case_of_every_scalar(tk_lines):
    for normalizer in (normalizers.Lowercase(), reference.bert(lowercase=True)):
        for c, text in reference.normalized_scalars(normalizer).items():
            assert tk_lines[c][1] == "+".join("%X" % ord(x) for x in text), hex(c)


@exact_tokenizers
def test_scripts_of_every_scalar(tk_lines):
    names = set()
    for i, members in enumerate(reference.scripts()):
        name, = {tk_lines[c][2] for c in members}
        assert (name == "Any") == (i == 0)
        assert name not in names
        names.add(name)
    assert tk_lines[0x3042][2] == tk_lines[0x30A2][2] == tk_lines[0x30FC][2] == "Han"


@exact_tokenizers
def test_added_tokens_and_strip_ask_the_same_questions(tk_lines):
    """Words and white space are asked for in places with no component of their own, too."""
    r = random.Random(6)
    kinds = [(line[0][0], line[0][8]) for line in tk_lines]
    edges = {c + i for c in range(0x10FFFF) if kinds[c] != kinds[c + 1] for i in (0, 1)}
    edges |= {r.randrange(0x110000) for _ in range(2000)}
    scalars = [c for c in sorted(edges) if chr(c) not in "tokx" and not 0xD800 <= c < 0xE000]
    model = tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]")

    def spans_of_token(texts, **options):
        tokenizer = tokenizers.Tokenizer(model)
        tokenizer.add_tokens([tokenizers.AddedToken("tok", normalized=False, **options)])
        found = []
        for start in range(0, len(texts), 4096):
            for coded in tokenizer.encode_batch(texts[start:start + 4096]):
                found.append(next((o for i, o in zip(coded.ids, coded.offsets) if i == 1), None))
        return found

    for form in ("%ctok", "tok%c"):
        spans = spans_of_token([form % c for c in scalars], single_word=True)
        for c, span in zip(scalars, spans, strict=True):
            assert (span is None) == (tk_lines[c][0][8] == "1"), hex(c)
    for form, options in (("x%ctok", {"lstrip": True}), ("tok%cx", {"rstrip": True})):
        spans = spans_of_token([form % c for c in scalars], **options)
        for c, (first, end) in zip(scalars, spans, strict=True):
            assert (end - first == 4) == (tk_lines[c][0][0] == "1"), hex(c)
    strip = normalizers.Strip()
    for c in scalars:
        text = "x%c" % c
        assert (strip.normalize_str(text) == "x") == (tk_lines[c][0][0] == "1"), hex(c)


@pytest.fixture(scope="module")
def variants():
    return reference.case_variants()


@exact_tokenizers
def test_case_variants_of_every_scalar(tk_lines, variants):
    newer = gen_unicode.newer_than_python(variants)
    for c in range(0x110000):
        found = tk_lines[c][4].split("+") if len(tk_lines[c]) > 4 else []
        assert {int(x, 16) for x in found} == variants.get(c, set()), hex(c)
        assert int(tk_lines[c][3], 16) == newer.get(c, 0), hex(c)


@exact_tokenizers
def test_the_linked_engine_differs_from_the_reference_by_the_new_variants(variants):
    """What td_re_new_case_variant promises about (?i), for single characters and for those that
    match several. A newer engine may know the new ones itself."""
    newer = gen_unicode.newer_than_python(variants)
    several = [chr(c) for c in reference.SCALARS if len(chr(c).casefold()) > 1]
    cases = []
    for c in sorted(variants):
        cases += [("(?i:%c)" % c, chr(d)) for d in sorted(variants[c] | {c, c + 1, c - 1} - {0x7C})]
    for s in several:
        fold = s.casefold()
        forms = {s, fold, fold.upper(), fold.title(), fold[:1], fold[:2], fold[1:]}
        forms |= {t for t in several if t.casefold() == fold}
        forms = sorted(t for t in forms if len(t) <= 3)
        cases += [(p % a, t) for a in forms for b in forms
                  for p in (["(?i:%s)", "(?i:[%s])", "(?i:[^%s])"] if len(a) == 1 else
                            ["(?i:%s)", "(?i:x?%s)", "(?i:%sy?)", "(?i:(?:%s)+)"])
                  for t in (b, "x" + b, b + "x", b + b)]
    cases = [(p, t) for p, t in cases if "\n" not in t and not any(0xD800 <= ord(x) < 0xE000
                                                                   for x in t)]
    lines = tool("onig", "".join("%s\t%s\n" % case for case in cases).encode()).decode().split("\n")
    assert lines.pop() == ""
    for (pattern, text), line in zip(cases, lines, strict=True):
        left = normalizers.Replace(tokenizers.Regex(pattern), "\0").normalize_str(text)
        mine, at = b"", 0
        for first, end in (map(int, span.split("-")) for span in line.split()):
            mine += text.encode()[at:first] + b"\0"
            at = end
        mine = (mine + text.encode()[at:]).decode()
        if mine != left:
            assert pattern == "(?i:%c)" % newer.get(ord(text), 0), (pattern, text, mine, left)


@pytest.mark.once
@exact_python
@exact_tokenizers
@pytest.mark.parametrize("part", list(gen_unicode.PARTS))
def test_committed_tables_are_what_the_generator_writes(part, tmp_path):
    for table in gen_unicode.PARTS[part]():
        table.write(str(tmp_path))
    for name in os.listdir(tmp_path):
        committed = open(os.path.join(gen_unicode.OUT, name)).read()
        assert (tmp_path / name).read_text() == committed, name


@exact_python
def test_character_names():
    """Every name that \\N{...} knows, aliases and names by rule included, in its own case and in
    lower case; and what looks like a name."""
    named = gen_names.names()
    assert len(named) > 139000
    texts = list(named)
    assert mapped("named", texts) == [chr(named[name]) for name in texts]
    chosen = random.Random(5)
    other = [name.lower() for name in texts if not name.startswith(gen_names.BY_RULE)] + chosen.sample(texts, 2000)
    for name in chosen.sample(texts, 8000):
        at = chosen.randrange(len(name))
        other += [name[:at], name[at:], name[:at] + name[at + 1:], name[:at] + chosen.choice("AGZ 0-e") + name[at:],
                  name[:at] + chosen.choice(texts)[at:], name.swapcase(), name + " ", " " + name]
    other += ["%s%s" % (rule, tail) for rule in gen_names.BY_RULE
              for tail in ("", "4E0", "4e00", "04E00", "004E00", "9FFD", "A000", "2A6DF", "2A6E0", "3134A", "3134B",
                           "G", "A", "GAG", "GAGA", "WA", "YEO", "SSWAELH", "SSWAELHS", "XA")]
    other = [name for name in other if name and "}" not in name]
    unescaped = [gen_names.unescape(name) for name in other]
    assert mapped("named", other) == ["" if c is None else chr(c) for c in unescaped]


@pytest.mark.once
@exact_python
def test_committed_names_are_what_the_generator_writes():
    for name, text in gen_names.files().items():
        assert open(os.path.join(gen_names.OUT, name)).read() == text, name
