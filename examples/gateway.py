#!/usr/bin/env python3
"""A gateway that refuses chat requests which exceed a budget, before they reach a GPU.

`check_budget` is an async handler as FastAPI and Starlette have them (a dict in, a status and a
dict out): it never blocks the event loop, and an overloaded counter makes callers wait. Here
asyncio alone serves it over HTTP, so that nothing needs to be installed:

    python examples/gateway.py --port 8080 --budget 4096
    curl -d '{"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 100}' localhost:8080"""
import argparse
import asyncio
import json

import tokdrain

BODY_MAX = 16 << 20
REASONS = {200: "OK", 400: "Bad Request", 413: "Content Too Large"}


class Gateway:
    def __init__(self, counter, budget):
        self.counter, self.budget = counter, budget

    async def check_budget(self, body):
        """(status, answer) of a chat request in the form of OpenAI's."""
        wanted = body.get("max_tokens", 0) if isinstance(body, dict) else None
        if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 0:
            return 400, {"error": "an object with messages is needed; max_tokens is a number"}
        request = {key: body[key] for key in ("messages", "tools") if key in body}
        try:
            result = await self.counter.acount(request)
        except (tokdrain.InputError, tokdrain.TemplateError, tokdrain.TokenizerError) as error:
            return 400, {"error": str(error)}
        except (tokdrain.LimitError, tokdrain.CountTimeout) as error:
            return 413, {"error": str(error)}
        answer = {"prompt_tokens": result.tokens, "max_tokens": wanted, "budget": self.budget}
        return (200 if result.tokens + wanted <= self.budget else 413), answer

    async def serve(self, reader, writer):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")
                          if b":" in line)
            size = int(fields.get(b"content-length", b"0"))
            if not 0 <= size <= BODY_MAX:
                status, answer = 413, {"error": f"a body of at most {BODY_MAX} bytes is accepted"}
            else:
                status, answer = await self.check_budget(json.loads(await
                                                                    reader.readexactly(size)))
        except ValueError as error:
            status, answer = 400, {"error": str(error)}
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            writer.close()
            return
        data = json.dumps(answer).encode()
        writer.write(f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: application/json\r\n"
                     f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data)
        await writer.drain()
        writer.close()


async def run(args):
    model = tokdrain.Model.from_pretrained(args.model) if args.model else \
        tokdrain.Model.built_in()
    with tokdrain.Counter(model, parse_arguments=True, timeout=5) as counter:
        gateway = Gateway(counter, args.budget)
        server = await asyncio.start_server(gateway.serve, "127.0.0.1", args.port)
        print(f"listening on port {server.sockets[0].getsockname()[1]}", flush=True)
        async with server:
            await server.serve_forever()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("-m", "--model")
    p.add_argument("--budget", type=int, default=8192)
    p.add_argument("--port", type=int, default=8080)
    try:
        asyncio.run(run(p.parse_args()))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
