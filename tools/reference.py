"""Asks the reference tokenizer (the `tokenizers` package) about every scalar value.

Everything here observes behaviour through the package's public components; nothing is taken from
a Unicode data file. One question is put about all scalars at once, in one long string, because a
call for each scalar would take hours.
"""

import functools
import glob
import re

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
# U+0000 is left out of the long string: it is the mark that stands for "not matched".
_TEXT = "".join(map(chr, SCALARS[1:]))


def to_ranges(code_points):
    """Sorted code points to inclusive ranges; a range may span the surrogates."""
    out = []
    for c in code_points:
        if out and (c == out[-1][1] + 1 or (c == 0xE000 and out[-1][1] == 0xD7FF)):
            out[-1][1] = c
        else:
            out.append([c, c])
    return [tuple(r) for r in out]


@functools.lru_cache(maxsize=None)
def regex_class(inside):
    """Ranges that [inside] matches, by the reference's regex engine."""
    kept = normalizers.Replace(Regex("[^%s]+" % inside), "\0").normalize_str(_TEXT)
    zero = normalizers.Replace(Regex("[%s]" % inside), "").normalize_str("\0") == ""
    out = [(0, 0)] if zero else []
    for piece in kept.split("\0"):
        if not piece:
            continue
        first, last = ord(piece[0]), ord(piece[-1])
        count = last - first + 1 - (0x800 if first < 0xD800 <= last else 0)
        assert count == len(piece), "the engine dropped characters"
        if out and out[-1][1] + 1 == first:
            out[-1] = (out[-1][0], last)
        else:
            out.append((first, last))
    return out


def property_names():
    """Every name that \\p{NAME} takes: the engine's own pool of names, filtered by asking it."""
    library = open(glob.glob(tokenizers.__path__[0] + "/*.so")[0], "rb").read()
    pool = {m.group(1).decode() for m in re.finditer(rb"(?<=\0)([a-z0-9=.]{1,70})(?=\0)", library)}
    names = []
    for name in sorted(pool):
        try:
            Regex("\\p{%s}" % name)
        except Exception:
            continue
        names.append(name)
    return names


def normalize_each(form, texts, separator="\x01"):
    """The normal form of each text, asked for in one call."""
    joined = separator.join(texts)
    out = getattr(normalizers, form)().normalize_str(joined).split(separator)
    assert len(out) == len(texts), form
    return out


# ---- components other than the regex engine ----

def kept_spans(pre_tokenizer, text):
    return [span for _, span in pre_tokenizer.pre_tokenize_str(text)]


def scalars_outside(spans):
    """The scalars that spans over the text of all scalars leave out."""
    out, at = [], 0
    for first, end in spans:
        out.extend(SCALARS[at:first])
        at = end
    return out + SCALARS[at:]


def removed_by(pre_tokenizer):
    """Scalars that a pre-tokenizer drops from the text of all scalars."""
    return scalars_outside(kept_spans(pre_tokenizer, "".join(map(chr, SCALARS))))


def boundaries(pre_tokenizer, text):
    """A set of the offsets in text where a piece begins."""
    return {first for first, _ in kept_spans(pre_tokenizer, text)}


def numeric():
    starts = boundaries(pre_tokenizers.Digits(individual_digits=True),
                        "".join("a" + chr(c) for c in SCALARS))
    return [c for i, c in enumerate(SCALARS) if 2 * i + 1 in starts]


def word():
    """What Whitespace() takes for a word's character: it does not cut it from a letter."""
    spans = set(kept_spans(pre_tokenizers.Whitespace(), "".join("a%c " % c for c in SCALARS)))
    return [c for i, c in enumerate(SCALARS) if (3 * i, 3 * i + 2) in spans]


def normalized_scalars(normalizer):
    """What a normalizer that treats characters alone makes of each scalar, in a dict."""
    mark = "|"
    cs = [c for c in SCALARS if c != ord(mark)]
    out = normalizer.normalize_str(mark.join(map(chr, cs))).split(mark)
    assert len(out) == len(cs)
    return {ord(mark): mark, **dict(zip(cs, out))}


def bert(**on):
    options = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False,
                   lowercase=False)
    options.update(on)
    return normalizers.BertNormalizer(**options)


def scripts():
    """A list of sets of scalars that UnicodeScripts does not cut apart; the first is the set that
    it cuts from nothing."""
    pre = pre_tokenizers.UnicodeScripts()
    starts = boundaries(pre, "".join("a%c\u0434%c" % (c, c) for c in SCALARS))
    neutral = [c for i, c in enumerate(SCALARS)
               if 4 * i + 1 not in starts and 4 * i + 3 not in starts]
    rest = sorted(set(SCALARS) - set(neutral))
    starts = boundaries(pre, "".join(map(chr, rest)))
    runs = []
    for i, c in enumerate(rest):
        if i in starts:
            runs.append([])
        runs[-1].append(c)
    found = []
    for run in runs:
        text = "".join("%c%c" % (run[0], other[0]) for other in found)
        starts = boundaries(pre, text)
        same = [k for k in range(len(found)) if 2 * k + 1 not in starts]
        assert len(same) <= 1
        if same:
            found[same[0]].extend(run)
        else:
            found.append(list(run))
    return [neutral] + found


# ---- case-insensitive matching ----

def _class_text(ranges):
    return "".join("\\x{%X}-\\x{%X}" % r for r in ranges)


def case_variants():
    """For each scalar that (?i:c) matches others for: the set of those others."""
    known = ["cased", "cwcf", "cwcm"]
    some = sorted({c for n in known for first, last in regex_class("\\p{%s}" % n)
                   for c in range(first, last + 1)})
    inside = set(some)
    text = "|".join(map(chr, some))
    # No other scalar matches one of these, and none of these another scalar.
    ranges = _class_text(to_ranges(some))
    assert normalizers.Replace(Regex("(?i:[^%s|])" % ranges), "").normalize_str(text) == text
    mixed = normalizers.Replace(Regex("(?i:[%s])" % ranges), "")
    rest = [c for c in SCALARS if c not in inside]
    for at in range(0, len(rest), 8192):  # a failing search costs the square of its text
        part = "".join(map(chr, rest[at:at + 8192]))
        assert mixed.normalize_str(part) == part
    out = {}
    for c in some:
        left = normalizers.Replace(Regex("(?i:\\x{%X})" % c), "").normalize_str(text).split("|")
        others = {d for d, kept in zip(some, left, strict=True) if not kept} - {c}
        if others:
            out[c] = others
    return out
