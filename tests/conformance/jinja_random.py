"""Random templates and variables for the differential test. The programs lean towards what the
engine could get wrong: names set in branches and loops, macros and closures, loops with filters,
mixed types, whitespace control."""
import random

NAMES = ["a", "b", "c", "x", "y", "n", "s", "l", "d", "ns", "m", "loop", "item"]
ATTRS = ["a", "b", "x", "name", "items", "index", "first", "nope", "get", "upper", "0", "1"]
TESTS = ["defined", "undefined", "none", "string", "number", "mapping", "iterable", "sequence", "boolean", "integer", "float", "odd", "even", "true", "false", "lower", "upper", "callable", "in", "sameas", "eq", "divisibleby"]
FILTERS = ["upper", "lower", "length", "trim", "string", "default", "join", "first", "last", "list", "tojson", "int", "float", "abs", "sort", "reverse", "replace", "title", "items", "safe", "e", "unique", "sum", "min", "max", "indent", "dictsort", "map", "select", "round", "capitalize", "wordcount", "batch", "attr", "count", "d"]
METHODS = ["upper", "strip", "split", "get", "items", "keys", "values", "startswith", "replace", "join", "find", "append", "index", "count", "lstrip", "rstrip", "format", "title", "pop"]
STRINGS = ["''", "'a'", "'Ab c'", "'é🙂'", "'<b>'", "' x '", "'%s'", "'1'", "\"q'\"", "'a\\nb'", "'{}'"]
SPACES = ["", " ", "\n", "  \n", "\n\n", "\t", " \n ", "txt", "é", "{", "}"]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.wild = self.pick([0, 0, 0.02, 0.1, 0.4]) # how often an expression is of any kind

    def pick(self, things):
        return self.r.choice(things)

    def literal(self):
        return self.pick([
            lambda: str(self.r.randint(-3, 12)), lambda: self.pick(["1.5", "0.0", "-2.5", "1e3", "0.1"]), lambda: self.pick(STRINGS),
            lambda: self.pick(["true", "false", "none"]), lambda: self.pick(["[]", "{}", "()", "[1, 2]", "['a', none]", "{'a': 1, 'b': [2]}", "(1, 'x')", "[[1, 2], [3, 4]]"]),
            lambda: self.pick(["9223372036854775807", "-9223372036854775808", "123456789012345678901234567890"]),
        ])()

    def call_args(self, depth):
        args = [self.expr(depth - 1) for _ in range(self.pick([0, 0, 1, 1, 2]))]
        if self.r.random() < 0.2:
            args.append(f"{self.pick(NAMES)}={self.expr(depth - 1)}")
        if self.r.random() < 0.05:
            args.append("*" + self.expr(depth - 1))
        return ", ".join(args)

    def atom(self, depth):
        roll = self.r.random()
        if roll < 0.45:
            return self.pick(NAMES)
        if roll < 0.9 or depth <= 0:
            return self.literal()
        if roll < 0.95:
            return f"[{self.expr(depth - 1)}, {self.expr(depth - 1)}]"
        return f"{{'a': {self.expr(depth - 1)}, {self.pick(STRINGS)}: {self.expr(depth - 1)}}}"

    def postfix(self, depth):
        e = self.atom(depth)
        if e[0] in "-0123456789":
            e = f"({e})"
        for _ in range(self.pick([0, 0, 1, 1, 2])):
            roll = self.r.random()
            if roll < 0.35:
                e += "." + self.pick(ATTRS)
            elif roll < 0.55:
                e += f"[{self.expr(depth - 1)}]"
            elif roll < 0.65:
                parts = [self.pick(["", "0", "1", "-1", "2", "n"]) for _ in range(self.pick([2, 2, 3]))]
                e += "[" + ":".join(parts) + "]"
            elif roll < 0.85:
                e += f".{self.pick(METHODS)}({self.call_args(depth)})"
            else:
                e += f"({self.call_args(depth)})" if self.r.random() < 0.3 else ""
        return e

    def unary(self, depth):
        e = self.postfix(depth)
        for _ in range(self.pick([0, 0, 0, 1, 1, 2])):
            if self.r.random() < 0.6:
                e += "|" + self.pick(FILTERS) + (f"({self.call_args(depth)})" if self.r.random() < 0.35 else "")
            else:
                e += " is " + self.pick(["", "", "not "]) + self.pick(TESTS) + (f"({self.expr(depth - 1)})" if self.r.random() < 0.25 else "")
                break
        return e

    def number(self, depth):
        if depth <= 0:
            return self.pick(["n", "1", "2", "-3", "7", "0.5", "l|length", "s|length", "(x|default(3) if x is number else 4)"])
        return self.pick([
            lambda: f"({self.number(depth - 1)} {self.pick(['+', '-', '*', '//', '%'])} {self.pick(['2', '3', '-7', '10'])})",
            lambda: f"({self.number(depth - 1)} + {self.number(depth - 1)})", lambda: f"({self.text(depth - 1)})|length", lambda: f"({self.sequence(depth - 1)})|length",
            lambda: f"({self.number(depth - 1)} if {self.condition(depth - 1)} else {self.number(depth - 1)})", lambda: f"({self.number(depth - 1)})|int", lambda: f"({self.number(depth - 1)}|abs)",
        ])()

    def text(self, depth):
        if depth <= 0:
            return self.pick(["s", "s", "s|upper", "'Ab c'", "'é'", "'x'", "''", "' y '", "(n|string)", "(y ~ '')", "d.keys()|join('-')"])
        return self.pick([
            lambda: f"({self.text(depth - 1)} + {self.text(depth - 1)})", lambda: f"({self.expr(depth - 1)} ~ {self.text(depth - 1)})", lambda: f"({self.text(depth - 1)})[{self.pick(['1:', ':2', '::-1', '-2:', '0:3:2'])}]",
            lambda: f"({self.text(depth - 1)})|{self.pick(['upper', 'trim', 'title', 'capitalize', 'e', 'lower'])}", lambda: f"({self.text(depth - 1)}).{self.pick(['strip()', 'upper()', 'split()|join()', 'lstrip()', 'title()', 'replace(s, y ~ 1)'])}",
            lambda: f"({self.sequence(depth - 1)})|join({self.pick(STRINGS)})", lambda: f"({self.expr(depth - 1)})|string", lambda: f"({self.sequence(depth - 1)})|tojson", lambda: f"({self.text(depth - 1)} if {self.condition(depth - 1)} else {self.text(depth - 1)})",
        ])()

    def sequence(self, depth):
        if depth <= 0:
            return self.pick(["l", "l", "[1, 2, 3]", "['b', 'a']", "[[1, 2], [3, 4]]", "range(n|abs)|list", "[]", "[n, s]", "d|list"])
        return self.pick([
            lambda: f"({self.sequence(depth - 1)} + {self.sequence(depth - 1)})", lambda: f"({self.sequence(depth - 1)})[{self.pick(['1:', ':-1', '::-1', '-2:'])}]", lambda: f"[{self.expr(depth - 1)}, {self.expr(depth - 1)}]",
            lambda: f"({self.sequence(depth - 1)})|list", lambda: f"({self.text(depth - 1)}).split()", lambda: f"({self.sequence(depth - 1)})|map('string')|list", lambda: f"({self.sequence(depth - 1)})|select('string')|list", lambda: f"({self.sequence(depth - 1)})|reverse|list",
        ])()

    def condition(self, depth):
        if depth <= 0:
            return self.pick(["x", "y is defined", "n > 1", "s", "l", "a", "loop is defined", "b is string", "'a' in s", "1 in l", "not x", "x == n", "y == s"])
        return self.pick([
            lambda: f"({self.condition(depth - 1)} {self.pick(['and', 'or'])} {self.condition(depth - 1)})", lambda: f"{self.expr(depth - 1)} is {self.pick(['', 'not '])}{self.pick(TESTS[:11])}", lambda: f"{self.number(depth - 1)} {self.pick(['<', '<=', '>', '>=', '==', '!='])} {self.number(depth - 1)}",
            lambda: f"{self.expr(depth - 1)} {self.pick(['==', '!='])} {self.expr(depth - 1)}", lambda: f"{self.expr(depth - 1)} {self.pick(['in', 'not in'])} {self.sequence(depth - 1)}", lambda: f"{self.number(depth - 1)} < n < {self.number(depth - 1)}",
        ])()

    def expr(self, depth=3):
        """Mostly of a kind that fits, so that most programs run to their end."""
        if self.r.random() < self.wild:
            return self.wild_expr(depth)
        kind = self.pick([self.number, self.text, self.text, self.sequence, self.condition, lambda depth: self.pick(NAMES[:5])])
        return kind(min(depth, 2))

    def wild_expr(self, depth=3):
        if depth <= 0:
            return self.atom(0)
        roll = self.r.random()
        if roll < 0.45:
            return self.unary(depth)
        if roll < 0.62:
            return f"{self.expr(depth - 1)} {self.pick(['+', '+', '-', '*', '/', '//', '%', '~', '~'])} {self.expr(depth - 1)}"
        if roll < 0.74:
            return f"{self.expr(depth - 1)} {self.pick(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in'])} {self.expr(depth - 1)}"
        if roll < 0.84:
            return f"{self.expr(depth - 1)} {self.pick(['and', 'or'])} {self.expr(depth - 1)}"
        if roll < 0.88:
            return f"not {self.expr(depth - 1)}"
        if roll < 0.94:
            return f"({self.expr(depth - 1)})"
        if roll < 0.98:
            return f"{self.expr(depth - 1)} if {self.expr(depth - 1)}" + (f" else {self.expr(depth - 1)}" if self.r.random() < 0.7 else "")
        return f"-{self.postfix(depth)}"

    def open(self):
        return self.pick(["{%", "{%", "{%", "{%-", "{%+"])

    def close(self):
        return self.pick(["%}", "%}", "%}", "-%}", "+%}"])

    def tag(self, text):
        return f"{self.open()} {text} {self.close()}"

    def body(self, depth, in_loop):
        return "".join(self.statement(depth - 1, in_loop) + self.pick(SPACES) for _ in range(self.r.randint(1, 3)))

    def target(self):
        return self.pick(NAMES[:-2]) if self.r.random() < 0.8 else "a, b"

    def statement(self, depth, in_loop=False):
        roll = self.r.random()
        if depth <= 0 or roll < 0.3:
            return self.pick(["{{", "{{", "{{-"]) + f" {self.expr(2)} " + self.pick(["}}", "}}", "-}}"])
        if roll < 0.48:
            target = self.target()
            return self.tag(f"set {target} = {self.expr(2)}" + (f", {self.expr(1)}" if "," in target else ""))
        if roll < 0.52:
            return self.tag("set ns = namespace(x=0, a='')") if self.r.random() < 0.5 else self.tag(f"set ns = namespace(a=1)") + self.tag(f"set ns.{self.pick('axb')} = {self.expr(2)}")
        if roll < 0.65:
            out = self.tag(f"if {self.condition(2)}") + self.body(depth, in_loop)
            if self.r.random() < 0.3:
                out += self.tag(f"elif {self.condition(2)}") + self.body(depth, in_loop)
            if self.r.random() < 0.5:
                out += self.tag("else") + self.body(depth, in_loop)
            return out + self.tag("endif")
        if roll < 0.8:
            pairs = self.r.random() < 0.25
            source = self.pick(["d.items()", "[[1, 2], [3, 4]]", "d|items", "d|dictsort"]) if pairs else self.pick(["l", "d", "range(3)", "s", self.sequence(1)])
            head = f"for {'a, b' if pairs else self.pick(['x', 'item', 'y'])} in {source}"
            if self.r.random() < 0.2:
                head += f" if {self.condition(1)}"
            out = self.tag(head) + self.body(depth, True)
            if self.r.random() < 0.2:
                out += self.tag("else") + self.body(depth, in_loop)
            return out + self.tag("endfor")
        if roll < 0.87:
            params, call = self.pick([("", "{{ m() }}"), ("a", "{{ m(n) }}"), ("a, b=1", "{{ m(s)|length }}"), ("x, y=x", "{{ m(1, 2) ~ m(l) }}"), ("a=b, c=n", "{{ m(c=s) }}{{ m() }}"), ("", "{{ m(varargs) }}")])
            extra = self.pick(["", "", "{{ caller() if caller }}", "{{ varargs }}{{ kwargs }}"])
            return self.tag(f"macro m({params})") + extra + self.body(depth, False) + self.tag("endmacro") + self.pick(["", call, call, call])
        if roll < 0.9:
            return "{% macro m() %}<{{ caller() }}>{% endmacro %}" + self.tag("call m()") + self.body(depth, False) + self.tag("endcall")
        if roll < 0.93:
            return self.tag(f"set {self.pick(NAMES[:5])}") + self.body(depth, in_loop) + self.tag("endset")
        if roll < 0.95:
            return self.tag("filter " + self.pick(["upper", "trim", "replace('a', 'b')", "indent"])) + self.body(depth, in_loop) + self.tag("endfilter")
        if roll < 0.97:
            return self.tag(f"with a = {self.expr(1)}, x = n") + self.body(depth, in_loop) + self.tag("endwith")
        if roll < 0.98:
            return self.tag("generation") + self.body(depth, False) + self.tag("endgeneration")
        if roll < 0.99:
            return self.tag(f"autoescape {self.pick(['true', 'false', 'n'])}") + self.body(depth, in_loop) + self.tag("endautoescape")
        if in_loop:
            return self.tag(self.pick(["break", "continue"]))
        return "{# note #}"

    def template(self):
        return "".join(self.statement(4) + self.pick(SPACES) for _ in range(self.r.randint(1, 4)))

    def variables(self):
        values = [0, 1, 5, -2, 2.5, "", "abc", "Hello World", "é", "<i>", None, True, False, [], [1, 2, 3], ["b", "a"], {}, {"a": 1, "x": "v", "items": 3}, [{"a": 1}, {"a": 2}], [[1, 2], [3, 4]]]
        out = {"n": self.pick(values[:5]), "s": self.pick(values[5:10]), "l": self.pick(values[13:16] + values[18:]), "d": self.pick(values[16:18])}
        for name in self.r.sample(NAMES[:5], 2):
            out[name] = self.pick(values)
        return out


def program(seed):
    maker = Maker(seed)
    return maker.template(), maker.variables()
