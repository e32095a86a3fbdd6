"""Conversations of the rendering benchmark, shaped as transformers hands them to a template.

short() gives those of the conformance tests; agentic(kind) a few of 100 assistant turns and some
400 KB each. Templates differ in what they take, so there are kinds of the latter, richest first."""
import copy
import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "conformance")]
import conversations  # noqa: E402
import make_workload  # noqa: E402
import synthetic  # noqa: E402
from transformers.utils import chat_template_utils as reference  # noqa: E402

TURNS, TOOLS, COPIES, SEED = 100, 10, 4, 4
KINDS = ("full", "text arguments", "calls without content", "text arguments without content",
         "without reasoning", "no tools")


def shaped(request):
    request = dict(request)
    messages = reference._normalize_chat_messages(request.pop("messages"))
    variables = {"tools": request.pop("tools", None), "documents": request.pop("documents", None),
                 "add_generation_prompt": request.pop("add_generation_prompt", True),
                 "bos_token": "<s>", "eos_token": "</s>", **request}
    variables = {k: reference._plain_template_data(v) for k, v in variables.items()}
    messages = reference._plain_template_data(messages)
    variables["messages"] = reference._alias_reasoning_fields(messages)
    return variables


def short():
    found = []
    for _, request in conversations.conversations():
        request = {k: v for k, v in request.items() if k != "continue_final_message"}
        found.append(shaped(request))
    return found


def conversation(n):
    g = synthetic.Gen(random.Random(f"{SEED}:agentic:{n}"))
    tools = [g.tool(name) for name in make_workload.TOOL_NAMES[:TOOLS]]
    messages = make_workload.opening(g, 2000, 1500)
    for turn in range(TURNS):
        message = {"role": "assistant", "content": g.paragraph(g.r.randint(60, 500)),
                   "reasoning_content": g.paragraph(g.r.randint(300, 1200))}
        if turn % 4 == 3:
            reply = {"role": "user", "content": g.paragraph(g.r.randint(300, 3000))}
        else:
            call = g.tool_call(tools, g.hexs(9))
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
            message["tool_calls"] = [call]
            reply = {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"],
                     "content": g.tool_output(g.r.randint(500, 5000))}
        messages += [message, reply]
    return {"messages": messages, "tools": tools}


def as_kind(request, kind):
    request = copy.deepcopy(request)
    for message in request["messages"]:
        calls = message.get("tool_calls", [])
        if kind.startswith("text arguments"):
            for call in calls:
                call["function"]["arguments"] = json.dumps(call["function"]["arguments"],
                                                           ensure_ascii=False)
        if kind.endswith("without content") and calls:
            message["content"] = None
        if kind in ("without reasoning", "no tools"):
            message.pop("reasoning_content", None)
    if kind == "no tools":
        del request["tools"]
        for message in request["messages"]:
            message.pop("tool_calls", None)
            if message["role"] == "tool":
                message["role"] = "user"
    return request


def agentic(kind):
    return [shaped(as_kind(conversation(n), kind)) for n in range(COPIES)]
