"""One-construct templates for every built-in: each filter, test, global and method on receivers of
every type with arguments of many shapes, formats in all combinations, and hand-picked traps.

snippets(share) gives (group, template); share is the part of the combinations to take."""
import itertools
import random

# ---- receivers ----

STRINGS = [
    "''", "'abc'", "'Hello World'", "' padded\\t\\n'", "'\u00fcml\u00e4ut stra\u00dfe'", "'a,b,,c'", "'42'",
    "'-3.7'", "'1_000'", "'0x1F'", "'\u0661\u0662'", "'na\u00efve \u65e5\u672c \U0001f600'", "\"it's\"",
    "'one\\ntwo\\r\\n\\nthree\\n'", "'tab\\there'", "'<a href=\"x\">T&amp;C</a>'", "'\u01c6\u0130\u03a3 \u03a3\u03a3'",
    "'o\\'neill mc-donald (x) {y} [z] <w>'", "'aaa'", "'x=1&y=2'", "'\\x1c a\\u2003b \\x85'",
    "'\ufb01ne \u00bd \u00b2'", "'inf'", "'%s and %d'", "'{} {0} {a}'",
]
MARKUPS = ["('<b>x</b> & \"q\"'|safe)", "(''|safe)", "('Abc def'|safe)", "('%s|%r'|safe)", "('{}-{}'|safe)"]
INTS = ["0", "1", "-7", "42", "true", "false", "10000000000000000000000000", "-9223372036854775808"]
FLOATS = ["0.0", "2.5", "-3.75", "1e22", "1e-7", "0.1", "(1e308*10)", "(1e308*10-1e308*10)", "-0.0", "1e16"]
LISTS = [
    "[]", "[3,1,2]", "['b','A','c','a','B']", "[1,'a',none,2.0,true]", "[[1,2],[3],[1]]", "[1,2,3,4,5,6,7]",
    "[none,none]", "[1.5,1,true,0,false]", "users", "['x'|safe,'<y>']", "[{'a':1},{'a':2},{'b':3}]",
    "[('k',1),('j',2)]",
]
TUPLES = ["()", "(1,2,1)", "('x',)", "((1,'a'),(2,'b'))"]
DICTS = ["{}", "{'a':1,'B':2,'c':none}", "{'z':'x','Y':'w'}", "{1:2,'k':'v',none:3}", "{'class':'x y','id':nope}"]
OTHERS = [
    "none", "nope", "range(3)", "range(10,0,-3)", "([1,2,3]|map('string'))", "{'a':1}.items()", "{'a':1,'b':2}.keys()",
    "{'a':1}.values()", "namespace(a=1)", "cycler(1,2)", "joiner()", "range", "dict", "'x'.upper", "[1,2].append",
    "('ab'|reverse)", "([1,2]|reverse)", "('x'.encode())",
]
ALL = STRINGS + MARKUPS + INTS + FLOATS + LISTS + TUPLES + DICTS + OTHERS
ANY = [
    "''", "'abc'", "'<b>'|safe", "0", "3", "-2", "true", "2.5", "none", "nope", "[]", "[1,2]", "(1,2)", "{}", "{'a':1}",
    "10000000000000000000000000", "range(2)",
]

# ---- arguments of filters and tests: values that make sense, by parameter ----

ARGS = {
    "attr": ["'upper'", "'a'", "'items'", "'__class__'", "'real'", "'append'"],
    "batch": ["2", "3, 'x'", "0", "1, none", "2.0, 'f'", "-1, 0", "linecount=2"],
    "center": ["", "11", "width=4", "-1", "0"],
    "d": ["", "'x'", "'x', true", "boolean=true", "1, boolean=false", "default_value=5"],
    "default": ["", "'x'", "'x', true", "[], true", "default_value='y', boolean=true", "none"],
    "dictsort": ["", "true", "false, 'value'", "by='value'", "reverse=true", "false, 'key', true", "by='nope'"],
    "filesizeformat": ["", "true", "binary=true"],
    "float": ["", "1.5", "'x'", "default=none"],
    "format": ["", "1", "'a', 'b'", "1, 2, 3", "a=1", "1, a=2", "value=3"],
    "groupby": ["'a'", "0", "'city'", "'name', default='?'", "'city', case_sensitive=true", "attribute='age'",
                "'address.zip'", "'0'"],
    "indent": ["", "2", "width=1, first=true", "2, true, true", "'> '", "'<>'|safe", "3, blank=true", "0", "-1"],
    "int": ["", "7", "7, 16", "base=16", "default='x'", "0, 0", "0, 2", "0, 37", "none"],
    "join": ["", "', '", "d='-'", "'|', 'a'", "', ', attribute='name'", "5", "'<'|safe", "none", "',', 0"],
    "length": [""],
    "map": ["'upper'", "attribute='a'", "attribute='name', default='?'", "'int'", "'nofilter'", "", "'join', '-'",
            "attribute='a', default=1, x=2", "'default', 5", "attribute=0", "attribute='address.zip'",
            "'replace', 'a', 'b'", "5", "'round', method='floor'"],
    "max": ["", "true", "attribute='age'", "case_sensitive=true", "attribute=0"],
    "min": ["", "true", "attribute='age'", "case_sensitive=true", "attribute=0"],
    "reject": ["", "'odd'", "'equalto', 1", "'in', [1,2]", "'notest'", "'none'", "'gt', 1"],
    "rejectattr": ["'a'", "'a', 'equalto', 1", "'name', 'in', ['ann']", "", "'nope'", "0", "'city', 'undefined'"],
    "replace": ["'a', 'b'", "'a', 'b', 1", "'', '-'", "'', '-', 2", "'l', '<'|safe", "'x', 1", "1, 2", "'a', ''",
                "old='a', new='z', count=0", "'a', none, 1", "'a', 'b', -1", "'a'"],
    "round": ["", "1", "2, 'ceil'", "1, 'floor'", "method='ceil'", "-1", "0, 'common'", "none", "20", "'x'",
              "precision=3", "-2, 'floor'", "400", "-400", "0, 'weird'"],
    "select": ["", "'odd'", "'equalto', 1", "'string'", "'notest'", "'defined'", "'divisibleby', 2"],
    "selectattr": ["'a'", "'a', 'equalto', 1", "'name', 'in', ['ann']", "'age', 'gt', 30", "'nope'", "",
                   "'address.zip', 'defined'", "0, 'equalto', 'k'"],
    "slice": ["2", "3, 'x'", "0", "-1", "slices=2, fill_with=none", "2.0", "7"],
    "sort": ["", "true", "reverse=true", "case_sensitive=true", "attribute='age'", "attribute='city,name'",
             "attribute=0", "attribute='name', reverse=true", "attribute='nope'"],
    "sum": ["", "'age'", "attribute='a'", "start=10", "attribute='age', start=0.5", "start='x'", "start=[]", "0"],
    "tojson": ["", "true", "indent=2", "indent=0", "indent=-1", "indent='\t'", "separators=(',',':')",
               "sort_keys=true", "false, 1, (', ', ': '), true", "ensure_ascii=true, indent=1", "indent=true",
               "indent=1.5", "separators=none", "separators=',:'", "separators=[1,2]"],
    "trim": ["", "'a'", "chars=' b'", "none", "''", "1", "'\u00fc\u00e9'"],
    "truncate": ["", "5", "5, true", "5, true, ''", "5, false, '', 0", "9, end='..', leeway=0", "2", "length=8, leeway=1",
                 "3, true, '<'|safe, 0", "-1", "4, true, '\u2026', -1"],
    "unique": ["", "true", "attribute='a'", "attribute='city'", "case_sensitive=true"],
    "urlize": ["", "5", "nofollow=true", "target='_blank'", "rel='a b'", "extra_schemes=['ftp://']",
               "extra_schemes=['x']", "10, true, '<', 'r'"],
    "wordwrap": ["", "5", "width=3", "4, false", "6, wrapstring='<br>'", "5, break_on_hyphens=false", "0", "1", "2"],
    "xmlattr": ["", "false", "autospace=false"],
}
TEST_ARGS = {
    "divisibleby": ["2", "3", "0", "2.5", "'x'"],
    "in": ["[1,2,'abc']", "'Hello abc'", "{'a':1}", "none", "nope", "range(5)", "(1,)"],
    "sameas": ["none", "true", "false", "nope"],
}
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge", "==", "!=", "<", "<=", ">", ">=", "equalto", "greaterthan", "lessthan"]

METHOD_ARGS = {
    "center": ["", "9", "9, '*'", "9, '**'", "-1", "'x'", "9, 1", "9, '\u00e9'", "8, '<'", "10"],
    "count": ["'a'", "''", "'l', 3", "'a', 1, 2", "'a', -2", "1", "none", "2"],
    "encode": ["", "'ascii'", "'utf-8', 'strict'", "'latin-1'", "encoding='ascii', errors='replace'",
               "'ascii', 'backslashreplace'", "'ascii', 'xmlcharrefreplace'", "'utf-16'", "'ASCII', 'ignore'"],
    "endswith": ["'c'", "''", "('x','c')", "'c', 1", "'b', 0, 2", "1", "()", "'c', 9", "('d', 1)"],
    "expandtabs": ["", "4", "tabsize=2", "0", "-1"],
    "find": ["'l'", "''", "'z'", "'l', 3", "'l', -3, -1", "'', 99", "1", "'l', none, 4"],
    "format": ["", "1", "1, 2", "a=1", "'x', 'y', a='z'", "[1,2]", "'<', '>'|safe"],
    "format_map": ["", "{'a': 1}", "{'a':1}, 2", "[]", "a=1", "nope"],
    "get": ["'a'", "'zz'", "'zz', 5", "1", "[]", "", "none", "'a', 1, 2", "key='a'"],
    "index": ["'l'", "'z'", "''", "1", "2", "'a', 1", "1, 1", "1, 0, 1", "none", "1, none"],
    "isdisjoint": ["['a']", "['zz']", "{'a':2}", "5", "[('a',1)]"],
    "join": ["['a','b']", "'xyz'", "[1]", "[]", "{'k':1}", "5", "['<','>'|safe]", "('a',)", "[1,none]"],
    "ljust": ["9", "9, '.'", "0", "''"],
    "rjust": ["9", "9, '.'", "0", "9, '\u65e5'"],
    "lstrip": ["", "'a'", "'H \t'", "none", "1", "''"],
    "rstrip": ["", "'c'", "'d\\n\\t '", "none", "1", "''"],
    "strip": ["", "'abc'", "' x'", "none", "1", "''", "'\u00fce'"],
    "maketrans": ["{'a':'b'}", "'ab','xy'", "'ab','xy','c'", "{1:2}", "'a','bc'", "{'ab':1}", "5", "{'a':none}"],
    "partition": ["','", "' '", "''", "'zz'", "1"],
    "rpartition": ["','", "' '", "''", "'zz'", "1"],
    "removeprefix": ["'a'", "'He'", "''", "1"],
    "removesuffix": ["'c'", "'ld'", "''", "1"],
    "replace": ["'a','b'", "'a','b',1", "'','-'", "'','-',2", "'l',1", "'a','<'|safe", "'a','<'", "old='a',new='b'"],
    "rfind": ["'l'", "''", "'z'", "'l', 3", "'l', 0, 3"],
    "rindex": ["'l'", "'z'", "''"],
    "rsplit": ["", "','", "none, 1", "',', 1", "sep=',', maxsplit=2", "' '", "''", "1", "maxsplit=1", "', '"],
    "split": ["", "','", "none, 1", "',', 1", "sep=',', maxsplit=2", "' '", "''", "1", "maxsplit=1", "none, 0", "'a'",
              "'\\n'"],
    "splitlines": ["", "true", "keepends=true", "0", "1", "none"],
    "startswith": ["'a'", "''", "('x','H')", "'l', 2", "1", "()", "'a', -3"],
    "translate": ["{97:'b'}", "{97:none,98:120}", "'x'.maketrans('abc','xyz')", "[]", "5", "{}", "{108:'LL'}",
                  "nope", "{97:-1}"],
    "zfill": ["5", "0", "-1", "'a'", "10"],
    "fromkeys": ["['a','b']", "'xy', 0", "5", "[[]]"],
    "to_bytes": ["2, 'big'", "3, 'little', signed=true", "1, 'big'", "0, 'big'", "16, 'big', signed=true"],
    "from_bytes": ["'ab'.encode(), 'big'", "[1,2], 'little'", "'x', 'big'", "[255,254], 'big', signed=true"],
    "fromhex": ["'0x1.8p3'", "'-0x.1'", "'ff'", "'inf'", "'zz'", "'0x1p-1074'", "'1.fffffffffffff8p0'"],
    "decode": ["", "'ascii'", "'utf-8', 'strict'"],
    "hex": ["", "':'", "'-', 2"],
}
TYPED = {
    "str": (STRINGS + MARKUPS, "capitalize casefold center count encode endswith expandtabs find format format_map index "
            "isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper "
            "join ljust lower lstrip maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition "
            "rsplit rstrip split splitlines startswith strip swapcase title translate upper zfill unescape striptags "
            "escape"),
    "list": (LISTS, "append clear copy count extend index insert pop remove reverse sort"),
    "tuple": (TUPLES + ["([1,2]|groupby(0)|list)"], "count index grouper list"),
    "dict": (DICTS, "clear copy fromkeys get items keys pop popitem setdefault update values nothere"),
    "int": (INTS, "as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag numerator real to_bytes"),
    "float": (FLOATS, "as_integer_ratio conjugate fromhex hex imag is_integer real"),
    "range": (["range(3)", "range(10,0,-3)", "range(0)"], "count index start step stop"),
    "view": (["{'a':1,'b':2}.keys()", "{'a':1}.items()", "{'a':1}.values()"], "isdisjoint"),
    "bytes": (["'x\u00e9 Ab'.encode()", "''.encode()", "'it\\'s \\n'.encode()", "'a,b\\x1cc\\x0bd\\r\\ne'.encode()"],
              "decode hex capitalize center count endswith find isalnum isascii islower isspace istitle join ljust lower "
              "lstrip partition replace rindex rsplit split splitlines startswith strip swapcase title upper zfill"),
}

BYTE_ARGS = ["'a'.encode()", "''.encode()", "', '.encode()", "97", "'A'.encode(), 'z'.encode()", "8, '*'.encode()", "8",
             "('x'.encode(), 'i'.encode())", "['a'.encode(), 'b'.encode()]", "none, 1", "true", "300", "'b'.encode(), 1"]

# ---- formats ----

PERCENT_VALUES = ["0", "1", "-42", "true", "3.14159", "-0.5", "1e100", "10000000000000000000000000", "'text'", "'x'",
                  "'\u00fc\u65e5'", "none", "[1,'a']", "nope", "(1e308*10)", "'<b>'|safe", "65", "1114112", "'7'"]
PERCENT_FLAGS = ["", "-", "+", " ", "0", "#", "-0", "+0", "#0", " #"]
PERCENT_WIDTHS = ["", "1", "8", "12"]
PERCENT_PRECISIONS = ["", ".0", ".2", ".", ".10"]
PERCENT_TYPES = "diouxXeEfFgGcrsa%"
SPEC_VALUES = PERCENT_VALUES + ["-1.5", "1234567", "-1234567.891", "0.0", "-0.0", "1e16", "123456789012345680.0",
                                "0.00001", "{'a':1}", "(1,2)"]
SPEC_ALIGNS = ["", "<", ">", "^", "=", "*<", "0>", "\u00e9^", "_="]
SPEC_SIGNS = ["", "+", "-", " ", "z", "#", "+#", "z#"]
SPEC_WIDTHS = ["", "0", "5", "012", "20"]
SPEC_GROUPS = ["", ",", "_"]
SPEC_PRECISIONS = ["", ".0", ".3", ".12"]
SPEC_TYPES = ["", "d", "b", "o", "x", "X", "c", "n", "e", "E", "f", "F", "g", "G", "%", "s", "q"]

# ---- traps ----

TRAPS = [
    "{{ '%(a)s %(b)d'|format(a='x', b=2) }}", "{{ '%(a)s' % {'a': [1]} }}", "{{ '%(x' % {} }}", "{{ '%(a(b)c)s' % {'a(b)c': 1} }}",
    "{{ '%*d|' % (5, 42) }}", "{{ '%-*d|' % (5, 42) }}", "{{ '%.*f' % (2, 3.14159) }}", "{{ '%*d' % ('x', 1) }}",
    "{{ '%*d|' % (-6, 42) }}", "{{ '%' % 1 }}", "{{ '%5%|' % () }}", "{{ '%s' % () }}", "{{ '%s %s' % (1,) }}", "{{ 'x' % 1 }}",
    "{{ 'x' % [] }}", "{{ 'x' % {} }}", "{{ '%s' % [1] }}", "{{ '%ld %hd' % (1, 2) }}", "{{ '%y' % 1 }}", "{{ '%s' % nope }}",
    "{{ 'x' % nope }}", "{{ ('%s'|safe) % '<' }}", "{{ ('%s %s'|safe) % ('<', '<'|safe) }}", "{{ ('%d'|safe) % '5' }}",
    "{{ ('%x'|safe) % 255 }}", "{{ ('%(a)s'|safe) % {'a': '<'} }}", "{{ ('%r'|safe) % '<' }}", "{{ ('%c'|safe) % 'x' }}",
    "{{ ('%s'|safe) % [['<']] }}", "{{ ('%.1f'|safe) % '2.25' }}", "{{ ('%s'|safe) % {'a': '<'} }}",
    "{{ ('%a'|safe) % '\u00fc<' }}", "{{ '%a' % '\u00fc\U0001f600' }}", "{{ '%r' % '\u00fc\\n' }}", "{{ '%s' % ('x'|safe) }}",
    "{{ '{0[a]} {0.a} {1[0]} {2.real}'.format({'a': 5}, [7], 3) }}", "{{ '{a.b[c].d}'.format(a={'b': {'c': {'d': 1}}}) }}",
    "{{ '{0.__class__}'.format(1) }}", "{{ '{0.append}'.format([1]) }}", "{{ '{0[-1]}'.format([1,2]) }}", "{{ '{}{}'.format(1) }}",
    "{{ '{0}{}'.format(1) }}", "{{ '{}{0}'.format(1) }}", "{{ '{{}} {{{}}}'.format(1) }}", "{{ '{'.format() }}", "{{ '}'.format() }}",
    "{{ '{!r:>6}|{!s}|{!a}'.format('x', 'y', '\u00fc') }}", "{{ '{!x}'.format(1) }}", "{{ '{:{}}|'.format('x', 5) }}",
    "{{ '{:{w}.{p}f}'.format(3.14159, w=8, p=2) }}", "{{ '{:{:{}}}'.format(1, 2, 3) }}", "{{ '{0:{1:{2}}}'.format(1, 2, 3) }}",
    "{{ '{0[}'.format([1]) }}", "{{ '{0]}'.format([1]) }}", "{{ '{0[0]x}'.format([1]) }}", "{{ '{a b}'.format(**{'a b': 1}) }}",
    "{{ '{.real}'.format(1) }}", "{{ '{[0]}'.format([1]) }}", "{{ '{0.}'.format(1) }}", "{{ '{0!}'.format(1) }}", "{{ '{:'.format(1) }}",
    "{{ '{!r'.format(1) }}", "{{ '{a{b}'.format(a=1) }}", "{{ '{0!rx}'.format(1) }}", "{{ '{}'.format(nope) }}", "{{ '{:5}'.format(nope) }}",
    "{{ '{:5}'.format(none) }}", "{{ '{:5}'.format([]) }}", "{{ '{x}'.format_map({'x': 1}) }}", "{{ '{0}'.format_map({'0': 1}) }}",
    "{{ '{}'.format_map({}) }}", "{{ '{x}'.format_map(nope) }}", "{{ '{x}'.format_map([]) }}", "{{ ('{}'|safe).format('<') }}",
    "{{ ('{:>5}'|safe).format('<') }}", "{{ ('{:5}'|safe).format('x'|safe) }}", "{{ [('{}{a}'|safe).format('<'|safe, a='&')] }}",
    "{{ ('{!r}'|safe).format('<') }}", "{{ ('{a}'|safe).format_map({'a': '<'}) }}", "{{ '{}'.format('<'|safe) }}",
    "{{ [('a'|safe).join(['<', 1, none])] }}", "{{ [','.join(['x'|safe])] }}", "{{ [('a'|safe).center(7, '<')] }}",
    "{{ [('a<b'|safe).split('<')] }}", "{{ [('aXb'|safe).replace('X', '<')] }}", "{{ [('&lt;b&gt; &amp; &#39; &#x41; &nosuch; &copy'|safe).unescape()] }}",
    "{{ [('<p>Hi <!-- c --> <b>you</b> &amp; me'|safe).striptags()] }}", "{{ [('x'|safe).escape('<')] }}", "{{ [('ab'|safe)[0]] }}",
    "{{ '&#128; &#0; &#xD800; &#x110000; &#1; &notit; &not; &NotEqualTilde; &amp;lt; &#; &#x; &;'|striptags }}",
    "{{ '<a<b>c'|striptags }}", "{{ 'a < b > c <!-- d'|striptags }}", "{{ [('<i>'|safe)|striptags] }}",
    "{{ {'a<': 'b\"', 'c': none, 'd': nope, 'e': 5}|xmlattr }}", "{{ {'a b': 1}|xmlattr }}", "{{ {1: 1}|xmlattr }}", "{{ {}|xmlattr }}",
    "{{ [1,2]|sum ~ [0.1,0.2,0.3]|sum ~ [[1],[2]]|sum(start=[]) }}", "{{ ['a']|sum }}", "{{ [1,none]|sum }}",
    "{{ users|groupby('city')|tojson }}", "{% for c, l in users|groupby('city') %}{{ c }}:{{ l|map(attribute='name')|join(',') }};{% endfor %}",
    "{% for g in users|groupby('city') %}{{ g.grouper }}/{{ g.list|length }}/{{ g[0] }};{% endfor %}", "{{ users|groupby('city') }}",
    "{{ (users|groupby('city'))[0].nope is defined }}", "{{ users|groupby('nope')|length }}", "{{ users|groupby('age')|map('first')|list }}",
    "{{ users|sort(attribute='city,age')|map(attribute='name')|join }}", "{{ users|map(attribute='address.zip')|list }}",
    "{{ users|map(attribute='address.zip', default=0)|list }}", "{{ users|selectattr('address')|map(attribute='name')|list }}",
    "{{ none|map('upper')|list }}", "{{ 0|select|list }}", "{{ 5|map('upper')|list }}", "{% set x = 5|map('bad') %}ok", "{% set x = [1]|map('bad') %}ok",
    "{{ [1]|map('bad')|list }}", "{{ []|map('bad')|list }}", "{{ [1]|select('bad')|list }}", "{{ 5|items|list }}", "{% set x = 5|items %}ok",
    "{{ nope|items|list }}", "{{ none|items|list }}", "{{ [1,2]|map('string')|length }}", "{{ ([1,2]|map('string'))[0] }}",
    "{{ [1,2]|map('string')|tojson }}", "{% set g = [1,2]|map('string') %}{{ g|list }}{{ g|list }}", "{% set g = [1,2,3]|select %}{{ g|first }}{{ g|list }}",
    "{{ [3,1,2]|sort|first }}", "{{ 'cab'|sort }}", "{{ {'b':1,'a':2}|sort }}", "{{ [1,'a']|sort }}", "{{ [none,1]|sort }}", "{{ [none,none]|sort }}",
    "{{ [{},{}]|sort }}", "{{ [{'a':1},{}]|sort }}", "{{ [[2],[1]]|sort }}", "{{ [true,0,false,1]|sort }}", "{{ ['B','a','C']|sort(case_sensitive=true) }}",
    "{{ ['b','B','a','A']|sort }}", "{{ ['b','B','a','A']|sort(reverse=true) }}", "{{ range(100)|sort(reverse=true)|join(',') }}",
    "{{ [5,3,9,1,7,2,8,4,6,0,11,15,13,12,14,10,19,17,18,16]|sort|join(',') }}", "{{ ['a','A','b']|unique|list }}", "{{ [1,1.0,true,'1']|unique|list }}",
    "{{ [[1]]|unique|list }}", "{{ [nope,nope]|unique|list|length }}", "{{ ['b','A']|min }}{{ ['b','A']|max }}{{ []|min is undefined }}",
    "{{ ['a','A']|max }}{{ ['a','A']|min }}", "{{ [1,'a']|max }}", "{{ users|max(attribute='age') }}", "{{ {'a':1,'b':2}|max }}",
    "{{ [1,2,3,4,5,6,7]|batch(3, 'x')|list }}", "{{ []|batch(2)|list }}", "{{ [1]|batch(3)|list }}", "{{ [1,2,3]|batch(0)|list }}",
    "{{ [1,2,3]|batch(0, 'x')|list }}", "{{ range(10)|slice(3)|list }}", "{{ range(10)|slice(4, 'x')|list }}", "{{ []|slice(2)|list }}",
    "{{ 'abc'|batch(2)|list }}", "{{ 'abc'|slice(2)|list }}", "{{ [7]|random }}", "{{ []|random is undefined }}",
    "{{ {}|random }}", "{{ {0:5}|random }}", "{{ ''|random is undefined }}", "{{ nope|random is undefined }}", "{{ 5|random }}",
    "{{ [5]|first }}{{ 'ab'|first }}{{ {'k':1}|first }}{{ nope|first is undefined }}{{ []|first is undefined }}", "{{ 5|first }}", "{{ none|first }}",
    "{{ [1,2]|last }}{{ 'ab'|last }}{{ {'k':1,'j':2}|last }}{{ nope|last is undefined }}", "{{ [1]|map('string')|last }}", "{{ none|last }}", "{{ 5|last }}",
    "{{ {'a':1}.items()|last }}", "{{ range(5)|last }}", "{{ ['ab'|safe|first] }}", "{{ ['ab'|safe|last] }}", "{{ ['ab'|safe|list] }}",
    "{{ [1,2]|reverse|list }}{{ 'abc'|reverse }}{{ {'a':1,'b':2}|reverse|list }}", "{{ [1,2]|reverse|length }}", "{{ [1,2]|map('string')|reverse }}",
    "{{ nope|reverse|list }}", "{{ 5|reverse }}", "{{ none|reverse }}", "{{ ['ab'|safe|reverse] }}", "{{ [1,2]|reverse is sequence }}",
    "{{ 2.5|round }}{{ 3.5|round }}{{ 2.675|round(2) }}{{ -2.5|round }}{{ 0.5|round }}{{ 1.5|round }}", "{{ 12345|round(-2) }}{{ 15|round(-1) }}{{ 25|round(-1) }}",
    "{{ 250.0|round(-2) }}{{ 350.0|round(-2) }}{{ 25.1|round(-1) }}{{ -25.0|round(-1) }}", "{{ true|round }}", "{{ 2.4|round(method='ceil') }}",
    "{{ 42.55|round(1, 'floor') }}", "{{ 5|round(1, 'ceil') }}", "{{ 1e300|round(5) }}", "{{ 1e300|round(-300) }}", "{{ 9.99e307|round(-307) }}", "{{ 1.7e308|round(-308) }}",
    "{{ 5.015|round(2) }}{{ 1.005|round(2) }}{{ 0.285|round(2) }}", "{{ '3'|round }}", "{{ none|round }}", "{{ nope|round }}",
    "{{ '12 '|int }}{{ '3.7'|int }}{{ '1_000'|int }}{{ 'x'|int }}{{ 'x'|int(5) }}{{ none|int }}{{ 3.9|int }}{{ -3.9|int }}{{ true|int }}",
    "{{ 'ff'|int(0, 16) }}{{ '0xff'|int(0, 16) }}{{ '0b11'|int(0, 2) }}{{ '0o17'|int(0, 8) }}{{ '0x_f'|int(0, 16) }}{{ '10'|int(base=2) }}",
    "{{ '0x10'|int(0, 0) }}{{ '010'|int(0, 0) }}{{ '00'|int(0, 0) }}{{ '1__0'|int }}{{ '_1'|int }}{{ '1_'|int }}{{ '+5'|int }}{{ '- 5'|int }}",
    "{{ '1e3'|int }}{{ 'inf'|int }}{{ 'nan'|int }}{{ '1e400'|int }}", "{{ (1e308*10)|int }}", "{{ nope|int }}", "{{ [1]|int }}",
    "{{ '1.5e3'|float }}{{ ' 2 '|float }}{{ 'inf'|float }}{{ '-Infinity'|float }}{{ 'nan'|float }}{{ 'x'|float }}{{ 'x'|float(1) }}{{ '1_0.5'|float }}{{ '1_.5'|float }}",
    "{{ 10000000000000000000000000|float }}{{ '\u0661.\u0662'|float }}", "{{ nope|float }}", "{{ (10**400)|float }}", "{{ true|float }}",
    "{{ -5|abs }}{{ 2.5|abs }}{{ true|abs }}", "{{ (-5)|abs }}{{ (-2.5)|abs }}{{ (-9223372036854775808)|abs }}", "{{ 'x'|abs }}", "{{ nope|abs }}",
    "{{ 1000|filesizeformat }},{{ 1|filesizeformat }},{{ 0|filesizeformat }},{{ 999|filesizeformat }},{{ 1024|filesizeformat(true) }}",
    "{{ 1e24|filesizeformat }},{{ 1e27|filesizeformat }},{{ 1e30|filesizeformat }},{{ 123456789|filesizeformat }},{{ '1500'|filesizeformat }}",
    "{{ -5|filesizeformat }},{{ 1.5|filesizeformat }},{{ (2**80)|filesizeformat(binary=true) }},{{ 1048576|filesizeformat(true) }}", "{{ 'x'|filesizeformat }}", "{{ none|filesizeformat }}",
    "{{ 'a b'|urlencode }}{{ 'a/b?c=d&e'|urlencode }}{{ {'a b': 'c/d', 'e': 1}|urlencode }}{{ [('x','y z')]|urlencode }}{{ 5|urlencode }}{{ none|urlencode }}",
    "{{ '\u00fc\u65e5~-._'|urlencode }}", "{{ nope|urlencode }}", "{{ [1]|urlencode }}", "{{ [(1,2,3)]|urlencode }}", "{{ ['ab']|urlencode }}",
    "{{ 'see http://example.com/x?a=1&b=2. and www.foo.org, (https://a.b.c) <https://x.io> mail@x.com mailto:a@b.de foo.com bar.xyz'|urlize }}",
    "{{ 'https://192.168.0.1:80/x http://[::1]/ http://a..b http://x.y:123456 HTTP://UP.COM www.a x@y @a.b a:b@c.d'|urlize }}",
    "{{ '(http://a.com/(b)) http://a.com/b) \"http://a.com\" http://xn--ab.xn--cd/ ftp://x.y'|urlize(target='_blank', rel='me', nofollow=true) }}",
    "{{ 'http://www.example.com/abcdef'|urlize(10) }}{{ 'ftp://x.y/z'|urlize(extra_schemes=['ftp://']) }}", "{{ 'tel:123'|urlize(extra_schemes=['tel:']) }}",
    "{{ 'a http://b.com\\n\\tc.org  d'|urlize }}", "{{ 5|urlize }}{{ none|urlize }}{{ nope|urlize }}", "{{ '&lt;http://a.com&gt;'|safe|urlize }}",
    "{{ 'hello world foo bar'|truncate(11) }}|{{ 'hello world foo bar'|truncate(11, true) }}|{{ 'hello'|truncate(3, true, '', 0) }}",
    "{{ 'hello world foo'|truncate(10, false, '...', 0) }}|{{ 'helloworldfoo'|truncate(8, leeway=0) }}", "{{ [['abc<def>'|safe|truncate(6, true, '<', 0)]] }}",
    "{{ [1,2,3,4,5,6,7,8,9,10]|truncate(3, leeway=0) }}", "{{ [1,2]|truncate(3) }}", "{{ nope|truncate }}", "{{ 5|truncate }}",
    "{{ 'The quick brown-fox jumps -- over the lazy---dog well-known self-made x-y a-b-c'|wordwrap(10) }}",
    "{{ 'averyveryverylongword-with-hyphens and more'|wordwrap(8) }}", "{{ 'averyveryverylongword-with-hyphens and more'|wordwrap(8, break_on_hyphens=false) }}",
    "{{ 'averyveryverylongword and more'|wordwrap(8, false) }}", "{{ 'aaa  bbbbbbbbb'|wordwrap(5) }}|", "{{ '   lead  and trail   '|wordwrap(6) }}|", "{{ 'a\\n\\nb c d e f\\n'|wordwrap(3) }}|",
    "{{ 'x\u00a0y z\u00e4-b\u00fc\u00df'|wordwrap(3) }}", "{{ '--a --b-- \"c\"--d e---f'|wordwrap(2) }}", "{{ 'hi there'|wordwrap(5, wrapstring='<br>'|safe) }}",
    "{{ 'a b  c\\u00fc_d1 -- 2'|wordcount }}{{ ''|wordcount }}{{ 5|wordcount }}", "{{ 'a\\nb\\n\\nc'|indent }}|{{ 'a\\nb'|indent(2, true) }}|{{ 'a\\n\\nb'|indent(1, blank=true) }}",
    "{{ ['a\\n<b>'|safe|indent('<')] }}", "{{ ['a\\n<b>'|indent('<'|safe)] }}", "{{ ['a\\n<b>'|indent('<'|safe, true, true)] }}", "{{ 5|indent }}", "{{ nope|indent }}", "{{ []|indent }}",
    "{{ 'a\\r\\nb\\x0bc\\u2028d'|indent(1) }}", "{{ ''|indent(2, true) }}|", "{{ 'a\\n'|indent }}|",
    "{{ '<b>'|e }}{{ '<b>'|e|e }}{{ ['<b>'|escape] }}{{ '<'|safe|forceescape }}{{ [1]|e }}{{ none|e }}{{ nope|e }}", "{{ ['x'|e, 'x'|forceescape, 5|e, 5|safe, none|safe] }}",
    "{{ 'a' is lower }}{{ 'A' is upper }}{{ '' is lower }}{{ 1 is lower }}{{ none is upper }}", "{{ 'upper' is filter }}{{ 'nope' is filter }}{{ 'odd' is test }}{{ 5 is filter }}",
    "{{ [] is filter }}", "{{ 3 is odd }}{{ 4.0 is even }}{{ 2.5 is odd }}{{ 10000000000000000000000001 is odd }}{{ true is odd }}", "{{ 'x' is odd }}", "{{ '%d' is odd }}", "{{ '%s' is even }}",
    "{{ none is odd }}", "{{ 6 is divisibleby 3 }}{{ 7 is divisibleby(3) }}{{ 6.0 is divisibleby 1.5 }}", "{{ 1 is divisibleby 0 }}",
    "{{ 1 is sameas 1 }}{{ 1 is sameas 1.0 }}{{ 1 is sameas true }}{{ none is sameas none }}{{ 'a' is sameas 'a' }}", "{% set l = [] %}{{ l is sameas l }}{{ [] is sameas [] }}",
    "{{ x is defined }}{{ x is undefined }}{{ x is callable }}{{ x is iterable }}{{ x is sequence }}{{ x is string }}{{ x is mapping }}{{ x is none }}",
    "{{ {} is sequence }}{{ 'a' is sequence }}{{ range(1) is sequence }}{{ {}.keys() is sequence }}{{ [1]|map('string') is sequence }}{{ namespace() is sequence }}{{ 5 is sequence }}",
    "{{ {} is iterable }}{{ 5 is iterable }}{{ namespace() is iterable }}{{ cycler(1) is iterable }}{{ joiner() is iterable }}{{ range is iterable }}{{ ({}|items) is iterable }}",
    "{{ range is callable }}{{ 'a'.upper is callable }}{{ namespace() is callable }}{{ joiner() is callable }}{{ cycler(1) is callable }}{{ dict is callable }}{{ namespace is callable }}",
    "{{ [].append is callable }}{{ [].append is defined }}{{ [].append }}", "{{ [].append(1) }}", "{{ {}.update({}) }}", "{{ {}.pop('x') }}", "{{ {}.pop is defined }}", "{{ 'a'.__class__ is defined }}", "{{ 'a'.__class__ }}",
    "{{ 'a'.__class__.x }}", "{{ 'a'.__class__() }}", "{{ ''['__class__'] }}", "{{ ''|attr('__class__') }}", "{{ {'a':1}|attr('a') is defined }}", "{{ {'a':1}|attr('get')('a') }}", "{{ 'x'|attr('upper')() }}",
    "{{ nope|attr('x') }}", "{{ 5|attr('real') }}", "{{ namespace(a=3)|attr('a') }}", "{{ 5|attr(5) }}", "{{ 'a{}'|attr('format')(1) }}",
    "{{ (5).real }}{{ (5).imag }}{{ true.real }}{{ (2.5).real }}{{ (5).numerator }}{{ (7).bit_length() }}{{ (-255).bit_count() }}{{ (10**30).bit_length() }}",
    "{{ (0.5).as_integer_ratio() }}{{ (1e22).as_integer_ratio() }}{{ (-0.1).as_integer_ratio() }}{{ (3.0).is_integer() }}{{ (0.1).hex() }}{{ (0.0).hex() }}{{ (-1e-310).hex() }}{{ (1.5).hex() }}",
    "{{ dict(a=1, b=2) }}{{ dict({'x': 1}, y=2) }}{{ dict([('a', 1)]) }}{{ dict() }}{{ dict(['ab', 'cd']) }}{{ dict.fromkeys('ab', 1) }}", "{{ dict(5) }}", "{{ dict([1]) }}", "{{ dict({}, {}) }}", "{{ dict(nope) }}",
    "{{ dict(namespace(a=1)) }}", "{{ dict([('a', 1, 2)]) }}", "{{ dict([([], 1)]) }}", "{{ dict.keys }}", "{{ dict(none) }}", "{{ dict(a=1).a }}", "{{ dict(users[0]).name }}",
    "{{ namespace(a=1) }}{{ namespace({'b': 2}, c=3) }}{{ namespace() }}", "{{ namespace(_a=1) }}", "{{ namespace({'__x': 1}) }}", "{{ namespace([('a', 1)]).a }}", "{{ namespace(5) }}", "{{ namespace(a=1).b is defined }}",
    "{{ namespace(a=1)['a'] }}", "{{ namespace(items=3).items }}", "{{ namespace(a=1) == namespace(a=1) }}", "{{ namespace(self=1).self }}",
    "{{ cycler(1, 2).next() }}{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.next() }}{{ c.reset() }}{{ c.current }}", "{{ cycler() }}", "{{ cycler(1).items }}{{ cycler(1).pos }}",
    "{% set j = joiner() %}{{ j() }}a{{ j() }}b{{ j() }}", "{% set j = joiner('|') %}{{ j() }}a{{ j() }}{{ j.sep }}{{ j.used }}", "{% set j = joiner(sep=5) %}{{ j() }}{{ j() }}", "{{ joiner()(1) }}",
    "{{ lipsum(0) }}|{{ lipsum(n=0, html=false) }}|{{ [lipsum(0), lipsum(0, false)] }}", "{{ lipsum('x') }}",
    "{{ range(5) }}{{ range(1, 5)|list }}{{ range(5, 1, -2)|list }}{{ range(0)|list }}{{ range(3)|length }}{{ range(3)[1] }}{{ range(10)[2:5] }}{{ range(10)[-1] }}", "{{ range(100001) }}", "{{ range(100000)|length }}",
    "{{ range(1.5) }}", "{{ range('a') }}", "{{ range(1, 2, 0) }}", "{{ range() }}", "{{ range(true)|list }}", "{{ range(nope) }}", "{{ range(5, 3)|list }}", "{{ 3 in range(5) }}{{ 2.0 in range(5) }}{{ 'x' in range(5) }}", "{{ range(3) == range(0, 3, 1) }}{{ range(0) == range(2, 1) }}",
    "{{ range(3)[5] is defined }}", "{{ range(3).start }}{{ range(3).stop }}{{ range(1,9,2).step }}{{ range(5).index(3) }}{{ range(5).count(3) }}", "{{ range(5).index(9) }}", "{{ range(3)|tojson }}", "{{ range(start=1) }}",
    "{{ raise_exception('boom \u00fc {x} %s') }}", "{{ raise_exception() }}", "{{ raise_exception(message='m') }}", "{{ raise_exception(5) }}", "{{ raise_exception(none) }}", "{{ raise_exception(['a']) }}", "{{ raise_exception('') }}",
    "{{ {'a':1,'b':2}.items() }}{{ {'a':1}.keys() }}{{ {'a':1}.values() }}{{ {}.items() }}", "{{ {'a':1}.keys()|list }}{{ {'a':1}.items()|length }}{{ 'a' in {'a':1}.keys() }}{{ ('a',1) in {'a':1}.items() }}{{ 1 in {'a':1}.values() }}",
    "{{ {'a':1}.keys() == {'a':2}.keys() }}{{ {'a':1}.items() == {'a':2}.items() }}{{ {'a':1}.values() == {'a':1}.values() }}", "{{ {'a':1}.keys()[0] }}", "{{ {'a':1}.keys()|tojson }}", "{{ {'a':1}.keys() < {'a':1,'b':2}.keys() }}",
    "{{ {'a':1}.get('a') }}{{ {'a':1}.get('b') }}{{ {'a':1}.get('b', 'd') }}{{ {1:2}.get(1.0) }}{{ {1:2}.get(true) }}", "{{ {}.get([]) }}", "{{ {'get': 1}.get }}", "{{ {'a':1}.copy() }}{{ [1].copy() }}{{ {}.fromkeys([1,2]) }}",
    "{{ [1,2,1].count(1) }}{{ [1,2].index(2) }}{{ (1,2).index(2) }}{{ [1,2,1].index(1, 1) }}{{ [true].count(1) }}", "{{ [1].index(5) }}", "{{ [[1]].count([1]) }}",
    "{{ 'abc'.encode() }}{{ '\u00fc'.encode() }}{{ 'a\\'b'.encode() }}{{ '\\x00\\n\\t\\x7f\"'.encode() }}{{ 'a'.encode()|length }}{{ 'ab'.encode()[0] }}{{ 'ab'.encode()|list }}{{ 'ab'.encode().decode() }}", "{{ 'a'.encode() == 'a'.encode() }}{{ 'a'.encode() == 'a' }}{{ 'a'.encode() ~ '' }}",
    "{{ '\u00fc'.encode('ascii') }}", "{{ 'a'.encode()|tojson }}", "{{ 'a'.encode() is string }}", "{{ 'x'.encode('nope') }}", "{{ 'x'.encode('utf-16-le').hex() }}",
    "{{ 'a,b'.split(',').pop() }}", "{{ 'a'.join(5) }}", "{{ ''.join([]) }}|{{ ','.join('abc') }}", "{{ 'abc'.split('') }}", "{{ ' a  b '.split() }}{{ ' a  b '.split(' ') }}{{ ''.split() }}{{ ''.split(',') }}{{ 'a b c d'.split(none, 2) }}{{ 'a b c d '.rsplit(none, 2) }}",
    "{{ ['a\\u3000b\\x1cc\\u200bd'.split()] }}", "{{ ['\\u00a0x\\ufeff\\u2003'.strip()] }}", "{{ 'x'.center(4) }}|{{ 'xy'.center(5) }}|{{ 'x'.center(5, '\u65e5') }}|{{ 'xyz'.center(6) }}|", "{{ '-5'.zfill(5) }}{{ '+'.zfill(3) }}{{ ''.zfill(2) }}{{ '\u00fc'.zfill(3) }}",
    "{{ 'a\\tb\\n\\tc'.expandtabs() }}|{{ 'a\\tb'.expandtabs(3) }}|", "{{ 'hello'.translate({104: 'J', 101: none, 108: 76}) }}{{ 'abc'.translate('abc'.maketrans('ab', 'ba', 'c')) }}", "{{ 'x'.maketrans({'a': 1, 5: 'b'}) }}",
    "{{ 'hello'.startswith(('x', 'he')) }}{{ 'hello'.endswith('lo', -2) }}{{ 'hello'.startswith('', 9) }}{{ 'hello'.startswith('', 5) }}", "{{ 'hello'.find('') }}{{ 'hello'.find('', 9) }}{{ 'hello'.rfind('') }}{{ 'hello'.count('') }}{{ 'hello'.count('', 9) }}{{ 'h\u00e9llo'.find('l') }}{{ 'h\u00e9llo'.rfind('l', 0, -2) }}",
    "{{ '\u00df'.upper() }}{{ '\u0130'.lower() }}{{ '\u01c6'.title() }}{{ 'A\u03a3'.lower() }}{{ '\u03a3'.lower() }}{{ 'A\u03a3 B'.lower() }}{{ '\ufb01'.capitalize() }}{{ '\u01c4x'.swapcase() }}{{ '\u00df'.casefold() }}", "{{ \"they're bill's\".title() }}{{ \"they're bill's\"|title }}",
    "{{ '\u01c4'.istitle() }}{{ 'Ab Cd'.istitle() }}{{ 'AB'.istitle() }}{{ '1'.isupper() }}{{ 'A1'.isupper() }}{{ '\u01c5'.isupper() }}", "{{ '_a1'.isidentifier() }}{{ '1a'.isidentifier() }}{{ ''.isidentifier() }}{{ '\u00e9'.isidentifier() }}{{ '\u00b2'.isdigit() }}{{ '\u00bd'.isnumeric() }}{{ '\u0661'.isdecimal() }}",
    "{{ [5, {'b': [1, 2], 'a': 'x'}]|pprint }}", "{{ users|pprint }}", "{{ ['x'*30, 'y'*30, 'z'*30]|pprint }}", "{{ ('lorem ipsum dolor sit amet '*6)|pprint }}", "{{ {'key': 'word '*30, 'k2': ['a'*50, 'b'*50], 'k3': ('t'*90,)}|pprint }}", "{{ [['lorem ipsum '*10]]|pprint }}",
    "{{ ('line one\\nline two\\n'*6)|pprint }}", "{{ {'b':1,'a':2,1:3,none:4}|pprint }}", "{{ {'nested': {'deep': {'list': [1,2,3]*12, 'dict': {'z': 1, 'y': 2}}}}|pprint }}", "{{ ('x'|safe)|pprint }}", "{{ ('<'*100)|safe|pprint }}", "{{ nope|pprint }}{{ none|pprint }}{{ 1.5|pprint }}", "{{ [(1,)*40]|pprint }}", "{{ (('a'*80,),)|pprint }}",
    "{{ {'a': 1, 'b': [1, {'c': none, 'd': true}], 'e': 1.5, 'f': '\u00fc\"\\n'}|tojson }}", "{{ {'b':1,'a':{'d':1,'c':2}}|tojson(sort_keys=true, indent=2) }}", "{{ [1,[2,[]],{}]|tojson(indent=2) }}", "{{ {1:1,none:2,true:3,1.5:4}|tojson }}", "{{ {(1,2):1}|tojson }}", "{{ {1:1,'a':2}|tojson(sort_keys=true) }}",
    "{{ (1,2)|tojson }}{{ ('x<'|safe)|tojson }}{{ none|tojson }}{{ true|tojson }}{{ 1e22|tojson }}{{ (1e308*10)|tojson }}{{ -0.0|tojson }}{{ 10000000000000000000000000|tojson }}", "{{ nope|tojson }}", "{{ [nope]|tojson }}", "{{ range|tojson }}", "{{ namespace()|tojson }}", "{{ '\U0001f600\u2028\x7f'|tojson(true) }}", "{{ 'a'|tojson(indent=1.5) }}",
    "{{ 5|tojson(5, 6, 7, 8, 9) }}", "{{ 5|tojson(nope=1) }}", "{{ 5|upper(1) }}", "{{ 'x'|upper(s=1) }}", "{{ [1]|join(',', none, 3) }}", "{{ [1,2]|join(attribute=none) }}", "{{ 'x'|default }}{{ nope|default }}|{{ none|default('d') }}{{ none|default('d', true) }}{{ ''|d('e', true) }}{{ 0|d('z', boolean=true) }}", "{{ nope.x|default('d') }}", "{{ nope|d(nope) is defined }}",
    "{{ [1,2,3]|join }}{{ [1,'<'|safe]|join('>') }}{{ [none,true]|join(1) }}{{ 'abc'|join('-') }}{{ {'a':1,'b':2}|join(',') }}{{ nope|join }}", "{{ 5|join }}", "{{ none|join }}", "{{ [['a<'|safe]|join] }}", "{{ users|join(', ', 'name') }}", "{{ users|join(', ', attribute='address.zip') }}", "{{ users|map(attribute='name')|join('|'|safe) }}",
    "{{ 'a.b'|replace('.', '<'|safe) }}{{ [('a.b'|safe)|replace('.', '<')] }}{{ 123|replace(2, 5) }}{{ none|replace('N', 'n') }}{{ 'aaa'|replace('a', 'b', 2) }}{{ 'aaa'|replace('a', 'b', none) }}{{ 'abc'|replace('', '-') }}",
    "{{ 'x y z'|title }}{{ 'foo-bar baz(qux [a {b <c'|title }}{{ [('foo bar'|safe)|title] }}{{ '\u00dfa \u01c6b'|title }}{{ none|title }}{{ 5.5|title }}", "{{ 'hELLO'|capitalize }}{{ none|upper }}{{ 5|lower }}{{ ['A'|safe|lower] }}{{ true|lower }}", "{{ '  x '|trim }}|{{ 'xxaxx'|trim('x') }}{{ 5|trim }}{{ none|trim }}{{ [' a '|safe|trim] }}",
    "{{ 'x'|center(5) }}|{{ ['x'|safe|center(3)] }}|", "{{ [1,2]|string }}{{ none|string }}{{ 'a'|string }}{{ ['a'|safe|string] }}{{ nope|string }}", "{{ 'a b'|list }}{{ {'a':1}|list }}{{ (1,2)|list }}{{ nope|list }}", "{{ none|list }}", "{{ 5|list }}",
    "{{ 'abc'|length }}{{ '\u65e5\u672c'|length }}{{ {}|length }}{{ nope|length }}{{ {'a':1}|count }}", "{{ 5|length }}", "{{ none|length }}", "{{ namespace()|length }}", "{{ {'b': 2, 'A': 1}|dictsort }}{{ {'b': 2, 'A': 3}|dictsort(by='value') }}{{ {'b': 2, 'A': 1}|dictsort(true) }}{{ {'b':1,'a':1}|dictsort(reverse=true) }}",
    "{{ {1:1,'a':2}|dictsort }}", "{{ {'a':none,'b':1}|dictsort(by='value') }}", "{{ [1]|dictsort }}", "{{ nope|dictsort }}", "{{ {'a':{'x':1},'b':{'x':1}}|dictsort(by='value') }}", "{% for k, v in {'b':1,'a':2}|dictsort %}{{ k }}{{ v }}{% endfor %}", "{% for k, v in {'b':1,'a':2}|items %}{{ k }}{{ v }}{{ loop.last }}{% endfor %}",
    "{% autoescape true %}{{ '<' }}{{ ['<']|join('>') }}{{ ['<'|safe]|join('>') }}{{ 'a'|replace('a', '<') }}{{ {'a': '<'}|xmlattr }}{{ 'http://a.com'|urlize }}{% endautoescape %}", "{% filter upper|replace('A', 'b') %}abc{% endfilter %}", "{% filter indent(2, true) %}a\nb{% endfilter %}",
    "{{ [1,2,3]|select('gt', 1)|map('string')|join(',') }}", "{{ ['a','b']|map('upper')|map('lower')|list }}", "{{ [[1,2],[3]]|map('sum')|list }}", "{{ [1,2]|map('default', 5)|list }}", "{{ ['x']|map('replace', 'x', 'y')|list }}", "{{ users|map('attr', 'name')|list }}", "{{ ['1','2']|map('int')|sum }}", "{{ [{'a':{'b':1}}]|map(attribute='a.b')|list }}", "{{ ['ab','cd']|map(attribute='0')|list }}", "{{ ['ab','cd']|map(attribute=1)|list }}", "{{ ['ab']|map(attribute='upper')|list|length }}", "{{ [[5]]|map(attribute='0.real')|list }}", "{{ [1]|map(attribute='\u00b2')|list }}", "{{ [{'x y':1}]|map(attribute='x y')|list }}", "{{ [1]|map(attribute=none)|list }}", "{{ [nope]|map(attribute='x')|list }}",
    "{{ users|rejectattr('age', 'lt', 30)|map(attribute='name')|list }}", "{{ users|selectattr('name', 'equalto', 'bob')|first }}", "{{ users|selectattr('nope', 'undefined')|list|length }}", "{{ [1,2,3]|reject('odd')|list }}", "{{ ['a','',none,0,'b']|select|list }}", "{{ ['a','',none,0,'b']|reject|list }}", "{{ [1,2]|select('in', [2])|list }}", "{{ [1,2]|select('sameas', 1)|list }}", "{{ [1]|select('odd', 1)|list }}", "{{ [1]|select('eq')|list }}", "{{ [1]|map('upper', value=1)|list }}", "{{ [1]|map('upper', context=1)|list }}",
]


def _group(name, recipes, share, rng):
    """A share of the combinations, at least 40."""
    recipes = list(recipes)
    want = min(len(recipes), max(40, int(len(recipes) * share)))
    return [(name, r) for r in rng.sample(recipes, want)]


def filters(share, rng, names):
    for name in sorted(names):
        if name == "random":
            continue
        args = ARGS.get(name, [""])
        recipes = [f"{{{{ [{r}|{name}{'(' + a + ')' if a else ''}] }}}}" for r in ALL for a in args]
        recipes += [f"{{{{ [{r}|{name}({a})] }}}}" for r in rng.sample(ALL, 12) for a in ANY]
        recipes += [f"{{{{ [{r}|{name}({a}, {b})] }}}}" for r in rng.sample(ALL, 6)
                    for a, b in itertools.product(rng.sample(ANY, 4), repeat=2)]
        if name == "slice":  # so many slices would take the reference's memory
            recipes = [r for r in recipes if "0000000000000)" not in r and "0000000000000," not in r]
        yield from _group("filter " + name, recipes, share, rng)


def tests(share, rng, names):
    for name in sorted(names):
        if name in COMPARISONS:
            recipes = [f"{{{{ [{r}]|select('{name}', {a})|list|length }}}}" for r in ALL for a in ANY + ALL[::7]]
        elif name == "sameas":
            recipes = [f"{{{{ {r} is sameas({a}) }}}}" for r in ALL for a in TEST_ARGS[name]]
        else:
            recipes = [f"{{{{ {r} is {name}{'(' + a + ')' if a else ''} }}}}" for r in ALL
                       for a in TEST_ARGS.get(name, [""])]
            recipes += [f"{{{{ {r} is {name}({a}) }}}}" for r in ALL[::5] for a in ANY[::3]]
        yield from _group("test " + name, recipes, share, rng)


def methods(share, rng):
    for kind, (receivers, names) in TYPED.items():
        for name in names.split():
            recipes = [f"{{{{ [({r}).{name}({a})] }}}}" for r in receivers for a in METHOD_ARGS.get(name, [""])]
            recipes += [f"{{{{ [({r}).{name}({a})] }}}}" for r in receivers[::4] for a in ANY]
            if kind == "bytes":
                recipes += [f"{{{{ [({r}).{name}({a})] }}}}" for r in receivers for a in BYTE_ARGS]
            recipes += [f"{{{{ [({r}).{name}] }}}}" for r in receivers[:3]]
            recipes += [f"{{{{ ({r}).{name} is defined }}}}{{{{ ({r}).{name} is callable }}}}" for r in receivers[:3]]
            yield from _group(f"method {kind}.{name}", recipes, share, rng)


def formats(share, rng):
    percent = [f"{{{{ ['%{f}{w}{p}{t}' % ({v},)] }}}}" for v in PERCENT_VALUES for f in PERCENT_FLAGS
               for w in PERCENT_WIDTHS for p in PERCENT_PRECISIONS for t in PERCENT_TYPES]
    yield from _group("percent", percent, share / 4, rng)
    spec = [f"{{{{ ['{{:{a}{s}{w}{g}{p}{t}}}'.format({v})] }}}}" for v in SPEC_VALUES for a in SPEC_ALIGNS
            for s in SPEC_SIGNS for w in SPEC_WIDTHS for g in SPEC_GROUPS for p in SPEC_PRECISIONS for t in SPEC_TYPES]
    yield from _group("format spec", spec, share / 80, rng)
    markup = [f"{{{{ [('%{f}{w}{t}'|safe) % {v}] }}}}" for v in PERCENT_VALUES for f in ["", "0", "-"] for w in ["", "7"]
              for t in PERCENT_TYPES]
    yield from _group("percent of Markup", markup, share, rng)


def _text(rng):
    """A literal of random characters, from all over Unicode."""
    pools = ["aB c,1", "\u00fc\u00df\u0130\u01c6\u03a3\ufb01", "<&>\"'%{}", " \t\n\r\x0b\x85\u2028\u3000", "\u0661\u00bd\u2167"]
    chars = []
    for _ in range(rng.randrange(1, 12)):
        pool = rng.choice(pools)
        c = rng.choice(pool) if rng.random() < 0.9 else chr(rng.randrange(1, 0x2FFFF))
        chars.append(c if not 0xD800 <= ord(c) < 0xE000 else "x")
    return repr("".join(chars))


def chains(count, filter_names, seed=1):
    """Filters and methods applied one after another."""
    rng = random.Random(seed)
    names = sorted(n for n in filter_names if n not in ("random", "slice", "batch"))
    calm = [r for r in ALL if r not in ("dict", "range", "'x'.upper", "joiner()", "cycler(1,2)")]
    method_names = sorted({(k, n) for k, (_, ns) in TYPED.items() for n in ns.split()})
    for _ in range(count):
        e = _text(rng) if rng.random() < 0.4 else rng.choice(calm)
        for _ in range(rng.randrange(1, 5)):
            if rng.random() < 0.6:
                name = rng.choice(names)
                arg = rng.choice(ARGS.get(name, [""]))
                e = f"({e}|{name}({arg}))" if arg else f"({e}|{name})"
            elif rng.random() < 0.7:
                name = rng.choice(method_names)[1]
                e = f"({e}).{name}({rng.choice(METHOD_ARGS.get(name, ['']))})"
            else:
                e = rng.choice(["[{0}, 1]", "({0}|list)", "({0})[0]", "({0})[1:]", "({0}) ~ 'x'", "({0}|string)",
                                "{{'k': {0}}}", "({0} or 'y')", "('%s' % ({0},))", "('{{}}'.format({0}))"]).format(e)
        yield "chain", "{{ [" + e + "] }}"


def snippets(share, filter_names, test_names, seed=1):
    rng = random.Random(seed)
    out = [("trap", t) for t in TRAPS]
    for part in (filters(share, rng, filter_names), tests(share, rng, test_names), methods(share, rng),
                 formats(share, rng)):
        out.extend(part)
    return out
