/* main.c - tokdrain COMMAND ... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/aggregator.h"
#include "aggregator/top.h"
#include "cli/run.h"

typedef struct command {
    const char *name;
    cli_command id;
    int (*run)(const cli_options *o);
    const char *usage, *does;
} command;

static const command commands[] = {
    { "count", CMD_COUNT, cmd_list, "[-m MODEL] [options] [FILE...]",
      "the number of tokens of each request, in input order" },
    { "render", CMD_RENDER, cmd_list, "[-m MODEL] [options] [FILE...]",
      "the rendered prompt of each request" },
    { "encode", CMD_ENCODE, cmd_list, "[-m MODEL] [options] [FILE...]",
      "the token ids of each request" },
    { "decode", CMD_DECODE, cmd_list, "[-m MODEL] [options] [FILE...]", "the text of token ids" },
    { "info", CMD_INFO, cmd_info, "[-m MODEL] [--json]", "what was loaded" },
    { "check", CMD_CHECK, cmd_check, "[-m MODEL] [TEMPLATE...]",
      "whether chat templates compile, and what in them would fail later" },
    { "drain", CMD_DRAIN, cmd_drain, "[-m MODEL] [options] [FILE...]",
      "how long a backlog of pending requests takes" },
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_usage(FILE *out)
{
    fputs(
        "usage: tokdrain COMMAND [-m MODEL] [options] [FILE...]\n"
        "\n"
        "Exact token counts of chat prompts. Requests are JSON lines; - or no FILE is standard\n"
        "input. MODEL is a model directory, a tokenizer.json or a name in the hub cache; without\n"
        "it the built-in model is used.\n"
        "\n"
        "commands:\n",
        out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].does);
    fprintf(out, "  %-9s %s\n", "aggregate", "the metrics aggregator of a benchmark, a service");
    fprintf(out, "  %-9s %s\n", "top", "what a running aggregator publishes, live");
    fputs(
        "\n"
        "tokdrain COMMAND --help tells the options of a command; tokdrain --version the version.\n"
        "\n"
        "exit status: 0 all items good; 1 some failed; 2 usage; 3 the model or an input could not\n"
        "be opened; 130 after an interrupt.\n",
        out);
}

static void print_help(const command *c)
{
    printf("usage: tokdrain %s %s\n\n%s\n\noptions:\n", c->name, c->usage, c->does);
    cli_print_help(c->id);
}

static int run_command(const command *c, int argc, char **argv)
{
    cli_options o;
    int status = CLI_USAGE;
    if (cli_parse(argc, argv, c->id, &o)) {
        if (o.help) {
            print_help(c);
            status = CLI_OK;
        } else {
            status = c->run(&o);
        }
    }
    cli_options_done(&o);
    return status;
}

int main(int argc, char **argv)
{
    /* The service and its viewer have signals, flags and statuses of their own. */
    if (argc >= 2 && strcmp(argv[1], "aggregate") == 0)
        return td_aggregate_main(argc - 1, argv + 1);
    if (argc >= 2 && strcmp(argv[1], "top") == 0)
        return td_top_main(argc - 1, argv + 1);
    cli_catch_interrupt();
    if (argc < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("tokdrain %s\n", td_version());
        return CLI_OK;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_usage(stdout);
        return CLI_OK;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return run_command(&commands[i], argc, argv);
    }
    cli_complain("no command \"%s\" (see tokdrain --help)", name);
    return CLI_USAGE;
}
