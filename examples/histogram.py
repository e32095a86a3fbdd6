#!/usr/bin/env python3
"""The token lengths of a data set, as a histogram in text or SVG.

    python examples/histogram.py chats.jsonl [-m MODEL] [--svg lengths.svg]

Lines are requests: {"messages": [...]}. Without a file a small made-up data set is counted."""
import argparse
import json
import sys

import tokdrain

BINS = 12


def made_up():
    for i in range(400):
        words = "and so on " * (1 + (i * 37) % 60)
        yield json.dumps({"messages": [{"role": "user", "content": f"Question {i}: {words}"}]})


def histogram(counts, bins=BINS):
    """[(from, up to and without, how many)]"""
    width = max(1, -(-(max(counts) + 1) // bins))
    tally = [0] * bins
    for count in counts:
        tally[count // width] += 1
    return [(i * width, (i + 1) * width, n) for i, n in enumerate(tally)]


def as_text(rows):
    most = max(n for _, _, n in rows)
    return "\n".join(f"{a:>7} - {b - 1:<7} {'#' * (48 * n // most):<48} {n}" for a, b, n in rows)


def as_svg(rows):
    most = max(n for _, _, n in rows)
    bars = "".join(
        f'<rect x="{40 + i * 44}" y="{220 - 200 * n / most:.1f}" width="40" '
        f'height="{200 * n / most:.1f}" fill="#4477aa"><title>{n}</title></rect>'
        f'<text x="{60 + i * 44}" y="236" font-size="10" text-anchor="middle">{a}</text>'
        for i, (a, _, n) in enumerate(rows))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{60 + 44 * len(rows)}" height="260" '
            f'font-family="sans-serif">{bars}<text x="40" y="254" font-size="11">tokens of a '
            f'conversation (bars: how many, at most {most})</text></svg>\n')


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("file", nargs="?")
    p.add_argument("-m", "--model")
    p.add_argument("--svg")
    args = p.parse_args()
    model = tokdrain.Model.from_pretrained(args.model) if args.model else \
        tokdrain.Model.built_in()
    lines = open(args.file, encoding="utf-8") if args.file else made_up()
    counts, failed = [], 0
    with tokdrain.Counter(model) as counter:
        for result in counter.count_iter(line.encode() for line in lines if line.strip()):
            if result.error is None:
                counts.append(result.tokens)
            else:
                failed += 1
    if not counts:
        sys.exit("nothing could be counted")
    rows = histogram(counts)
    print(f"{len(counts)} conversations, {sum(counts)} tokens, {failed} failed")
    print(as_text(rows))
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as out:
            out.write(as_svg(rows))


if __name__ == "__main__":
    main()
