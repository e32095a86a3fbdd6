/* cmd_info.c - what was loaded, and what it costs. */
#include <stdlib.h>
#include <string.h>

#include "cli/run.h"
#include "cli/show.h"

int cmd_info(const cli_options *o)
{
    cli_options own = *o;
    if (own.model == NULL && own.file_count == 1)
        own.model = own.files[0];
    else if (own.file_count != 0) {
        cli_complain("info: one model at a time");
        return CLI_USAGE;
    }
    td_model *model = NULL;
    int status = cli_load_model(&own, &model);
    if (status != CLI_OK)
        return status;
    char *text = td_model_describe(model);
    FILE *out = o->output != NULL ? fopen(o->output, "w") : stdout;
    if (text == NULL || out == NULL) {
        cli_complain("%s", text == NULL ? "out of memory" : "the output cannot be opened");
        status = CLI_CANNOT_OPEN;
    } else {
        char memory[64];
        snprintf(memory, sizeof memory, ", \"peak_rss_bytes\": %llu}\n",
                 (unsigned long long)cli_peak_rss_bytes());
        size_t len = strlen(text), more = strlen(memory);
        char *all = malloc(len + more + 1);
        if (all != NULL) {
            memcpy(all, text, len - 1);
            memcpy(all + len - 1, memory, more + 1);
            if (o->json)
                fputs(all, out);
            else
                cli_print_json(out, all);
        }
        free(all);
        if (fflush(out) != 0 || all == NULL) {
            cli_complain("the output cannot be written");
            status = CLI_CANNOT_OPEN;
        }
    }
    if (out != NULL && out != stdout)
        fclose(out);
    td_text_free(text);
    td_model_free(model);
    return status;
}
