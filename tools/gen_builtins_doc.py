#!/usr/bin/env python3
"""Writes the tables of docs/templates.md, between its two marker lines, from
src/jinja/builtins.def; --check only says whether they are up to date."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEF = ROOT / "src" / "jinja" / "builtins.def"
DOC = ROOT / "docs" / "templates.md"
BEGIN = "<!-- built-ins: made by tools/gen_builtins_doc.py -->"
END = "<!-- end of built-ins -->"
LINE = re.compile(r'^(FILTER|TEST|GLOBAL)\("([^"]+)", (\w+), (\d+), (\d+), ([^,]+), '
                  r'"([^"]*)", "([^"]*)"\)$')
METHOD = re.compile(r'^METHOD\((\w+), (\w+), (\d+), (\d+), ([^,]+), "([^"]*)", "([^"]*)"\)$')
REFUSED = re.compile(r"^REFUSED\((\w+), (\w+)\)$")
TYPES = {
    "str": "`str`", "markup": "`Markup` (besides those of `str`)", "list": "`list`",
    "tuple": "`tuple`", "group": "items of `groupby` (besides those of `tuple`)",
    "dict": "`dict`", "int": "`int`, `bool`", "float": "`float`",
    "complex": "`complex`", "range": "`range`",
    "bytes": "`bytes`", "view": "`keys()`, `items()`",
    "cycler": "`cycler`", "dictclass": "the global `dict`",
}


def call(name, required, names, flags):
    """name(a, b=…), as a reader expects it."""
    parts = [n if i < required else n + "=…" for i, n in enumerate(names.replace("-", "").split())]
    if flags == "LAZY":
        flags = "VARARGS KWARGS"
    parts += ["*args"] * ("VARARGS" in flags) + ["**kwargs"] * ("KWARGS" in flags)
    return f"`{name}({', '.join(parts)})`" if parts else f"`{name}`"


def cell(text):
    return text.replace("|", "\\|")


def tables():
    rows = {"FILTER": [], "TEST": [], "GLOBAL": []}
    methods, refused = {}, {}
    for line in DEF.read_text().splitlines():
        if m := LINE.match(line):
            kind, name, _, required, _, flags, names, doc = m.groups()
            rows[kind].append((call(name, int(required), names, flags), doc))
        elif m := METHOD.match(line):
            methods.setdefault(m[1], []).append((m[2] if "PROPERTY" in m[5] else m[2] + "()", m[7]))
        elif m := REFUSED.match(line):
            refused.setdefault(m[1], []).append(m[2])
        elif line.startswith(("FILTER", "TEST", "GLOBAL", "METHOD", "REFUSED")):
            sys.exit(f"{DEF.name}: not understood: {line}")
    out = []
    for kind, title in (("FILTER", "Filters"), ("TEST", "Tests"), ("GLOBAL", "Globals")):
        out += [f"### {title} ({len(rows[kind])})", "", "| name | result |", "| --- | --- |"]
        out += [f"| {cell(name)} | {cell(doc)} |" for name, doc in rows[kind]] + [""]
    count = sum(map(len, methods.values()))
    out += [f"### Methods and attributes ({count})", ""]
    for kind, title in TYPES.items():
        out += [f"- {title}: " + ", ".join(f"`{name}`" for name, _ in methods[kind])]
    lists = (f"`{kind}`: " + ", ".join(names) for kind, names in refused.items())
    out += ["", "Methods that change their object are refused, as in the reference's sandbox: "
            + "; ".join(lists) + "."]
    return "\n".join(out)


def main():
    text = DOC.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"{DOC.name} lacks its marker lines")
    head, rest = text.split(BEGIN, 1)
    tail = rest.split(END, 1)[1]
    new = f"{head}{BEGIN}\n\n{tables()}\n\n{END}{tail}"
    if "--check" in sys.argv:
        sys.exit(0 if new == text else f"{DOC.name} is old: run tools/gen_builtins_doc.py")
    DOC.write_text(new)


if __name__ == "__main__":
    main()
