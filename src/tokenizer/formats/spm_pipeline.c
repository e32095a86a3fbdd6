/* spm_pipeline.c - the model's own normalizer settings as components, and user-defined pieces as a
 * pattern: such a piece is one token wherever it stands. */
#include "tokenizer/formats/spm_pipeline.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/str.h"
#include "base/utf8.h"

#define MARK "\xE2\x96\x81"

typedef struct pipeline {
    tk_writer *w;
    td_arena *a;
    const spm_norm_spec *norm;
    bool legacy, bytes;
    const td_str **users; /* user-defined pieces, in the order of the pattern */
    uint32_t user_count;
    td_error *err;
} pipeline;

/* ---- normalizer ---- */

static td_code put_charsmap(pipeline *p)
{
    td_str map = p->norm->charsmap;
    char *spelled = td_arena_array(p->a, char, td_base64_length(map.len) + 1);
    if (spelled == NULL)
        return td_arena_fail(p->a, p->err);
    size_t n = td_base64_write(map, spelled);
    tk_write_raw(p->w, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": ");
    tk_write_text(p->w, (td_str){ spelled, n });
    tk_write_raw(p->w, "}");
    return TD_OK;
}

static void put_replace(tk_writer *w, const char *kind, const char *pattern, const char *content,
                        bool *first)
{
    tk_write_raw(w, *first ? "" : ", ");
    *first = false;
    tk_write_raw(w, "{\"type\": \"Replace\", \"pattern\": {\"");
    tk_write_raw(w, kind);
    tk_write_raw(w, "\": ");
    tk_write_text(w, td_str_from(pattern));
    tk_write_raw(w, "}, \"content\": ");
    tk_write_text(w, td_str_from(content));
    tk_write_raw(w, "}");
}

static td_code put_normalizer(pipeline *p)
{
    const spm_norm_spec *n = p->norm;
    bool first = n->charsmap.len == 0;
    tk_write_raw(p->w, "{\"type\": \"Sequence\", \"normalizers\": [");
    if (!first)
        TD_TRY(put_charsmap(p));
    if (n->remove_extra) {
        put_replace(p->w, "Regex", "\\A +| +\\z", "", &first);
        put_replace(p->w, "Regex", " {2,}", " ", &first);
    }
    if (n->escape)
        put_replace(p->w, "String", " ", MARK, &first);
    if (n->dummy_prefix && p->legacy)
        put_replace(p->w, "Regex", "\\A" MARK, MARK MARK, &first);
    tk_write_raw(p->w, "]}");
    return TD_OK;
}

/* ---- pre-tokenizer ---- */

/* The longest first, of equally long ones the first. */
static int by_length(const void *a, const void *b)
{
    const td_str *x = *(const td_str *const *)a, *y = *(const td_str *const *)b;
    size_t n = td_utf8_count(*x), m = td_utf8_count(*y);
    if (n != m)
        return n > m ? -1 : 1;
    return (x > y) - (x < y);
}

static td_code put_user_pattern(pipeline *p)
{
    static const char special[] = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f";
    td_buf pattern = { 0 };
    td_code code = TD_OK;
    for (uint32_t i = 0; i < p->user_count && code == TD_OK; i++) {
        td_str user = *p->users[i];
        if (i != 0)
            code = td_buf_byte(&pattern, '|');
        for (size_t k = 0; k < user.len && code == TD_OK; k++) {
            char c = user.ptr[k];
            if (memchr(special, c, sizeof special - 1) != NULL)
                code = td_buf_byte(&pattern, '\\');
            if (code == TD_OK)
                code = td_buf_byte(&pattern, c);
        }
    }
    if (code == TD_OK)
        tk_write_text(p->w, td_buf_view(&pattern));
    else
        code = td_buf_fail(&pattern, p->err, code, "vocabulary");
    td_buf_done(&pattern);
    return code;
}

static td_code put_pretokenizer(pipeline *p)
{
    bool dummy = p->norm->dummy_prefix;
    if (!dummy && p->user_count == 0) {
        tk_write_raw(p->w, "null");
        return TD_OK;
    }
    tk_write_raw(p->w, "{\"type\": \"Sequence\", \"pretokenizers\": [");
    if (dummy) {
        tk_write_raw(p->w, "{\"type\": \"Metaspace\", \"replacement\": \"" MARK
                           "\", \"prepend_scheme\": \"");
        tk_write_raw(p->w, p->legacy ? "always" : "first");
        tk_write_raw(p->w, "\", \"split\": false}");
    }
    if (p->user_count != 0) {
        tk_write_raw(p->w, dummy ? ", " : "");
        tk_write_raw(p->w, "{\"type\": \"Split\", \"pattern\": {\"Regex\": ");
        TD_TRY(put_user_pattern(p));
        tk_write_raw(p->w, "}, \"behavior\": \"Isolated\", \"invert\": false}");
    }
    tk_write_raw(p->w, "]}");
    return TD_OK;
}

/* ---- all of it ---- */

static void put_decoder(pipeline *p)
{
    bool dummy = p->norm->dummy_prefix;
    tk_write_raw(p->w, "{\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Replace\", "
                       "\"pattern\": {\"String\": \"" MARK "\"}, \"content\": \" \"}");
    tk_write_raw(p->w, p->bytes ? ", {\"type\": \"ByteFallback\"}" : "");
    tk_write_raw(p->w, p->bytes || dummy ? ", {\"type\": \"Fuse\"}" : "");
    tk_write_raw(p->w, dummy ? ", {\"type\": \"Strip\", \"content\": \" \", \"start\": 1, "
                               "\"stop\": 0}"
                             : "");
    tk_write_raw(p->w, "]}");
}

td_code tk_spm_write_pipeline(tk_writer *w, td_arena *a, const spm_file *file, const td_str *texts,
                              bool legacy, uint32_t *ret_users, td_error *err)
{
    pipeline p = { .w = w,
                   .a = a,
                   .norm = &file->norm,
                   .legacy = legacy,
                   .bytes = file->byte_fallback,
                   .err = err };
    p.users = td_arena_array(a, const td_str *, (size_t)file->count + 1);
    if (p.users == NULL)
        return td_arena_fail(a, err);
    for (uint32_t i = 0; i < file->count; i++)
        if (file->items[i].type == SPM_USER_DEFINED)
            p.users[p.user_count++] = &texts[i];
    qsort(p.users, p.user_count, sizeof *p.users, by_length);
    tk_write_raw(w, ", \"normalizer\": ");
    TD_TRY(put_normalizer(&p));
    tk_write_raw(w, ", \"pre_tokenizer\": ");
    TD_TRY(put_pretokenizer(&p));
    tk_write_raw(w, ", \"post_processor\": null, \"decoder\": ");
    put_decoder(&p);
    *ret_users = p.user_count;
    return TD_OK;
}
