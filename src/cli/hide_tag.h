/* hide_tag.h - for finding more than one error in a template. */
#ifndef TD_SRC_CLI_HIDE_TAG_H
#define TD_SRC_CLI_HIDE_TAG_H

#include <stdbool.h>
#include <stddef.h>

/* Makes the tag around byte at harmless, where no other tag depends on it: a print statement or a
 * statement of its own becomes a comment, if and elif get another condition. Nothing changes its
 * place. false: there is no such tag, and nothing was changed. */
bool cli_hide_tag(char *source, size_t len, size_t at);

#endif
