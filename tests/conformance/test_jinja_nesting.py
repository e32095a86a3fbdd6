"""Statements nested about as deep as the reference can compile: Python takes 20 nested loops and
less than 100 levels of indentation."""
import jinja_live as live
import pytest
from jinja_live import fixed_moment  # noqa: F401 - used by every test

pytestmark = pytest.mark.skipif(not live.TOOL.exists(), reason=f"{live.TOOL} is not built")

STATEMENTS = [
    ("{% if x %}", "{% endif %}"), ("{% if x %}{% else %}", "{% endif %}"), ("{% if x %}{% elif x %}", "{% endif %}"),
    ("{% macro m() %}", "{% endmacro %}"), ("{% macro m(a) %}", "{% endmacro %}"), ("{% call y() %}", "{% endcall %}"),
    ("{% call(a) y() %}", "{% endcall %}"), ("{% generation %}", "{% endgeneration %}"), ("{% for a in x %}", "{% endfor %}"),
    ("{% for a in x %}{% else %}", "{% endfor %}"), ("{% for a in x if a %}", "{% endfor %}"), ("{% for a in x recursive %}", "{% endfor %}"),
    ("{% for a in x if a recursive %}", "{% endfor %}"), ("{% set a %}", "{% endset %}"), ("{% set n.a %}", "{% endset %}"),
    ("{% filter upper %}", "{% endfilter %}"), ("{% with %}", "{% endwith %}"), ("{% block b %}", "{% endblock %}"),
    ("{% autoescape true %}", "{% endautoescape %}"), ("{% set n.a = 1 %}", ""), ("{% set a, n.b = x %}", ""), ("{{ x|upper }}", ""),
]


def programs():
    for opens, closes in STATEMENTS:
        for depth in range(95, 100):
            yield "{% if x %}" * depth + opens + closes + "{% endif %}" * depth
    for depth in (48, 49, 50):
        yield "{% if x %}{% macro m() %}" * depth + "{% endmacro %}{% endif %}" * depth
        yield "{% if x %}{% with %}" * (2 * depth) + "{% endwith %}{% endif %}" * (2 * depth)
    for depth in (20, 21):
        yield "{% for a in x %}" * depth + "{% endfor %}" * depth
        yield "{% for a in x %}" * 15 + "{% macro m() %}" + "{% for a in x %}" * depth + "{% endfor %}" * depth + "{% endmacro %}" + "{% endfor %}" * 15


def test_nesting():
    bad, refused = [], 0
    with live.engine() as engine:
        for source in programs():
            template, error = live.reference_compile(source)
            text, error = (None, error) if template is None else live.reference_render(template, {"x": False})
            difference = live.difference(engine.ask(template=source, vars={"x": False}), text, error)
            refused += template is None
            if difference is not None:
                bad.append(f"{source[:40]}...{source[len(source) // 2 - 40:][:80]}: {difference[:200]}")
    assert refused > 20
    assert not bad, f"{len(bad)} programs differ:\n" + "\n".join(bad[:20])
