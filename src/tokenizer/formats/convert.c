/* convert.c - ranks written out as vocabulary and merges. Merges are all splits of a token into two
 * others, by the token's rank, then by the ranks of the parts. */
#include "tokenizer/formats/convert.h"

#include <stdlib.h>

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/formats/read.h"
#include "tokenizer/formats/write.h"
#include "tokenizer/scanner/scanner.h"

/* Tokens spelled with byte characters, by rank. */
typedef struct spelled {
    const tk_rank *items;
    td_str *texts;
    uint32_t count;
    tk_vocab *vocab; /* text -> place in texts */
} spelled;

static td_code spell_all(tk_load *load, spelled *s)
{
    s->texts = td_arena_array(&load->temp, td_str, s->count);
    s->vocab = tk_vocab_new(s->count);
    if (s->texts == NULL || s->vocab == NULL)
        return tk_load_nomem(load);
    for (uint32_t i = 0; i < s->count; i++) {
        td_str bytes = s->items[i].bytes;
        char *to = td_arena_alloc_n(&load->temp, bytes.len, 2, 1);
        size_t n = 0;
        if (to == NULL)
            return tk_load_nomem(load);
        for (size_t k = 0; k < bytes.len; k++)
            n += td_utf8_put(to + n, tk_byte_to_char((uint8_t)bytes.ptr[k]));
        s->texts[i] = (td_str){ to, n };
        if (!tk_vocab_add(s->vocab, s->texts[i], i))
            return tk_load_nomem(load);
    }
    if (!tk_vocab_seal(s->vocab))
        return tk_load_nomem(load);
    if (s->vocab->count != s->count)
        return td_fail(load->err, TD_E_TOKENIZER, "two ranks are of the same token");
    return TD_OK;
}

typedef struct split {
    uint32_t left, right; /* places */
} split;

static int by_parts(const void *a, const void *b)
{
    const split *x = a, *y = b;
    if (x->left != y->left)
        return x->left < y->left ? -1 : 1;
    return (x->right > y->right) - (x->right < y->right);
}

static void put_merges(tk_writer *w, const spelled *s)
{
    split found[TK_RANK_BYTES_MAX];
    bool first = true;
    for (uint32_t i = 0; i < s->count; i++) {
        td_str t = s->texts[i];
        const char *p = t.ptr, *end = t.ptr + t.len;
        uint32_t n = 0;
        for (td_utf8_next(&p, end); p < end; td_utf8_next(&p, end)) {
            split *one = &found[n];
            n += tk_vocab_find(s->vocab, (td_str){ t.ptr, (size_t)(p - t.ptr) }, &one->left) &&
                 tk_vocab_find(s->vocab, (td_str){ p, (size_t)(end - p) }, &one->right);
        }
        qsort(found, n, sizeof *found, by_parts);
        for (uint32_t k = 0; k < n; k++) {
            tk_write_raw(w, first ? "[" : ", [");
            first = false;
            tk_write_text(w, s->texts[found[k].left]);
            tk_write_raw(w, ", ");
            tk_write_text(w, s->texts[found[k].right]);
            tk_write_raw(w, "]");
        }
    }
}

static void put_added(tk_writer *w, td_str content, uint32_t id, bool first)
{
    tk_write_raw(w, first ? "{\"id\": " : ", {\"id\": ");
    tk_write_uint(w, id);
    tk_write_raw(w, ", \"content\": ");
    tk_write_text(w, content);
    tk_write_raw(
        w, ", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, "
           "\"special\": true}");
}

typedef struct parts {
    spelled tokens;
    td_str pattern;
    const td_str *specials;
    uint32_t special_count;
    uint32_t first_id;      /* of ranks */
    uint32_t first_special; /* id of the first special token */
    bool specials_in_vocab;
} parts;

static void put_all(tk_writer *w, const parts *p)
{
    tk_write_raw(w, "{\"version\": \"1.0\", \"added_tokens\": [");
    for (uint32_t i = 0; i < p->special_count; i++)
        put_added(w, p->specials[i], p->first_special + i, i == 0);
    tk_write_raw(
        w,
        "], \"normalizer\": null, \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": "
        "[{\"type\": \"Split\", \"pattern\": {\"Regex\": ");
    tk_write_text(w, p->pattern);
    tk_write_raw(
        w, "}, \"behavior\": \"Isolated\", \"invert\": false}, {\"type\": \"ByteLevel\", "
           "\"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": false}]}, "
           "\"post_processor\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true, "
           "\"trim_offsets\": false, \"use_regex\": true}, \"decoder\": {\"type\": \"ByteLevel\", "
           "\"add_prefix_space\": true, \"trim_offsets\": true, \"use_regex\": true}, \"model\": "
           "{\"type\": \"BPE\", \"ignore_merges\": true, \"vocab\": {");
    for (uint32_t i = 0; i < p->tokens.count; i++) {
        tk_write_raw(w, i == 0 ? "" : ", ");
        tk_write_text(w, p->tokens.texts[i]);
        tk_write_raw(w, ": ");
        tk_write_uint(w, p->first_id + p->tokens.items[i].rank);
    }
    for (uint32_t i = 0; p->specials_in_vocab && i < p->special_count; i++) {
        tk_write_raw(w, ", ");
        tk_write_text(w, p->specials[i]);
        tk_write_raw(w, ": ");
        tk_write_uint(w, p->first_special + i);
    }
    tk_write_raw(w, "}, \"merges\": [");
    put_merges(w, &p->tokens);
    tk_write_raw(w, "]}}");
}

static td_code write(tk_load *load, parts *p, td_buf *out)
{
    tk_writer w = { .out = out };
    td_code code = spell_all(load, &p->tokens);
    if (code == TD_OK) {
        put_all(&w, p);
        code = tk_write_end(&w, load->err);
    }
    tk_vocab_free(p->tokens.vocab);
    return code;
}

td_code tk_convert_tekken(td_arena *a, td_str bytes, td_buf *out, td_error *err)
{
    tk_cleanup *none = NULL;
    tk_load load = { .arena = a, .cleanup = &none, .err = err };
    tk_tekken t;
    td_str *specials = NULL;
    td_code code = tk_tekken_read(&load, bytes, &t);
    if (code == TD_OK && !t.names_specials)
        code = td_fail(err, TD_E_TOKENIZER,
                       "special_tokens are missing: transformers reads such files only with "
                       "mistral-common, the file by itself can be loaded");
    if (code == TD_OK) {
        specials = td_arena_array(&load.temp, td_str, (size_t)t.special_count + 1);
        if (specials == NULL)
            code = tk_load_nomem(&load);
    }
    if (code == TD_OK) {
        for (uint32_t i = 0; i < t.special_count; i++)
            specials[i] = t.specials[i].content;
        parts p = { .tokens = { .items = t.items, .count = t.count },
                    .pattern = t.pattern,
                    .specials = specials,
                    .special_count = t.special_count,
                    .first_id = t.special_count,
                    .specials_in_vocab = true };
        code = write(&load, &p, out);
    }
    td_arena_done(&load.temp);
    return code;
}

td_code tk_convert_tiktoken(td_arena *a, td_str bytes, const td_str *specials, size_t count,
                            td_buf *out, td_error *err)
{
    tk_cleanup *none = NULL;
    tk_load load = { .arena = a, .cleanup = &none, .err = err };
    parts p = { .pattern = td_str_from(tk_pattern_cl100k),
                .specials = specials,
                .special_count = (uint32_t)count };
    td_code code = tk_ranks_read(&load, bytes, &p.tokens.items, &p.tokens.count);
    if (code == TD_OK) {
        p.first_special = p.tokens.count;
        code = write(&load, &p, out);
    }
    td_arena_done(&load.temp);
    return code;
}

td_code tk_count_ranks(td_arena *a, td_str bytes, uint32_t *ret, td_error *err)
{
    tk_cleanup *none = NULL;
    tk_load load = { .arena = a, .cleanup = &none, .err = err };
    const tk_rank *items;
    td_code code = tk_ranks_read(&load, bytes, &items, ret);
    td_arena_done(&load.temp);
    return code;
}
