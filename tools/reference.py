"""Asks the reference tokenizer (the `tokenizers` package) about every scalar value.

Everything here observes behaviour through the package's public components; nothing is taken from
a Unicode data file. One question is put about all scalars at once, in one long string, because a
call for each scalar would take hours.
"""

import glob
import re

import tokenizers
from tokenizers import Regex, normalizers

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
