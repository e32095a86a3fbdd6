"""Renders one template with one set of variables on both sides: the reference as transformers sets
it up, and build/tests/tools/render_tool."""
import contextlib
import datetime
import json
import os
import subprocess
from pathlib import Path

import jinja2
import pytest
import reference_clock
from transformers.utils import chat_template_utils as reference

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("TD_BUILD", "build") / "tests" / "tools" / "render_tool"


NOW = datetime.datetime(2026, 1, 1)  # render_tool's moment, where a request names none


@pytest.fixture(autouse=True)
def fixed_moment(monkeypatch):
    """For the modules that import it: the reference sees render_tool's moment."""
    reference_clock.fix(monkeypatch, NOW)


class Engine:
    """A render_tool process; one request, one answer."""

    def __init__(self):
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"render_tool died of {request!r}"
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def reference_render(template, variables):
    """(text, None) or (None, exception)."""
    try:
        return template.render(**variables), None
    except Exception as e:  # noqa: BLE001 - any exception is the reference's answer
        return None, e


def reference_compile(source):
    try:
        return reference._cached_compile_jinja_template(source), None
    except Exception as e:  # noqa: BLE001
        return None, e


def difference(answer, text, exception):
    """None when both sides agree, else what differs. A message that the template itself raises has
    to be the same; other messages are the engine's own."""
    if exception is None:
        if "ok" not in answer:
            return f"reference gives {text!r}, engine fails: {answer}"
        return None if answer["ok"] == text else f"reference {text!r}\nengine    {answer['ok']!r}"
    if "ok" in answer:
        return f"reference raises {type(exception).__name__}: {exception}, engine gives {answer['ok']!r}"
    if type(exception) is jinja2.TemplateError and answer["error"] != str(exception):
        return f"reference raises {str(exception)!r}, engine {answer['error']!r}"
    return None


def shaped(request):
    """The variables that render_jinja_template would pass for a conversation."""
    request = dict(request)
    messages = reference._normalize_chat_messages(request.pop("messages"))
    variables = {
        "tools": request.pop("tools", None),
        "documents": request.pop("documents", None),
        "add_generation_prompt": request.pop("add_generation_prompt", False),
        **request,
    }
    variables = {k: reference._plain_template_data(v) for k, v in variables.items()}
    variables["messages"] = reference._alias_reasoning_fields(reference._plain_template_data(messages))
    return variables


@contextlib.contextmanager
def engine():
    e = Engine()
    try:
        yield e
    finally:
        e.close()
