#!/usr/bin/env python3
"""render_peer.py jinja2|minijinja: renders chat templates on the orders of bench/render.py.

jinja2 is the environment that transformers compiles chat templates in; minijinja is the package
from PyPI with what transformers adds to jinja2."""
import datetime
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path


class FixedDatetime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 1, 1)


class Jinja2:
    def __init__(self):
        from transformers.utils import chat_template_utils
        chat_template_utils.datetime = FixedDatetime
        self.compile = chat_template_utils._cached_compile_jinja_template
        self.version = f"jinja2 {version('jinja2')} (transformers {version('transformers')})"

    def template(self, source):
        compiled = self.compile(source)
        return lambda variables: compiled.render(**variables)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def raise_exception(message):
    raise ValueError(message)


class Minijinja:
    def __init__(self):
        import minijinja
        self.env = minijinja.Environment(debug=False, trim_blocks=True,
                                         lstrip_blocks=True,
                                         auto_escape_callback=lambda name: False)
        self.env.add_filter("tojson", tojson)
        self.env.add_function("raise_exception", raise_exception)
        self.env.add_function("strftime_now", FixedDatetime.now().strftime)
        self.version = f"minijinja {version('minijinja')} (Python)"

    def template(self, source):
        self.env.add_template("t", source)
        render = self.env.render_template
        return lambda variables: render("t", **variables)


def outputs(render, values):
    for value in values:
        try:
            text = render(value).encode("utf-8", "surrogatepass")
        except Exception:  # noqa: BLE001 - whatever it is, this input fails
            yield b"\xff" * 8
        else:
            yield len(text).to_bytes(8, "little") + text


def passes(render, inputs, at_least):
    """Nanoseconds of one pass over inputs."""
    start, count = time.thread_time_ns(), 0
    while True:
        for value in inputs:
            render(value)
        count += 1
        spent = time.thread_time_ns() - start
        if spent >= at_least:
            return spent // count


def main():
    peer = {"jinja2": Jinja2, "minijinja": Minijinja}[sys.argv[1]]()
    render, lines, values, chosen = None, [], [], []
    for line in sys.stdin:
        order, _, rest = line.rstrip("\n").partition(" ")
        answer = "ok"
        if order == "version":
            answer = peer.version
        elif order == "template":
            try:
                render = peer.template(Path(rest).read_text(encoding="utf-8"))
            except Exception:  # noqa: BLE001
                render, answer = None, "error"
        elif order == "inputs":
            lines = Path(rest).read_text(encoding="utf-8").split("\n")[:-1]
            values = [json.loads(text) for text in lines]
        elif order == "outputs":
            Path(rest).write_bytes(b"".join(outputs(render, values)))
        elif order == "choose":
            chosen = [int(i) for i in rest.split(",")]
        elif order == "time":
            mode, at_least = rest.split()
            if mode == "json":
                answer = passes(lambda text: render(json.loads(text)),
                                [lines[i] for i in chosen], int(at_least))
            else:
                answer = passes(render, [values[i] for i in chosen], int(at_least))
        print(answer, flush=True)


if __name__ == "__main__":
    main()
