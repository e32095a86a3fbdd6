"""Line charts as SVG, without a plotting library: what the benches draw beside their tables."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 70, 150, 40, 50
COLOURS = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#555555"]


def ticks(low, high):
    """Powers of ten around the values, with 2 and 5 where there are few of them."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    return [m * 10 ** e for e in range(first, last + 1) for m in steps
            if low / 1.0001 <= m * 10 ** e <= high * 1.0001]


def label(value):
    if value >= 1000:
        return f"{value / 1000:g}k"
    return f"{value:g}"


def chart(title, x_name, y_name, lines):
    """lines: {name: [(x, y), ...]}; both axes are logarithmic, and zeros stand at the bottom."""
    xs = [x for points in lines.values() for x, _ in points]
    ys = [y for points in lines.values() for _, y in points if y > 0] or [1]
    x_low, x_high, y_low, y_high = min(xs), max(xs), min(ys) / 1.5, max(ys) * 1.5
    if x_low == x_high:
        x_low, x_high = x_low / 2, x_high * 2

    def place(value, low, high, start, end):
        part = math.log(max(value, low) / low) / math.log(high / low)
        return start + part * (end - start)

    def x_at(v):
        return place(v, x_low, x_high, LEFT, WIDTH - RIGHT)

    def y_at(v):
        return place(v, y_low, y_high, HEIGHT - BOTTOM, TOP)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>']
    for v in ticks(y_low, y_high):
        y = y_at(v)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                   f'stroke="#ddd"/><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
                   f'{label(v)}</text>')
    for v in sorted(set(xs)):
        out.append(f'<line x1="{x_at(v):.1f}" x2="{x_at(v):.1f}" y1="{TOP}" '
                   f'y2="{HEIGHT - BOTTOM}" stroke="#eee"/><text x="{x_at(v):.1f}" '
                   f'y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{label(v)}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">'
               f'{escape(x_name)}</text><text x="16" y="{(TOP + HEIGHT - BOTTOM) / 2}" '
               f'text-anchor="middle" transform="rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2})">'
               f'{escape(y_name)}</text>')
    for i, (name, points) in enumerate(lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        way = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in sorted(points))
        out.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x_at(x):.1f}" cy="{y_at(y):.1f}" r="3" fill="{colour}"/>'
                for x, y in points]
        out.append(f'<text x="{WIDTH - RIGHT + 10}" y="{TOP + 18 * i + 10}" fill="{colour}">'
                   f'{escape(name)}</text>')
    return "\n".join(out) + "\n</svg>\n"
