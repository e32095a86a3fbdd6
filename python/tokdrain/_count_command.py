"""`python -m tokdrain count IN.parquet OUT.parquet`: the command line of _parquet.py."""
import argparse
import json
import sys


def is_for_parquet(arguments):
    """Whether these arguments of tokdrain ask to count a Parquet file."""
    return arguments[:1] == ["count"] and any(a.endswith(".parquet") for a in arguments[1:])


def parse(arguments):
    p = argparse.ArgumentParser(
        prog="python -m tokdrain count", allow_abbrev=False,
        description="Counts the rows of a Parquet file into another one. The same command goes on "
        "with what an interrupted one has done.")
    p.add_argument("source", metavar="IN.parquet")
    p.add_argument("target", metavar="OUT.parquet")
    p.add_argument("-m", "--model", help="directory, file or cached name; default: the built-in "
                   "model")
    p.add_argument("--revision")
    p.add_argument("--compat", choices=["transformers", "tokenizer.json"], default="transformers")
    p.add_argument("--messages-column", default="messages", metavar="NAME",
                   help="JSON texts or nested values (default %(default)s)")
    p.add_argument("--tools-column", metavar="NAME")
    p.add_argument("--kwargs-column", metavar="NAME", help="chat_template_kwargs")
    p.add_argument("--text-column", metavar="NAME", help="plain texts, in place of messages")
    p.add_argument("--request-column", metavar="NAME", help="whole requests, in place of messages")
    p.add_argument("--tokens-column", default="tokens", metavar="NAME")
    p.add_argument("--error-column", default="error", metavar="NAME")
    p.add_argument("--drop-nulls", action="store_true",
                   help="leave out fields of nested messages that are null")
    p.add_argument("-j", "--jobs", type=int)
    p.add_argument("--memory", default="256MiB", help="bound of what is kept for reuse")
    p.add_argument("--no-reuse", action="store_true")
    p.add_argument("--verify", action="store_true")
    p.add_argument("--template", metavar="FILE")
    p.add_argument("--template-kwargs", metavar="JSON")
    p.add_argument("--parse-arguments", action="store_true")
    p.add_argument("--fallback", action="store_true")
    p.add_argument("--now", metavar="ISO8601")
    p.add_argument("--restart", action="store_true", help="drop what an interrupted run has done")
    p.add_argument("--progress", choices=["auto", "always", "never"], default="auto")
    return p.parse_args(arguments)


def _columns(args):
    if args.text_column is not None:
        return {"text": args.text_column}
    if args.request_column is not None:
        return {"request": args.request_column}
    return None


def _run(args):
    from tokdrain._counter import Counter
    from tokdrain._model import Model
    from tokdrain._parquet import Bar, count_parquet, fingerprint
    template = None
    if args.template is not None:
        with open(args.template, encoding="utf-8", newline="") as file:
            template = file.read()
    kwargs = json.loads(args.template_kwargs) if args.template_kwargs is not None else None
    model = Model.built_in() if args.model is None else Model.from_pretrained(
        args.model, revision=args.revision, compat=args.compat)
    settings = {"model": [args.model, args.revision, args.compat,
                          fingerprint(args.model) if args.model is not None else None],
                "template": template, "kwargs": kwargs, "now": args.now,
                "parse_arguments": args.parse_arguments, "fallback": args.fallback}
    shown = args.progress == "always" or (args.progress == "auto" and sys.stderr.isatty())
    bar = Bar(sys.stderr) if shown else None
    try:
        with Counter(model, jobs=args.jobs, memory=args.memory, reuse=not args.no_reuse,
                     verify=args.verify, chat_template=template, chat_template_kwargs=kwargs,
                     parse_arguments=args.parse_arguments, fallback=args.fallback,
                     now=args.now) as counter:
            return count_parquet(
                counter, args.source, args.target, messages_column=args.messages_column,
                tools_column=args.tools_column, kwargs_column=args.kwargs_column,
                columns=_columns(args), tokens_column=args.tokens_column,
                error_column=args.error_column, drop_nulls=args.drop_nulls, settings=settings,
                restart=args.restart, progress=bar)
    finally:
        if bar is not None:
            bar.close()


def main(arguments):
    """The exit status: as of `tokdrain count` (docs/cli.md)."""
    args = parse(arguments)
    try:
        import pyarrow
    except ImportError:
        print("tokdrain: Parquet files need pyarrow: pip install pyarrow", file=sys.stderr)
        return 3
    try:
        summary = _run(args)
    except (OSError, ValueError, TypeError, pyarrow.ArrowException) as error:
        print(f"tokdrain: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("tokdrain: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    if summary.failed:
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(summary.kinds.items()))
        print(f"tokdrain: {summary.failed} of {summary.rows} items failed: {kinds}",
              file=sys.stderr)
    print(f"tokdrain: {summary.rows:,} rows, {summary.tokens:,} tokens", file=sys.stderr)
    return 1 if summary.failed else 0
