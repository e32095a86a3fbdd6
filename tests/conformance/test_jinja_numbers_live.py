"""Numbers in templates against the reference: true division of integers of any size, complex
numbers, and constants as the reference's generated source spells them."""
import random

import jinja_live as live
import pytest
from jinja_live import fixed_moment  # noqa: F401 - used by every test

pytestmark = pytest.mark.skipif(not live.TOOL.exists(), reason=f"{live.TOOL} is not built")

VARIABLES = {"n": 2, "m": -1, "zero": 0}
BITS = [1, 10, 30, 53, 54, 55, 63, 64, 65, 100, 500, 1023, 1024, 1025, 1074, 1100, 2000]
SPECS = ["", "10", "<40", "^60.3f", ".3", ".2e", "+.1f", " g", "n", "#.0f", "*>50", ",.2f", "_.1f", "z.1f", "040.2f", "=40", "%", "d", "s",
         "x", ".0f", "G", "E", "\u00e9^50"]
Z = "((-8) ** 0.5)"
COMPLEX = [
    "", "|tojson", "|round", "|int", "|int(7)", "|float", "|string|upper", "|pprint", "|abs", "|length", "|list", "|filesizeformat", "|default(3)",
    "|xmlattr", "|urlencode", "|trim", "|e", "|attr('real')", "['imag']", "[0]", ".foo", "()", ".conjugate()", " is number", " is integer",
    " is float", " is odd", " is mapping", " is iterable", " is sequence", " < 1", " == 1", " != 1", " % 2", " // 2", " ~ 'x'", " + none",
    " + missing", " + true", " - 'a'", " * 'x'", " * [1]", " / 0", " * (10 ** 400)", " == 10 ** 400", " in [1]", " ** 0", " ** true",
]
EXPRESSIONS = [
    f"[{Z}]", f"{{{Z}: 2}}", f"[{Z}, 1]|sum", f"[{Z}, 1]|sort", f"[{Z}, {Z}]|unique|list", f"[{Z}]|max", f"'%s %r %a'|format({Z}, {Z}, {Z})",
    f"'%d'|format({Z})", f"'%f'|format({Z})", f"1 // {Z}", f"'x' * {Z}", f"range({Z})", f"[1, 2][{Z}]", f"'abc'[{Z}:]", f"{Z} if {Z} else 2",
    f"missing + {Z}", f"[{Z}] == [{Z}]", f"{Z} in {{{Z}: 1}}", f"0 ** {Z}", f"0.0 ** {Z}", "((-1e200) ** 1.4) ** 2", "((-1e200) ** 1.4) ** 2.5",
    "(-1e300) ** 1.5", "((-1e300) ** 1.02 * 10)|abs", "{1: 2}[(-1) ** 0.5 * 0 + 1]", "{true: 5}[(-1) ** 0.5 * 0 + 1]", "(-1) ** 0.5 * 0 in range(3)",
    # other values that are equal keys
    "{'x'.encode(): 1}['x'.encode()]", "{range(3): 1}[range(0, 3)]", "{range(3): 1}[range(0, 4)]", "{'a'.encode(): 1, 'a'.encode(): 2}",
    "[range(3), range(0, 3, 1), range(2)]|unique|list", "[range(0), range(1, 1)]|unique|list", "{('a'.encode(), 1): 5}[('a'.encode(), 1)]",
    # the reference writes constants into Python source
    "-2 ** n", "(-2) ** n", "(1 - 3) ** n", "-2.5 ** n", "(n, -2 ** n, [-2 ** n])", "-n ** 2", "+2 ** n", "-2 ** n ** 2", "(-2) ** m", "-0.0 ** n",
    "(-2 * (-1) ** 0.5) ** n", "(-10 ** 30) ** n", "-2|abs ** n", "[(-8) ** 0.5 * 0, n]", "{'a': ((-8) ** 0.5 * 0,)}.a", "(-1) ** 0.5 * 1e308 * 100 * n",
    "10 ** 5000 % 7", "10 ** 5000", "1 if n else 10 ** 5000", "[10 ** 5000]|length", "10 ** 4299", "10 ** 4300", "10 ** 5000 > n", "[1, (10 ** 5000,), n]",
    "0 / -5", "-0 / 5", "(2 ** 2000) / (2 ** 1999)", "(2 ** 2000) / 3", "3 / (2 ** 2000)", "0 / (0 - 2 ** 2000)", "(10 ** 400) / 1.0", "2 ** 1100 / -(2 ** 30)",
]
STATEMENTS = [
    "{% set x = 10 ** 5000 %}", "{% if n %}a{% else %}{{ n + 10 ** 5000 }}{% endif %}", "{% set x = {10 ** 5000: 1} %}", "{% set x = -3 %}{{ x ** n }}",
    "{% macro m(a=(-2) ** n) %}{{ a }}{% endmacro %}{{ m() }}", "{% autoescape n %}{{ -2 ** n }}{% endautoescape %}",
]


def integer(chosen):
    bits = chosen.choice(BITS)
    value = chosen.getrandbits(bits) if chosen.random() < 0.8 else (1 << bits) + chosen.randrange(-2, 3)
    return -value if chosen.random() < 0.3 else value


def random_programs(count):
    chosen = random.Random(3)
    for _ in range(count):
        yield "{{ (%d) / (%d) }}" % (integer(chosen), integer(chosen))
        real = chosen.choice([0.0, 1.0, -1.0, 2.5, 1e200, 1e-200, float(chosen.getrandbits(20))])
        c = "((-%r) ** %r)" % (chosen.random() * chosen.choice([1, 10, 1e100]), chosen.random() * chosen.choice([1, 3, 10]))
        z = "((-%r) ** %r)" % (chosen.random() * 10, chosen.random())
        both = "{%% set c = %s %%}{%% set z = %s %%}" % (c, z)
        yield both + "{{ c }}|{{ c + z }}|{{ c * z }}|{{ c - z }}|{{ z + %r }}|{{ %r * z }}|{{ z - 3 }}" % (real, real)
        yield both + "{{ c / z }}"
        yield both + "{{ z ** c }}"
        yield both + "{{ z ** %d }}|{{ z|abs }}|{{ -z }}|{{ +z }}|{{ z.real }}|{{ z.imag }}|{{ z.conjugate() }}" % chosen.randrange(-120, 120)
        yield both + "{{ %r ** z }}" % real
        yield both + "{{ '{:%s}'.format(c) }}" % chosen.choice(SPECS)
        yield both + "{%% set c = c * 0 %%}{{ '{:%s}'.format(c) }}{{ c }}{{ c == 0 }}{{ c and 1 }}{{ {0: 1}[c] }}{{ {c: 3}[0] }}" % chosen.choice(SPECS)


def programs():
    yield from ("{{ %s%s }}" % (Z, tail) for tail in COMPLEX)
    yield from ("{{ %s }}" % e for e in EXPRESSIONS)
    yield from STATEMENTS
    yield from random_programs(150)


def test_numbers():
    bad, count = [], 0
    with live.engine() as engine:
        for source in programs():
            template, error = live.reference_compile(source)
            text, error = (None, error) if template is None else live.reference_render(template, VARIABLES)
            difference = live.difference(engine.ask(template=source, vars=VARIABLES), text, error)
            count += 1
            if difference is not None:
                bad.append(f"{source!r}: {difference[:300]}")
    assert count > 1300
    assert not bad, f"{len(bad)} of {count} programs differ:\n" + "\n".join(bad[:20])
