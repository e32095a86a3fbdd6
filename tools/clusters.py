"""What kind of character each is when the reference cuts text into grapheme clusters.

Its Precompiled normalizer replaces a whole cluster of less than six bytes by what its first bytes
map to, and longer ones character by character. So whether two characters are in one cluster shows
in what is left of a text whose parts are chosen so that the cluster is short in one case only."""
import charsmap

KINDS = ["other", "control", "extend", "nonjoiner", "linker", "joiner", "spacing", "prepend", "l",
         "v", "t", "lv", "lvt", "picture", "consonant"]
LEADS = {bytes([b]): "X" for b in range(0xC2, 0xF5)}
MARK = "\u0300"     # two bytes, joins whatever is before it
EARLIER = "\u0600"  # two bytes, joins whatever is behind it


def asker(keys):
    """A function from texts (without line ends) to what they are normalized to."""
    from tokenizers import normalizers
    norm = normalizers.Precompiled(charsmap.charsmap(keys))

    def ask(texts):
        out = []
        for at in range(0, len(texts), 50000):
            out += norm.normalize_str("\n".join(texts[at:at + 50000])).split("\n")
        assert len(out) == len(texts)
        return out
    return ask


def answers(chars):
    """For each question the set of characters with yes. In each text the last cluster is short,
    and loses its mark, when it begins before the last letter; or the first one does likewise."""
    letters = asker({bytes([b]): "X" for b in (0xC2, 0xE0, 0xE1)})
    behind = asker({b"\xd8": "X"})
    leads = asker(LEADS)

    def marked(before, after):
        out = letters([before + c + after + MARK for c in chars])
        return {c for c, text in zip(chars, out) if text.endswith(MARK)}

    def which(ask, form, yes):
        return {c for c, text in zip(chars, ask([form(c) for c in chars])) if yes(text)}

    yes = {"joins": which(asker({b"a": "X"}), lambda c: "a" + c, lambda t: t == "X"),
           "earlier": which(leads, lambda c: c + "a", lambda t: t == "X"),
           "control": which(asker({**LEADS, b"\xcc": "Y"}),
                            lambda c: c + MARK + "\u0301", lambda t: not t.endswith("YY")),
           "picture": which(asker({b"\xc2": "X"}), lambda c: "\u00a9\u200d" + c,
                            lambda t: t.startswith("X\u200d")),
           "picture first": marked("", "\u200d\u00a9"),
           "extend": marked("\u00a9", "\u200d\u00a9"),
           "consonant": marked("", "\u094d\u0915"),
           "linker": marked("\u0915", "\u0915"),
           "conjunct": marked("\u0915", "\u094d\u0915")}
    for name, letter in (("l", "\u1100"), ("v", "\u1160"), ("t", "\u11a8")):
        yes["behind " + name] = which(behind, lambda c: EARLIER + letter + c,
                                      lambda t: letter in t[:2])
        yes["before " + name] = marked("", letter)
    return yes


HANGUL = {
    ("before l", "before v", "behind l"): "l",
    ("before t", "before v", "behind l", "behind v"): "v",
    ("before t", "behind t", "behind v"): "t",
    ("before t", "before v", "behind l"): "lv",
    ("before t", "behind l"): "lvt",
}


def kinds():
    """{code point: index into KINDS} of all that are not "other". What no text can show (flags are
    pairs of four bytes each) is "other"; so is what only the rules for ASCII know."""
    chars = [chr(c) for c in range(0x80, 0x110000) if not 0xD800 <= c < 0xE000]
    yes = answers(chars)
    out = {}
    for c in chars:
        kind = kind_of({name for name, members in yes.items() if c in members})
        if kind != "other":
            out[ord(c)] = KINDS.index(kind)
    for c in [*range(0x20), 0x7F]:
        out[c] = KINDS.index("control")
    return out


def kind_of(said):
    if "joins" in said:
        if "linker" in said:
            return "linker"
        if "extend" in said:
            return "extend" if "conjunct" in said else "nonjoiner"
        return "joiner" if "conjunct" in said else "spacing"
    if "earlier" in said:
        return "prepend"
    if "picture" in said:
        assert said == {"picture", "picture first", "extend"}
        return "picture"
    if "consonant" in said:
        assert said == {"consonant", "conjunct"}
        return "consonant"
    if "control" in said:
        assert said == {"control"}
        return "control"
    return HANGUL[tuple(sorted(said))] if said else "other"
