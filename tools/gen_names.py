#!/usr/bin/env python3
"""Generates src/unicode/generated/names.c and names.h: the character names that CPython's \\N{...}
knows, aliases included, without Hangul syllables and unified ideographs, whose names are made by
rule (src/unicode/names.c).

    gen_names.py [--out DIR]

The interpreter is asked for everything, through the table of functions that its own decoder uses;
it keeps the names of aliases at private code points. Run it with the version that gen_unicode.py
names. All names form one minimal automaton; a name's number in alphabetical order, counted on the
way through it, is the place of its character.
"""
import argparse
import ctypes
import os
import sys
import unicodedata

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gen_unicode import OUT, PYTHON, PYTHON_UNICODE, array  # noqa: E402

BY_RULE = ("HANGUL SYLLABLE ", "CJK UNIFIED IDEOGRAPH-")
SOURCE = f"CPython {PYTHON}, Unicode {PYTHON_UNICODE}"


class Names(ctypes.Structure):
    """CPython's _PyUnicode_Name_CAPI."""
    _fields_ = [("name", ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_int, ctypes.c_int))]


def table():
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Names.from_address(pointer(unicodedata._ucnhash_CAPI, b"unicodedata._ucnhash_CAPI"))


def unescape(name):
    """The code point that \\N{name} stands for, or None."""
    try:
        return ord(("\\N{%s}" % name).encode("ascii").decode("unicode-escape"))
    except UnicodeDecodeError:
        return None


def names():
    """{name: code point} of all names, those by rule too."""
    functions, text, found = table(), ctypes.create_string_buffer(512), {}
    for c in range(0x110000):
        if functions.name(c, text, len(text), 1):
            name = text.value.decode()
            code = unescape(name)  # none: a sequence of characters, which \N does not know
            if code is not None:
                found[name] = code
    return found


# ---- the automaton ----

class Node:
    """children: {character: Node}; once it is registered, equal nodes are one."""
    __slots__ = ("children", "is_end", "count", "at", "edges")

    def __init__(self):
        self.children, self.is_end = {}, False

    def key(self):
        return self.is_end, tuple((c, id(n)) for c, n in self.children.items())


def automaton(words):
    """The minimal acyclic automaton of sorted words."""
    root, register, path, last = Node(), {}, [], ""
    path = [root]

    def settle(down_to):
        while len(path) > down_to + 1:
            node = path.pop()
            path[-1].children[last[len(path) - 1]] = register.setdefault(node.key(), node)

    for word in words:
        common = len(os.path.commonprefix([word, last]))
        settle(common)
        for c in word[common:]:
            node = Node()
            path[-1].children[c] = node
            path.append(node)
        path[-1].is_end = True
        last = word
    settle(0)
    return root


def finish(root):
    """Nodes in an order in which edges lead forward, with counts and edges of whole labels; not
    the last one, which has no edges."""
    order, seen = [], set()

    def visit(node):
        node.count = int(node.is_end)
        node.edges = []
        for c, child in node.children.items():
            label = c
            while len(child.children) == 1 and not child.is_end:
                (more, child), = child.children.items()
                label += more
            if id(child) not in seen:
                seen.add(id(child))
                visit(child)
            node.count += child.count
            node.edges.append((label, child))
        order.append(node)

    sys.setrecursionlimit(10000)
    visit(root)
    return [n for n in order[::-1] if n.edges]


def varint(n):
    out = []
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return out + [n]


def encode(node):
    """count * 2 + is_end; then each edge: its length * 2 + is_last, its label, the way to its node;
    no way: the name ends behind the label, and no name goes on."""
    out = varint(node.count * 2 + node.is_end)
    for i, (label, child) in enumerate(node.edges):
        out += varint(len(label) * 2 + (i == len(node.edges) - 1)) + list(label.encode())
        out += varint(child.at - node.at if child.edges else 0)
    return out


def packed(order):
    """The bytes of the automaton: places are moved until all distances fit."""
    for node in order:
        node.at = 0
    while True:
        out, moved = [], False
        for node in order:
            moved |= node.at != len(out)
            node.at = len(out)
            out += encode(node)
        if not moved:
            return out


def look_up(data, name):
    """What names.c does, to check the table: the number of the name, or None."""
    def number(at):
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                return value, at

    node, at_name, index = 0, 0, 0
    while True:
        head, at = number(node)
        if at_name == len(name):
            return index if head & 1 else None
        index += head & 1
        while True:
            length, at = number(at)
            label = bytes(data[at:at + length // 2]).decode()
            way, after = number(at + length // 2)
            if name.startswith(label, at_name):
                at_name += len(label)
                if way == 0:
                    return index if at_name == len(name) else None
                node += way
                break
            index += number(node + way)[0] >> 1 if way else 1
            if length & 1:
                return None
            at = after


def files():
    """{file name: text} of the generated pair."""
    found = {n: c for n, c in names().items() if not n.startswith(BY_RULE)}
    words = sorted(found)
    data = packed(finish(automaton(words)))
    for i, word in enumerate(words):
        assert look_up(data, word) == i, word
    codes = [found[w] for w in words]
    planes = sorted({c >> 16 for c in codes})
    assert len(planes) <= 4, planes
    packed_planes = [0] * ((len(codes) + 3) // 4)
    for i, c in enumerate(codes):
        packed_planes[i // 4] |= planes.index(c >> 16) << i % 4 * 2
    banner = f"/* Generated by tools/gen_names.py from {SOURCE}; do not edit. */\n"
    rows = [("uint8_t", "names_automaton", data),
            ("uint16_t", "names_code", [c & 0xFFFF for c in codes]),
            ("uint8_t", "names_plane", packed_planes), ("uint8_t", "names_planes", planes)]
    guard = "TD_SRC_UNICODE_GENERATED_NAMES_H"
    header = banner + f"#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n"
    header += "".join(f"extern const {ctype} {name}[{len(v)}];\n" for ctype, name, v in rows)
    source = banner + '#include "unicode/generated/names.h"\n\n'
    source += "\n".join(array(*row) for row in rows)
    return {"names.h": header + "\n#endif\n", "names.c": source}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=OUT)
    args = parser.parse_args()
    if not sys.version.startswith(PYTHON + ".") or unicodedata.unidata_version != PYTHON_UNICODE:
        sys.exit(f"gen_names.py: {SOURCE} is needed")
    for name, text in files().items():
        with open(os.path.join(args.out, name), "w", encoding="ascii") as f:
            f.write(text)


if __name__ == "__main__":
    main()
