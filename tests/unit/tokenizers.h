/* tokenizers.h - tokenizers for tests: from a text, and real ones where they are present (TD_MODELS
 * or the user's cache). */
#ifndef TD_TESTS_UNIT_TOKENIZERS_H
#define TD_TESTS_UNIT_TOKENIZERS_H

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tokenizer/internal.h"

static uint64_t state = 88172645463325252u;

static inline uint32_t pick(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % n;
}

static inline td_tokenizer *load(const char *json)
{
    td_tokenizer *tok = NULL;
    td_error err = TD_ERROR_INIT;
    if (td_tokenizer_new_from_json(td_str_from(json), &tok, &err) != TD_OK)
        fail_msg("%s", err.message);
    return tok;
}

static inline td_tokenizer *load_real(const char *name)
{
    char path[512];
    const char *models = getenv("TD_MODELS"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (models != NULL)
        snprintf(path, sizeof path, "%s/%s/tokenizer.json", models, name);
    else if (cache != NULL)
        snprintf(path, sizeof path, "%s/tokdrain/models/%s/tokenizer.json", cache, name);
    else
        snprintf(path, sizeof path, "%s/.cache/tokdrain/models/%s/tokenizer.json",
                 home != NULL ? home : "", name);
    if (access(path, R_OK) != 0) {
        print_message("%s is absent (make models)\n", name);
        skip();
    }
    td_tokenizer *tok = NULL;
    td_error err = TD_ERROR_INIT;
    if (td_tokenizer_new_from_file(path, &tok, &err) != TD_OK)
        fail_msg("%s", err.message);
    return tok;
}

#endif
