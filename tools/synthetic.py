"""Deterministic synthetic text of an agentic coding session: prose, code, tool output, schemas.

Everything derives from the random.Random that a Gen is given, so any CPython from 3.9 on writes
the same text. The order of the random calls is part of the format: a change in it changes every
workload."""
import json

WORDS = """
account action active adapter address agent alloc answer apply archive argument array asset
async atomic attach auth backend balance batch benchmark binary block body boundary branch
bridge broker buffer build bundle bytes cache callback capacity capture category chain channel
check child chunk class clean client clock clone close cluster code collect column command
commit compare compile complete compress compute config connect console const consume container
content context control convert copy core count counter create current cursor data database date
debug decode default define delete deliver delta depth describe design detail detect device diff
digest direct directory disable dispatch display document domain download drain drive driver
drop dump duration edge edit element emit enable encode endpoint engine entry error escape
evaluate event exact example exception execute exist exit expand expect expire export extend
extract factory failure feature fetch field file filter final find first flag flush focus folder
force format forward fragment frame free function gateway generate global graph group guard
handle handler hash head header health heap hint history hook host identity idle ignore image
import include index infer init inline inner input insert inspect install instance integer
interval invalid invoke item iterate job join journal kernel key kind label language latency
layer layout lazy leader leaf length level library limit line link list listen live load local
lock log loop machine main manager map mark mask match memory merge message meta method metric
middle migrate minimum mirror mode model module monitor mount move multi mutex name native
network next node normal notify null number object observe offset open operation option order
origin output override owner package page pair parallel parameter parent parse partial partition
password patch path pattern payload peer pending percent permission phase pipeline place plan
platform plugin pointer policy poll pool port position prefix prepare present primary print
priority private process produce profile program progress project prompt property protocol
provider proxy publish pull purge push query queue quota random range rank rate raw read ready
reason receive record recover recursive reduce reference refresh region register release reload
remote remove render repair replace replica report request require reserve reset resize resolve
resource response restart restore result retry return reverse review rewrite rollback root route
row rule run runtime safe sample scale scan schedule schema scope score script search second
secret section segment select send sequence serialize server service session setting shard share
shell shift signal signature simple single size skip slice slot snapshot socket sort source
space span spawn split stack stage standard start state static status step storage store stream
string strip struct subscribe suffix summary support suspend switch symbol sync system table tag
target task template test text thread threshold throttle tick time timeout token tool topic
total trace track transfer transform transport tree trigger trim tuple type unit update upgrade
upload usage user utility valid validate value variable vector verify version view virtual visit
wait walk warn watch weight window worker wrap write yield zone
""".split()
ENGLISH = """
the a this that it we they which when where because however before after while should could must
can may is are was were has have does not only also still already first second next then now
here there for with without from into over under between about against during each every any
some most other same different correct wrong likely probably actually simply carefully let's me
I'll need want look see think check find fix change add remove call return raise handle run
""".split()
SYLLABLES = """
ac al an ar as at be bi bo bu ca ce ci co cu da de di do du el en er es et fa fe fi fo fu ga ge
gi go ha he hi ho im in is it ja jo ka ke ki ko la le li lo lu ma me mi mo mu na ne ni no nu ob
oc on op or os pa pe pi po pu qua ra re ri ro ru sa se si so su ta te ti to tu um un ur us va ve
vi vo wa we xi ya yo za ze zo str pro con tor ment ing ed ly
""".split()
OTHER_SCRIPTS = [
    "→", "—", "…", "✓", "✗", "│", "└──", "├──", "é", "naïve", "größe", "данные", "конфигурация",
    "数据", "测试结果", "エラー", "실패", "🙂", "🚀", "✅", "⚠️", "°C", "µs", "×", "≥", "“quoted”", "café",
    "e\u0301", "ﬁle", "\xa0",
]
EXTENSIONS = ["py", "py", "py", "ts", "c", "rs", "go", "md", "json", "yaml", "toml"]
OPERATORS = ["+", "-", "*", "//", "%", "==", "!=", "<=", ">>", "&"]


def until(chars, make, lines=(), used=0):
    """Joins what make() gives, line by line, until there are so many characters."""
    out = list(lines)
    while used < chars:
        line = make()
        out.append(line)
        used += len(line) + 1
    return "\n".join(out)


class Gen:
    """One stream of text; r is its random.Random."""

    def __init__(self, rng):
        self.r = rng

    def word(self):
        # Mostly a known word, skewed; one in nine is made up, so that the stream of distinct
        # words (what a tokenizer's word cache sees) is as open-ended as in real code.
        if self.r.random() < 0.11:
            return "".join(self.r.choice(SYLLABLES) for _ in range(self.r.randint(2, 4)))
        return WORDS[int(len(WORDS) * self.r.random() ** 1.6)]

    def ident(self):
        n = 1 + int(self.r.random() * 3)
        words = [self.word() for _ in range(n)]
        k = self.r.random()
        if k < 0.6:
            return "_".join(words)
        if k < 0.8:
            return words[0] + "".join(w.title() for w in words[1:])
        if k < 0.95:
            return "".join(w.title() for w in words)
        return "_".join(words).upper()

    def sentence(self, lo=6, hi=22):
        out = []
        for _ in range(self.r.randint(lo, hi)):
            x = self.r.random()
            if x < 0.55:
                out.append(self.r.choice(ENGLISH))
            elif x < 0.9:
                out.append(self.word())
            elif x < 0.97:
                out.append("`" + self.ident() + "`")
            elif x < 0.985:
                out.append(str(self.r.randint(0, 99999)))
            else:
                out.append(self.r.choice(OTHER_SCRIPTS))
        s = " ".join(out)
        return s[:1].upper() + s[1:] + self.r.choice([".", ".", ".", ":", "?", "!", ","])

    def paragraph(self, chars):
        out, used = [], 0
        while used < chars:
            s = self.sentence()
            out.append(s)
            used += len(s) + 1
        return " ".join(out)

    def path(self):
        folders = [self.word() for _ in range(self.r.randint(1, 4))]
        return "/".join(folders) + "/" + self.ident().lower() + "." + self.r.choice(EXTENSIONS)

    def hexs(self, digits):
        return "%0*x" % (digits, self.r.getrandbits(4 * digits))

    def expression(self):
        k = self.r.random()
        if k < 0.3:
            return f"{self.ident()}.{self.ident()}({self.ident()})"
        if k < 0.5:
            return f"{self.ident()}[{self.r.randint(0, 512)}]"
        if k < 0.65:
            return f'"{self.word()} {self.word()}"'
        if k < 0.75:
            return f"0x{self.hexs(8)}"
        if k < 0.9:
            return f"{self.ident()} {self.r.choice(OPERATORS)} {self.r.randint(0, 1 << 16)}"
        return self.ident()

    def statement(self, k):
        """A line of code without its indentation; k in [0, 1) chooses the kind."""
        word, ident, expression = self.word, self.ident, self.expression
        if k < 0.18:
            return f"{ident()} = {expression()}"
        if k < 0.30:
            return f"self.{ident()} = {expression()}  # {word()} {word()}"
        if k < 0.40:
            return f"if {expression()} and not {ident()}:"
        if k < 0.47:
            return f"for {word()}, {word()} in {ident()}.items():"
        if k < 0.55:
            return f"return {expression()}"
        if k < 0.60:
            return f"# {self.sentence(4, 12)}"
        if k < 0.66:
            return f'logger.info("{word()} %s {word()}=%d", {ident()}, {ident()})'
        if k < 0.72:
            return (f"def {ident()}(self, {word()}: int, {word()}: str | None = None)"
                    " -> dict[str, Any]:")
        if k < 0.76:
            return f'assert {expression()} == {expression()}, f"{{{ident()}!r}}"'
        if k < 0.80:
            return f"static int {ident()}(struct {word()} *{word()}, size_t n) {{"
        if k < 0.84:
            return (f"const {{ {ident()}, {ident()} }} = await {ident()}"
                    f"({{ {word()}: {expression()} }});")
        if k < 0.93:
            return f"{ident()}({expression()}, {expression()}, {word()}={expression()})"
        return f'raise {ident().title()}Error(f"{self.sentence(3, 8)}")'

    def code_line(self, indent):
        k = self.r.random()
        if 0.84 <= k < 0.88:
            return ""
        return "    " * indent + self.statement(k)

    def file_content(self, chars, numbered):
        indent, number = 0, self.r.randint(1, 900)

        def line():
            nonlocal indent, number
            s = self.code_line(indent)
            indent = max(0, min(5, indent + self.r.choice([-1, -1, 0, 0, 1, 1])))
            if not numbered:
                return s
            number += 1
            return f"{number - 1:6d}\t{s}"

        return until(chars, line)

    def listing(self, chars):
        def line():
            r = self.r
            return "-rw-r--r--  1 %s staff %8d %s %2d %02d:%02d %s" % (
                self.word(), r.randint(0, 1 << 20), r.choice(["Jan", "Mar", "Jul", "Oct"]),
                r.randint(1, 28), r.randint(0, 23), r.randint(0, 59), self.path())

        return until(chars, line, ["total %d" % self.r.randint(8, 9000)], 8)

    def grep(self, chars):
        def line():
            return (f"{self.path()}:{self.r.randint(1, 2500)}:"
                    f"{self.code_line(self.r.randint(0, 3))}")

        return until(chars, line)

    def logs(self, chars):
        def line():
            r = self.r
            return "2026-%02d-%02dT%02d:%02d:%02d.%06dZ [%s] %s[%d]: %s id=%s-%s dur=%.3fms" % (
                r.randint(1, 12), r.randint(1, 28), r.randint(0, 23), r.randint(0, 59),
                r.randint(0, 59), r.randint(0, 999999),
                r.choice(["INFO", "WARN", "ERROR", "DEBUG"]), self.word(), r.randint(1, 65535),
                self.sentence(3, 10), self.hexs(8), self.hexs(4), r.random() * 1000)

        return until(chars, line)

    def test_report(self, chars):
        def line():
            r = self.r
            if r.random() < 0.8:
                verdict = ["PASSED", "PASSED", "PASSED", "FAILED", "SKIPPED"]
                return (f"tests/{self.path()}::{self.ident()} {r.choice(verdict)}"
                        f"  [{r.randint(0, 100):3d}%]")
            return (f"E       AssertionError: assert {self.expression()} == {self.expression()}"
                    f"\n\n{self.path()}:{r.randint(1, 999)}: AssertionError\n" + "_" * 40)

        return until(chars, line, ["=" * 28 + " test session starts " + "=" * 28], 77)

    def diff(self, chars):
        def line():
            r = self.r
            if r.random() < 0.08:
                return (f"@@ -{r.randint(1, 900)},{r.randint(1, 30)} "
                        f"+{r.randint(1, 900)},{r.randint(1, 30)} @@ def {self.ident()}(self):")
            return r.choice([" ", " ", "+", "-"]) + self.code_line(r.randint(0, 4))

        p = self.path()
        head = [f"diff --git a/{p} b/{p}", f"index {self.hexs(8)}..{self.hexs(8)} 100644",
                f"--- a/{p}", f"+++ b/{p}"]
        return until(chars, line, head, 120)

    def json_value(self, depth):
        k = self.r.random()
        if depth > 0 and k < 0.25:
            return {self.ident(): self.json_value(depth - 1)
                    for _ in range(self.r.randint(2, 6))}
        if depth > 0 and k < 0.4:
            return [self.json_value(depth - 1) for _ in range(self.r.randint(1, 5))]
        if k < 0.65:
            return self.sentence(2, 8)
        if k < 0.8:
            return self.r.randint(-1000, 1 << 31)
        if k < 0.9:
            return round(self.r.random() * 1000, 4)
        return self.r.choice([True, False, None, self.hexs(16)])

    def json_text(self, chars):
        items, used = [], 0
        while used < chars:
            item = {self.ident(): self.json_value(3) for _ in range(4)}
            items.append(item)
            used += len(json.dumps(item, indent=2))
        return json.dumps(items, indent=2, ensure_ascii=self.r.random() < 0.5)

    def tool_output(self, chars):
        k = self.r.random()
        if k < 0.42:
            return self.file_content(chars, True)
        if k < 0.52:
            return self.file_content(chars, False)
        for bound, kind in ((0.64, self.grep), (0.72, self.test_report), (0.80, self.diff),
                            (0.87, self.logs), (0.95, self.json_text)):
            if k < bound:
                return kind(chars)
        return self.listing(chars)

    def schema(self, depth=1):
        """The JSON schema of one parameter."""
        k = self.r.random()
        d = {"description": self.sentence(5, 16)}
        if k < 0.5:
            d["type"] = "string"
            if self.r.random() < 0.25:
                d["enum"] = [self.word() for _ in range(self.r.randint(2, 6))]
        elif k < 0.7:
            d["type"] = "integer"
            d["minimum"] = self.r.randint(0, 10)
            d["default"] = self.r.randint(10, 1000)
        elif k < 0.8:
            d["type"] = "boolean"
        elif k < 0.92 or depth == 0:
            d["type"] = "array"
            d["items"] = {"type": self.r.choice(["string", "integer"])}
        else:
            d["type"] = "object"
            d["properties"] = {self.word(): self.schema(0)
                               for _ in range(self.r.randint(1, 3))}
        return d

    def tool(self, name):
        properties = {}
        for _ in range(self.r.randint(2, 5)):
            properties[self.ident().lower()] = self.schema()
        return {"type": "function",
                "function": {"name": name,
                             "description": self.paragraph(self.r.randint(120, 420)),
                             "parameters": {"type": "object", "properties": properties,
                                            "required":
                                                list(properties)[: self.r.randint(1, 2)]}}}

    def argument(self, kind):
        r = self.r
        if kind == "string":
            x = r.random()
            if x < 0.4:
                return self.path()
            if x < 0.6:
                return self.file_content(r.randint(80, 900), False)
            return self.sentence(3, 9)
        if kind == "integer":
            return r.randint(0, 5000)
        if kind == "boolean":
            return r.random() < 0.5
        if kind == "array":
            return [self.path() for _ in range(r.randint(1, 3))]
        return {self.word(): self.sentence(1, 4)}

    def tool_call(self, tools, call_id):
        function = self.r.choice(tools)["function"]
        arguments = {}
        for i, (name, schema) in enumerate(function["parameters"]["properties"].items()):
            if i and self.r.random() < 0.4:
                continue
            arguments[name] = self.argument(schema["type"])
        return {"id": call_id, "type": "function",
                "function": {"name": function["name"],
                             "arguments": json.dumps(arguments, ensure_ascii=False)}}
