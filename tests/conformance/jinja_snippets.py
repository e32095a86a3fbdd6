"""Small templates, one construct each, for the comparison with the reference. VARIABLES are what
they see beside what they set themselves."""
import itertools

VARIABLES = {
    "n": 5, "neg": -3, "zero": 0, "f": 2.5, "big": 12345678901234567890123, "t": True, "no": None,
    "s": "Hello", "e": "", "u": "naïve é数🙂", "sp": "  x \n", "l": [3, 1, 2], "el": [], "nested": [[1, 2], [3, [4]]],
    "d": {"a": 1, "b": [1, 2], "items": "key", "é": "ü"}, "ed": {}, "tree": [{"v": 1, "c": [{"v": 2, "c": []}, {"v": 3, "c": [{"v": 4, "c": []}]}]}, {"v": 5, "c": []}],
    "users": [{"name": "Ann", "age": 3}, {"name": "bob", "age": 1}, {"name": "Cy", "age": 2}],
    "pairs": [[1, "a"], [2, "b"]],
}

LITERALS = [
    "1", "0", "-7", "2.5", "-0.0", "1e22", "true", "false", "none", "'ab'", "''", "'é🙂'", "[1, 2]", "[]", "(1, 'x')", "()", "{'a': 1}", "{}",
    "missing", "n", "big", "9223372036854775807", "l", "d", "range(3)", "('<' | safe)", "'%s'", "u",
]
BINARY = ["+", "-", "*", "/", "//", "%", "==", "!=", "<", ">=", "in", "not in", "and", "or", "~"]
UNARY = ["-", "+", "not "]

TEXT = """
{{ 2 ** 3 ** 2 }}|{{ -2|abs }}|{{ - 3 ** 2 }}|{{ 2 ** -1 }}|{{ 0 ** 0 }}
{{ 10 ** 30 }}|{{ (-7) // 2 }}|{{ -7 % 3 }}|{{ 7 % -3 }}|{{ 7.5 // 2 }}|{{ -7.5 % 2 }}
{{ 9223372036854775807 + 1 }}|{{ -9223372036854775807 - 2 }}|{{ 9223372036854775807 * 3 }}
{{ 1 + 2 ~ 3 + 4 }}|{{ 1 ~ 2 * 3 }}|{{ 'a' ~ none ~ true ~ 1.0 ~ missing }}
{{ 1 < 2 < 3 }}|{{ 1 < 3 < 2 }}|{{ 3 > 2 == 2 }}|{{ 1 in [1] in [[1]] }}|{{ 'a' < 'b' < 'c' }}
{{ not 1 == 2 }}|{{ not not 1 }}|{{ not x is defined }}|{{ not s is string }}
{{ 1 if t else 2 }}|{{ 1 if missing }}|{{ 1 if zero else 2 if e else 3 }}|{{ (1 if no) is defined }}
{{ (1 if no) + 1 }}
{{ (1 if no).x }}
{{ 'a' 'b' "c" }}|{{ '\\n' }}|{{ '\\q\\'' }}|{{ "\\x41\\u00e9\\U0001F642\\101" }}|{{ 'a\\
b' }}
{{ '\\é' }}|{{ "\\ü\\🙂" }}
{{ '\\x4' }}
{{ '\\U00110000' }}
{{ 1_000 }}|{{ 0x1f }}|{{ 0b101 }}|{{ 0o17 }}|{{ 1e3 }}|{{ 1.5e-3 }}|{{ 1_0.2_5 }}
{{ 0_0 }}|{{ 00 }}
{{ 012 }}
{{ l.0 }}|{{ l.1 }}|{{ nested.1.1.0 }}
{{ l.9 }}|{{ l[-1] }}|{{ l[5] }}|{{ l['x'] }}|{{ s[0] }}|{{ s[-9] }}|{{ u[-1] }}
{{ d.a }}|{{ d['a'] }}|{{ d.items }}|{{ d['items'] }}|{{ d.nope }}|{{ d['nope'] }}|{{ d.é }}
{{ d.nope.x }}
{{ d[[]] }}|{{ d[none] }}|{{ d[1] }}
{{ none.x }}|{{ (5).x }}|{{ 's'.nope }}|{{ l.nope }}
{{ missing.x }}
{{ missing[0] }}
{{ missing() }}
{{ s() }}
{{ none() }}
{{ l[1:] }}|{{ l[:-1] }}|{{ l[::-1] }}|{{ l[::2] }}|{{ l[5:] }}|{{ l[-2:] }}|{{ l[2:0:-1] }}|{{ u[1:4] }}|{{ u[::-1] }}|{{ s[1:][:2] }}
{{ l[none:none:none] }}|{{ l[true:] }}
{{ l[::0] }}
{{ d[1:] }}
{{ no[1:] }}
{{ none[1:] }}
{{ 5[1:] }}|{{ none[1:] ~ 'a' }}|{{ {}[1:] }}
{{ none[1:] ~ n }}
{{ (0.5)[:1] ~ (l|tojson) }}
{{ 5[1:] if n else 6[1:] }}
{{ (5[1:] ~ 'a') ~ n }}
{{ ('a' ~ 5[1:]) if n }}
{{ missing[1:] }}
{{ n[1:] }}
{{ l['a':] }}
{{ (1, 2)[1:] }}|{{ (1, 2, 3)[::-1] }}|{{ range(10)[2:5] }}|{{ range(10)[::-2] }}|{{ range(10)[::3]|list }}
{{ l[1, 2] }}|{{ d[1, 2] }}
{{ [1, 2, ] }}|{{ (1, ) }}|{{ {'a': 1, } }}|{{ () }}|{{ 1, 2 }}|{{ (1) }}
{{ {1: 'a', 1.0: 'b', true: 'c'} }}|{{ {'a': 1, 'a': 2} }}
{{ {[]: 1} }}
{% set x = {[]: 1} %}
{% if false %}{{ {[]: 1}|length }}{% endif %}ok
{% if false %}{% set x = {[]: 1} %}{% endif %}ok
{{ [missing, none, true, 'a"', "b'", 1.0] }}
{{ {'x': missing, 'y': [missing]} }}
{{ s|upper|lower|title }}|{{ -1|abs }}|{{ l|length - 1 }}|{{ l|sort|join('-') }}
{{ s is string and l is iterable }}|{{ 3 is divisibleby 3 }}|{{ 4 is divisibleby(3) }}|{{ 1 is sameas 1 }}
{{ n is odd or n is even }}|{{ none is none }}|{{ missing is not defined }}|{{ s is not none and s }}
{{ n is divisibleby 2 + 3 }}
{{ s is string is defined }}
{{ x is defined if y else z }}
{{ s is in ['Hello'] }}|{{ 1 is in [1] }}|{{ 'a' is eq 'a' }}|{{ 3 is gt 2 }}
{% set x = 1 %}{{ x }}{% set x = x + 1 %}{{ x }}
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set a, b = b, a %}{{ a }}{{ b }}
{% set a, (b, c) = 1, (2, 3) %}{{ a }}{{ b }}{{ c }}
{% set a, b = [1, 2, 3] %}
{% set a, b = [1] %}
{% set a, b = 5 %}
{% set a, b = 'xy' %}{{ a }}{{ b }}
{% set (a) = 1 %}{{ a }}
{% set a, = [1] %}{{ a }}
{% set 1 = 2 %}
{% set a.b = 2 %}
{% set true = 2 %}
{% set x %}a{{ n }}b{% endset %}{{ x }}|{{ x is string }}|{{ x|length }}
{% set x | upper %}a{{ s }}b{% endset %}{{ x }}
{% set x | upper | replace('A', 'z') %}a{{ s }}b{% endset %}{{ x }}
{% set x | length %}abc{% endset %}{{ x + 1 }}
{% set x %}{% set y = 1 %}{{ y }}{% endset %}{{ x }}{{ y }}
{% set x | replace(s, n) %}abc{% endset %}{{ x }}
{% set ns = namespace(a=1) %}{% set ns.a = 2 %}{% set ns.b = 3 %}{{ ns.a }}{{ ns.b }}{{ ns.c }}{{ ns }}
{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a + ns.b }}{{ ns['a'] }}{{ ns.zzz is defined }}
{% set ns = namespace() %}{% set ns.a, ns.b = 1, 2 %}{{ ns.a }}{{ ns.b }}
{% set ns = namespace() %}{% set ns.a, x = 1, 2 %}{{ ns.a }}{{ x }}
{% set d.x = 1 %}
{% set missing.x = 1 %}
{% set ns = namespace(_x=1) %}
{% set ns = namespace() %}{% set ns._x = 1 %}
{% set ns = namespace(a=[]) %}{% for i in l %}{% set ns.a = ns.a + [i] %}{% endfor %}{{ ns.a }}
{% set ns = namespace(items=1) %}{{ ns.items }}
{% set ns = namespace(x=1) %}{{ ns.__class__ }}|{{ ns.x.__class__ }}
{% set x = 1 %}{% if t %}{% set x = 2 %}{% endif %}{{ x }}
{% if no %}{% set x = 2 %}{% endif %}{{ x }}|{{ x is defined }}
{% if no %}{% set n = 2 %}{% endif %}{{ n }}
{% if t %}{% set n = 2 %}{% endif %}{{ n }}
{% if t %}{% set n = 2 %}{% else %}{% set q = 3 %}{% endif %}{{ n }}{{ q is defined }}
{% if no %}a{% elif zero %}b{% elif s %}c{% else %}d{% endif %}
{% if no %}{% elif t %}{% set z = 1 %}{% endif %}{{ z }}
{% if l %}a{% endif %}{% if el %}b{% endif %}{% if missing %}c{% endif %}{% if 1, %}d{% endif %}
{% for x in l %}{{ x }}{% endfor %}|{{ x is defined }}
{% set x = 9 %}{% for x in l %}{{ x }}{% endfor %}{{ x }}
{% for x in l %}{% set y = x %}{{ y }}{% endfor %}{{ y is defined }}
{% set y = 0 %}{% for x in l %}{{ y }}{% set y = y + x %}{{ y }};{% endfor %}{{ y }}
{% for x in l %}{% if x == 1 %}{% set y = 'one' %}{% endif %}{{ y is defined }}{% endfor %}
{% set y = 'out' %}{% for x in l %}{% if x == 1 %}{% set y = 'one' %}{% endif %}{{ y }}{% endfor %}{{ y }}
{% for x in l %}{% for y in l %}{{ x * y }}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}
{% for x in el %}a{% else %}none{% endfor %}
{% for x in l %}a{% else %}none{% endfor %}
{% for x in missing %}a{% else %}none{% endfor %}
{% for x in l %}{% continue %}{% else %}E{% endfor %}
{% for x in l %}{% break %}{% else %}E{% endfor %}
{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% else %}E{% endfor %}
{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}
{% for x in l %}{% for y in el %}{% else %}{% break %}{% endfor %}{{ x }}{% endfor %}|
{% for x in l %}{% for y in el %}{% else %}{% continue %}{% endfor %}{{ x }}{% endfor %}|
{% for x in none %}a{% endfor %}
{% for x in 5 %}a{% endfor %}
{% for x in n %}a{% endfor %}
{% for x in u %}{{ x }},{% endfor %}
{% for x in d %}{{ x }},{% endfor %}
{% for k, v in d.items() %}{{ k }}={{ v }},{% endfor %}
{% for k, v in d|items %}{{ k }}={{ v }},{{ loop.first }}{% endfor %}
{% for k, v in pairs %}{{ k }}{{ v }}{% endfor %}
{% for k, (v, w) in [(1, (2, 3))] %}{{ k }}{{ v }}{{ w }}{% endfor %}
{% for k, v in l %}{{ k }}{% endfor %}
{% for a, in [[1], [2]] %}{{ a }}{% endfor %}
{% for (a, b) in pairs %}{{ a }}{% endfor %}
{% for x in l if x > 1 %}{{ x }}{{ loop.index }}{{ loop.last }}{{ loop.length }}{% endfor %}
{% for x in l if x > 5 %}{{ x }}{% else %}none{% endfor %}
{% for k, v in pairs if k > 1 %}{{ k }}{{ v }}{{ loop.previtem }}{% endfor %}
{% for k, v in pairs if k %}{{ loop.previtem }}{{ loop.nextitem }}{% endfor %}
{% for x in l if loop.index > 1 %}{{ x }}{% endfor %}
{% for x in l if x is odd %}{{ loop.revindex }}{{ loop.last }}{% endfor %}
{% set ns = namespace(c=0) %}{% for x in range(6) if x > ns.c %}{% set ns.c = ns.c + 2 %}{{ x }},{{ ns.c }};{% endfor %}
{% set ns = namespace(c=0) %}{% for x in range(6) if x > ns.c %}{{ loop.last }}{% set ns.c = ns.c + 2 %}{{ x }},{{ ns.c }};{% endfor %}
{% set ns = namespace(c=0) %}{% for x in range(6) if x > ns.c %}{{ loop.length }}{% set ns.c = ns.c + 2 %}{{ x }},{{ ns.c }};{% endfor %}
{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }};{% endfor %}
{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }};{% endfor %}
{% for x in l %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }}{% endfor %}
{% for x in l %}{{ loop.previtem.x }}{% endfor %}
{% for x in l %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 1) }}{% endfor %}
{% for x in l %}{{ loop.cycle() }}{% endfor %}
{% for x in l %}{{ loop }}{% endfor %}
{% for x in l %}{{ loop.nope }}{{ loop['index'] }}{{ loop|length }}{{ loop._length }}{% endfor %}
{% for x in l %}{{ loop(l) }}{% endfor %}
{% for x in l %}{% set loop = 1 %}{% endfor %}
{% for loop in l %}{{ loop }}{% endfor %}
{{ loop }}|{{ loop is defined }}
{% for x in users|map(attribute='name') %}{{ loop.index }}{{ x }}{{ loop.last }}{% endfor %}
{% for x in users|map(attribute='name') %}{{ loop.length }}{{ loop.index }}{{ x }}{{ loop.last }}{% endfor %}
{% for n in tree recursive %}{{ n.v }}[{{ loop(n.c) }}]{{ loop.depth }}{% endfor %}
{% for n in tree recursive %}{{ loop.index }}{{ loop.depth0 }}{% if n.c %}({{ loop(n.c) }}){% endif %}{% else %}E{% endfor %}
{% for n in tree recursive %}{% for x in l %}{{ loop.index }}{{ x }}{{ loop.depth }}{% endfor %}{{ loop(n.c) if n.c }}{% endfor %}
{% for n in tree if n.v > 1 recursive %}{{ n.v }}{{ loop(n.c) }}{% endfor %}
{% for n in tree recursive %}{% for x in l %}{{ loop(l) }}{% endfor %}{% endfor %}
{% for n in tree recursive %}{% if n.v == 1 %}{% break %}{% endif %}{{ n.v }}{% endfor %}x
{% macro m(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}|{{ m(1, 3) }}|{{ m(1, c=5) }}|{{ m(b=1, a=2) }}|{{ m() }}
{% macro m(a) %}{{ a is defined }}{{ a }}{% endmacro %}{{ m() }}{{ m(missing) }}{{ m(none) }}
{% macro m(a) %}{{ a + 1 }}{% endmacro %}{{ m() }}
{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}
{% macro m(a) %}{% endmacro %}{{ m(b=2) }}
{% macro m(a=b, b=1) %}{{ a }}{{ b }}{% endmacro %}{{ m() }}{{ m(1) }}
{% macro m(a=missing) %}{{ a is defined }}{% endmacro %}{{ m() }}
{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}{{ m() }}
{% macro m(a) %}{{ a }}{{ varargs|join(',') }}{% endmacro %}{{ m(1, 2, 3) }}
{% macro m(a, kwargs) %}{{ kwargs }}{% endmacro %}{{ m(1, 2) }}
{% macro m() %}{% set kwargs = 1 %}{{ kwargs }}{% endmacro %}{{ m() }}{{ m(x=1) }}
{% macro m(a, a) %}{% endmacro %}
{% macro m(a=1, b) %}{% endmacro %}
{% macro m(x) %}{{ x }}{% if x > 0 %}{{ m(x - 1) }}{% endif %}{% endmacro %}{{ m(5) }}
{% macro f(x) %}{{ g(x) }}{% endmacro %}{% macro g(x) %}<{{ x }}>{% endmacro %}{{ f(1) }}
{{ m() }}{% macro m() %}{% endmacro %}
{% macro m() %}{{ later }}{% endmacro %}{% set later = 1 %}{{ m() }}{% set later = 2 %}{{ m() }}
{% macro m() %}{{ n }}{% set n = 7 %}{{ n }}{% endmacro %}{{ m() }}{{ n }}
{% set n = 1 %}{% macro m() %}{{ n }}{% set n = 7 %}{{ n }}{% endmacro %}{{ m() }}{{ n }}
{% macro m() %}{{ x }}{% endmacro %}{% for x in l %}{{ m() }}{% endfor %}
{% for x in l %}{% macro m() %}{{ x }}{{ loop.index }}{% endmacro %}{{ m() }}{% endfor %}
{% for x in l %}{% macro m() %}{{ x }}{% endmacro %}{% endfor %}{{ m is defined }}
{% if t %}{% macro m() %}M{% endmacro %}{% endif %}{{ m() }}
{% macro m() %}a{% endmacro %}{{ m() + 'x' }}{{ m()|upper }}{{ m() == 'a' }}{{ m() is string }}{{ m }}{{ m.name }}{{ m.arguments }}{{ m.catch_kwargs }}
{% macro m() %}{% endmacro %}{% if m() %}a{% else %}b{% endif %}
{% macro outer() %}{% macro inner() %}I{{ n }}{% endmacro %}{{ inner() }}{% endmacro %}{{ outer() }}{{ inner is defined }}
{% macro outer(q) %}{% macro inner() %}I{{ q }}{% set q = 2 %}{% endmacro %}{{ inner() }}{{ q }}{% endmacro %}{{ outer(5) }}
{% macro outer(q) %}{% macro inner() %}I{{ q }}{% endmacro %}{{ inner() }}{% set q = 2 %}{{ inner() }}{% endmacro %}{{ outer(5) }}
{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}x{{ n }}{% endcall %}
{% macro m() %}{{ caller(1, b=2) }}{% endmacro %}{% call(a, b) m() %}{{ a }}{{ b }}{% endcall %}
{% macro m() %}{{ caller(1) }}{% endmacro %}{% call(a, b=n) m() %}{{ a }}{{ b }}{% endcall %}
{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}
{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}{% call m() %}{% endcall %}
{% macro m() %}x{% endmacro %}{% call m() %}y{% endcall %}
{% macro m(caller) %}{{ caller() }}{% endmacro %}{% call m() %}y{% endcall %}
{% macro m(caller=none) %}{{ caller is none }}{% endmacro %}{{ m() }}{% call m() %}y{% endcall %}
{% macro m(a) %}{{ a }}{{ caller() }}{% endmacro %}{% for x in l %}{% call m(x) %}{{ x }}{{ loop.index }}{% set q = x %}{{ q }}{% endcall %}{% endfor %}
{% call range(3) %}{% endcall %}
{% call s.upper() %}{% endcall %}
{% call n %}{% endcall %}
{% macro m() %}{{ caller() }}{% endmacro %}{% set y = 1 %}{% call m() %}{% set y = 2 %}{{ y }}{% endcall %}{{ y }}
{% macro m() %}{% set ns.f = caller %}{% endmacro %}{% set ns = namespace() %}{% call m() %}late{{ n }}{% endcall %}{{ ns.f() }}
{% filter upper %}a{{ s }}b{% endfilter %}
{% filter replace('a', 'b')|upper %}aaa{% set z = 1 %}{{ z }}{% endfilter %}{{ z }}
{% filter length %}abc{% endfilter %}
{% for x in l %}{% filter upper %}a{{ x }}{% if x == 1 %}{% break %}{% endif %}{% endfilter %}{% endfor %}|
{% for x in l %}{% set q %}a{{ x }}{% if x == 1 %}{% continue %}{% endif %}{% endset %}{{ q }}{% endfor %}|
{% with %}{% set a = 1 %}{{ a }}{% endwith %}{{ a }}
{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}
{% with a = 1, b = a %}{{ b is defined }}{% endwith %}
{% with n = n + 1 %}{{ n }}{% endwith %}{{ n }}
{% with a, b = (1, 2) %}{{ a }}{{ b }}{% endwith %}
{% block x %}b{{ n }}{% set n = 3 %}{{ n }}{% endblock %}{{ n }}
{% set q = 1 %}{% block x %}{{ q }}{% endblock %}{{ self.x() }}
{% for x in l %}{% block b %}{{ x }}{% endblock %}{% endfor %}
{% for x in l %}{% block b scoped %}{{ x }}{{ loop.index }}{% endblock %}{% endfor %}
{% for x in l %}{% if x == 1 %}{% set n = 7 %}{% endif %}{% block b scoped %}{{ x }}{{ n }}{% endblock %}{% endfor %}
{% block a %}{% block b %}x{% endblock %}y{% endblock %}{{ self.b() }}{{ self.a()|upper }}
{% block a %}{{ super() }}{% endblock %}
{% block a %}{{ super }}{{ super is defined }}{{ self.a.super }}{% endblock %}
{% block a required %}{% endblock %}
{% block a required %}x{% endblock %}
{% block a %}{% endblock a %}|{% block b %}x{% endblock c %}
{% block a %}{% endblock %}{% block a %}{% endblock %}
{% block a-b %}{% endblock %}
{{ self.nope }}|{{ self['x'] }}{% block x %}{% endblock %}
{% macro m() %}{{ self.x() }}{% endmacro %}{% block x %}X{% endblock %}{{ m() }}
{% raw %}{{ n }}{% endraw %}|{% raw -%}  a  {%- endraw %}|{%- raw %} b {% endraw -%}  c
{% raw %}
{% raw %}x
{# c #}a{#- d -#}  b{# e
{# e
{##}x{# {{ }} {% #}
a  {{- n -}}  b
a  {%- if t -%}  b  {%- endif -%}  c
a
  {% if t %}
  b
  {% endif %}
c
a
  {%+ if t +%}
  b
  {%+ endif %}
 {# x #}
   {# y #} z
   {{ n }}
	{% set x = 1 %}	{{ x }}
{% for x in l %}
{{ x }}
{%- endfor %}

x{% set a = 1 -%}

   y
{% autoescape true %}{{ '<' }}{{ '<'|safe }}{{ s ~ '<' }}{{ '<a>' ~ ('<'|safe) }}{% set x %}<{{ '<' }}{% endset %}{{ x }}{% endautoescape %}{{ '<' }}
{% autoescape false %}{{ '<' }}{% endautoescape %}
{% autoescape t %}{{ '<' }}{{ '<'|safe }}{{ s ~ '<' }}{% set x %}<{{ '<' }}{% endset %}{{ x }}{% endautoescape %}{{ '<' }}
{% autoescape no %}{{ '<' }}{% endautoescape %}
{{ namespace }}{{ [cycler, joiner] }}
{{ self }}{{ [self] }}{% block b %}{{ self }}{% endblock %}
{% autoescape t %}{{ '<' ~ ('<'|safe) }}{{ ('<'|safe) ~ 'x' }}{{ ('<'|e) ~ ('<'|e) }}{{ (('<'|safe) ~ '') is escaped }}{% endautoescape %}
{% autoescape no %}{{ '<' ~ ('<'|safe) }}{{ (('<'|safe) ~ '') is escaped }}{% endautoescape %}
{% macro m() %}<b>{{ '<' }}{% endmacro %}{% autoescape true %}{{ m() }}{{ m() is escaped }}{% endautoescape %}{{ m() is escaped }}
{% autoescape true %}{% macro m() %}<b>{{ '<' }}{% endmacro %}{{ m() }}{% filter upper %}<a>{{ '<' }}{% endfilter %}{% endautoescape %}
{% for x in l %}{% autoescape true %}{% break %}{% endautoescape %}{% endfor %}{{ '<' ~ x }}{{ l|join('<') }}
{% autoescape true %}{% for n in tree recursive %}<{{ '<' }}{{ loop(n.c) }}{% endfor %}{% endautoescape %}
{% include 'x' %}
{% include 'x' ignore missing %}
{% include [] ignore missing %}|{% include none ignore missing %}|{% include zero ignore missing %}
{% include [] %}
{% include ['a'] ignore missing %}
{% include missing ignore missing %}
{% import 'x' as y %}
{% from 'x' import y %}
{% from 'x' import y, z as w with context %}
{% from 'x' import _y %}
{% extends 'x' %}
a{% extends 'x' %}{{ 1|nope }}
{% if no %}{% extends 'x' %}{% endif %}b{{ n }}
{% for x in l %}{% extends 'x' %}{% endfor %}
{% if no %}{% include 'x' %}{% import 'x' as y %}{% from 'x' import z %}{% endif %}ok{{ y is defined }}
{% print n, s %}|{% print 'a' %}
{% do l.append(1) %}
{% trans %}x{% endtrans %}
{% debug %}
{% nope %}
{% endif %}
{% if t %}
{% if t %}{% endfor %}
{% for x in %}{% endfor %}
{% for in l %}{% endfor %}
{% if %}{% endif %}
{% if t: %}a{% endif %}
{% break %}
{% continue %}
{% if t %}{% break %}{% endif %}
{% for x in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}
{{ }}
{{ n
{{ n }
{{ n }}}}
{{ {'a': {'b': 1}}.a.b }}|{{ {'a': {}}}}
{{ (n }}
{{ n) }}
{{ [n }}
{{ n ] }}
{{ n $ }}
{{ n ! }}
{{ n & }}
{{ ² }}
{{ é }}|{% set é = 1 %}{{ é }}
{{ 'abc }}
{{ n | }}
{{ n. }}
{{ n.1.2 }}
{{ n is }}
{{ n is not }}
{{ not }}
{{ * }}
{{ if }}|{{ for }}|{{ in }}
{{ n if }}
{{ n if t else }}
{{ f(n for n in l) }}
{{ s|nope }}
{% if no %}{{ s|nope }}{% endif %}ok
{% if t %}{{ s|nope }}{% endif %}ok
{% if no %}{% for x in l %}{{ x|nope }}{% endfor %}{% endif %}ok
{{ (s|nope) if no else 'ok' }}
{{ (s|nope) if t else 'ok' }}
{{ false and (s|nope) }}|{{ true or (s|nope) }}
{{ 'a' if true else ('x'|nope) }}
{{ no and (s|nope) }}
{{ s is nope }}
{% if s is nope %}{% endif %}
{% if no %}{{ s is nope }}{% endif %}ok
{% if no %}{% macro m() %}{{ s|nope }}{% endmacro %}{% endif %}ok
{% if no %}{% set x %}{{ s|nope }}{% endset %}{% endif %}ok
{% if no %}{% filter nope %}{% endfilter %}{% endif %}ok
{{ s|a.b }}
{{ dict(a=1, b=2) }}|{{ dict([('a', 1)]) }}|{{ dict.fromkeys(['a'], 1) }}
{{ range(3)|list }}|{{ range(1, 10, 4)|list }}|{{ range(3) }}|{{ range(0) is iterable }}
{{ range(200000) }}
{{ raise_exception('boom ' ~ n) }}
{{ s.foo(raise_exception('x')) }}|{{ missing.foo(raise_exception('x')) }}
{{ missing.foo(n) }}
{{ s.upper(raise_exception('y')) }}
{{ s.split('l', maxsplit=1) }}|{{ s.split(*['l']) }}|{{ s.split(**{'sep': 'l'}) }}|{{ s.split('l', *[1]) }}
{{ s.split(1) }}
{{ s.upper(1) }}
{{ s.nope() }}
{{ d.get('a') }}|{{ d.get('zz') }}|{{ d.get('zz', 5) }}|{{ d.keys()|list }}|{{ d.values()|list }}|{{ d.items()|list }}
{{ d.pop('a') }}
{{ d.pop }}|{{ d.update is defined }}|{{ l.append }}
{{ l.append(1) }}
{{ l.sort() }}
{{ d.__class__ }}|{{ s.__class__ is defined }}|{{ s['__class__'] }}
{{ s.__class__.__mro__ }}
{{ s._private }}|{{ d._private }}
{% set dd = {'_x': 1, '__y': 2} %}{{ dd._x }}{{ dd['_x'] }}{{ dd.__y }}
{{ f(x=1, x=2) }}
{{ dict(class=1, if=2) }}|{{ dict(class=1, class=2) }}
{{ dict(a=1, **{'b': 2}) }}|{{ dict(**{'a': 1}) }}
{{ dict(a=1, **{'a': 2}) }}
{{ dict(**[1]) }}
{{ dict(**{1: 2}) }}
{{ dict(*5) }}
{{ dict(**missing) }}|{{ dict(*missing) }}
{{ dict(a=1, 2) }}
{{ namespace }}|{{ range }}|{{ dict is callable }}|{{ s is callable }}|{{ missing is callable }}
{% set range = 5 %}{{ range }}
{{ s % n }}
{{ '%s-%d' % ('a', 3) }}|{{ '%s' % missing }}|{{ '%s' % [1] }}
{{ '%d' % 'a' }}
{{ '%s %s' % 'a' }}
{{ ('<'|safe) + '<' }}|{{ '<' + ('<'|safe) }}|{{ ('<'|safe) ~ '<' }}|{{ ('%s'|safe) % '<' }}|{{ ('<'|safe) * 2 }}|{{ [('<'|safe)] }}
{{ ('ab'|safe)[0] is escaped }}|{{ ('<'|safe) + n }}
{{ 'a' in s }}|{{ 'H' in s }}|{{ '' in s }}|{{ 'a' in d }}|{{ 1 in d }}|{{ 3 in l }}|{{ [] in nested }}|{{ 1 in missing }}
{{ 1 in s }}
{{ none in s }}
{{ missing in s }}
{{ 1 in none }}
{{ 1 in 5 }}
{{ [] in d }}
{{ missing in d }}|{{ missing in [missing] }}|{{ missing == missing2 }}|{{ missing == none }}|{{ missing != 1 }}
{{ missing + 1 }}
{{ 1 + missing }}
{{ -missing }}
{{ missing < 1 }}
{{ 1 < missing }}
{{ missing|int }}
{{ missing ~ 1 }}|{{ missing|default('d') }}|{{ missing|length }}|{{ missing or 1 }}|{{ missing and 1 }}
{{ [1, 2] == [1.0, 2.0] }}|{{ (1, 2) == [1, 2] }}|{{ {'a': [1]} == {'a': [1.0]} }}|{{ '1' == 1 }}|{{ 1 == true }}|{{ none == false }}
{{ [1, 2] < [1, 3] }}|{{ [1] < [1, 0] }}|{{ (1, 'a') < (1, 'b') }}|{{ 'a' < 'B' }}|{{ 1 < 1.5 }}|{{ big > 1e30 }}|{{ big == big + 0 }}
{{ [1, 'a'] < [1, 2] }}
{{ {} < {} }}
{{ 1e308 * 10 }}|{{ 1e999 }}|{{ -1e999 }}|{{ 1e999 - 1e999 }}
{% set x = 1e999 %}{{ x }}
{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 1 % 0 }}
{{ 1.0 / 0 }}
{{ 0 ** -1 }}
{{ n / 2 }}|{{ 4 / 2 }}|{{ 7 // 2.0 }}|{{ -0.0 }}|{{ 0.1 + 0.2 }}|{{ 1e16 }}|{{ 123456789012345680.0 }}|{{ 1e-7 }}
{{ 9007199254740993 / 1 }}|{{ 9223372036854775807 / 3 }}|{{ 1 / 3 }}|{{ big / 7 }}
{{ big * big }}|{{ big // 1000 }}|{{ big % 1000 }}|{{ -big // 7 }}|{{ big - big }}|{{ big ** 3 }}|{{ big == big * 1.0 }}
{{ true + true }}|{{ -true }}|{{ +true }}|{{ true * 3 }}|{{ true ~ 1 }}
{{ -s }}
{{ +none }}
{% generation %}a{{ n }}{% set n = 9 %}{% endgeneration %}{{ n }}
{% generation %}a{% generation %}b{% endgeneration %}c{% endgeneration %}
{% for x in l %}{% generation %}{{ x }}{{ loop.index }}{% endgeneration %}{% endfor %}
{% macro m() %}pre{% generation %}gen{% endgeneration %}post{% endmacro %}ab{{ m() }}é{{ m() }}
é{% set q %}x{% generation %}y🙂{% endgeneration %}{% endset %}z{{ q }}
{% generation %}{{ kwargs }}{{ varargs }}{{ caller is defined }}{% endgeneration %}
{% filter upper %}a{% generation %}b{% endgeneration %}{% endfilter %}
"""

# Escapes of string literals, good ones and bad ones.
ESCAPES = [
    "\\N{DIGIT ONE}\\N{latin small letter e with acute}|\\N{PILE OF POO}", "\\N{NULL}", "\\N{LF}|\\N{NEW LINE}",
    "\\N{CJK UNIFIED IDEOGRAPH-4E00}\\N{HANGUL SYLLABLE GAG}", "\\N{hangul syllable gag}", "\\N{CJK UNIFIED IDEOGRAPH-4e00}",
    "\\N{LATIN SMALL LETTER A WITH MACRON AND GRAVE}", "\\N{nosuch}", "\\N", "\\N{}", "\\N{DIGIT ONE", "\\N{DIGIT ONE\\}", "\\N{é}",
    "\\N{DIGIT  ONE}", "\\NX", "\\n{DIGIT ONE}", "\\x4", "\\xg0", "\\u123", "\\U0010FFFF", "\\U00110000", "\\U0000", "\\8\\q\\é\\777", "\\\\N{x}",
]


def lines():
    """The snippets of TEXT; a line that opens something continues on indented or plain lines after
    it, which the list keeps simple by writing them as separate templates too."""
    for line in TEXT.strip("\n").split("\n"):
        yield line
    yield from MULTILINE
    for escape in ESCAPES:
        yield "{{ '%s' }}" % escape


MULTILINE = [
    "a\n  {% if t %}\n  b\n  {% endif %}\nc",
    "a\n  {%+ if t +%}\n  b\n  {%+ endif %}\nc\n",
    "  {# x #}\n   {# y #} z\n   {{ n }}\n\n",
    "\t{% set x = 1 %}\t{{ x }}\n",
    "{% for x in l %}\n{{ x }}\n{%- endfor %}\n\nx{% set a = 1 -%}\n\n   y\n\n",
    "a\r\n{% if t %}\r\nb\r{% endif %}\r\n{{ '\r\n' }}|{{ 'x\ny' }}\r\n",
    "{{ 'a\\\nb' }}",
    "\u00a0{% if t %}\u2003\n x{% endif %}\u2028{%- if t %}y{% endif %}",
    "x\n\u3000\u00a0{% if t %}y{% endif %}",
    "x\n \x1c\x85{% if t %}y{% endif %}",
    "{% raw %}\n a\n  {% endraw %}\nb",
    "  {% raw %}x\n  {%- endraw -%}\n  b",
    "{#\n multi\n#}\nx",
    "{# a +#}\nb {#+ c -#}\n d",
    "{{-\nn\n-}}\n\n",
    "{% if t -%}\n\n a \n\n{%- else -%} b {%- endif %}",
    "{% set x -%}  a  {%- endset %}[{{ x }}]",
    "{{ n }}\n",
    "{{ n }}\n\n",
    "\n{{ n }}",
    "",
    "\n",
    "{",
    "{ {",
    "{%",
    "{{",
    "{#",
    "{% raw",
    "a{",
    "}}%}#}",
    "{%- if t %}a{%- endif %}",
    "{{ n }}{%\nif\nt\n%}x{%\nendif\n%}",
    "{% if t %}a{% else %}b{% endif %}\n{% if no %}a{% else %}b{% endif %}\n",
    "{{ {'a':1}['a'] }}{{ [1,2][0] }}{{ 'x'*3 }}{{'}}'}}{{ '%}' }}",
]


def operators():
    for a, op, b in itertools.product(LITERALS, BINARY, LITERALS):
        yield "{{ %s %s %s }}" % (a, op, b)
    for op, a in itertools.product(UNARY, LITERALS):
        yield "{{ %s%s }}" % (op, a)
    for a in LITERALS:
        yield "{%% if %s %%}1{%% else %%}0{%% endif %%}{{ %s }}|{{ [%s] }}|{{ %s|string }}" % (a, a, a, a)
        yield "{%% for x in %s %%}{{ x }},{{ loop.last }};{%% endfor %%}" % a
        yield "{%% set a, b = %s %%}{{ a }}{{ b }}" % a
        yield "{{ %s|length }}" % a
        yield "{{ (%s).foo }}|{{ (%s)['a'] }}|{{ (%s)[0] }}" % (a, a, a)
        yield "{{ (%s)[1:] }}" % a
        yield "{{ (%s)() }}" % a
        for test in ("defined", "none", "string", "number", "integer", "float", "boolean", "mapping", "sequence", "iterable", "true", "callable"):
            yield "{{ %s is %s }}" % (a, test)


def snippets():
    yield from lines()
    yield from operators()
