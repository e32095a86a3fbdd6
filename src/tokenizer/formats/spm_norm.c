/* spm_norm.c - SentencePiece's normalizer: user-defined pieces stay, the longest rule of the
 * character map is applied elsewhere, white space is taken together, marked and led by a mark. */
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/formats/spm.h"

#define MARK "\xE2\x96\x81"

size_t tk_spm_longest(const tk_prefix_trie *t, td_str s)
{
    size_t longest = 0;
    uint32_t node = 0;
    for (size_t i = 0; i < s.len; i++) {
        node = tk_prefix_step(t, node, (uint8_t)s.ptr[i]);
        if (node == 0)
            break;
        if (tk_prefix_ends(t, node))
            longest = i + 1;
    }
    return longest;
}

/* What the front of s becomes, and how many bytes of it that is. */
static td_code prefix(const spm_norm *n, td_str s, td_str *ret, size_t *ret_len, td_error *err)
{
    *ret_len = n->user != NULL ? tk_spm_longest(n->user, s) : 0;
    if (*ret_len == 0 && n->has_map && n->map.front[(unsigned char)s.ptr[0]]) {
        TD_TRY(tk_charsmap_longest(&n->map, s, ret_len, ret, err));
        if (*ret_len != 0)
            return TD_OK;
    }
    if (*ret_len == 0) {
        const char *p = s.ptr;
        td_utf8_next(&p, s.ptr + s.len);
        *ret_len = (size_t)(p - s.ptr);
    }
    *ret = (td_str){ s.ptr, *ret_len };
    return TD_OK;
}

typedef struct writer {
    td_buf *out, *places; /* places NULL: they are not kept */
    td_error *err;
} writer;

static td_code put(writer *w, td_str s, uint32_t place)
{
    td_code code = td_buf_put(w->out, s);
    for (size_t i = 0; w->places != NULL && code == TD_OK && i < s.len; i++)
        code = td_buf_append(w->places, (const char *)&place, sizeof place);
    if (code == TD_OK && w->out->len >= UINT32_MAX)
        return td_fail(w->err, TD_E_LIMIT, "normalized text is too long");
    return code == TD_OK ? TD_OK : td_buf_fail(w->out, w->err, code, "normalized text");
}

static td_code put_marked(writer *w, td_str s, bool escape, uint32_t place)
{
    while (escape && s.len != 0) {
        const char *space = memchr(s.ptr, ' ', s.len);
        size_t head = space != NULL ? (size_t)(space - s.ptr) : s.len;
        TD_TRY(put(w, (td_str){ s.ptr, head }, place));
        if (space == NULL)
            return TD_OK;
        TD_TRY(put(w, TD_STR(MARK), place));
        s = td_str_from_offset(s, head + 1);
    }
    return put(w, s, place);
}

/* Takes white space off the end again; where the rest ends in the original text. */
static void strip_end(const spm_norm *n, writer *w, size_t from, uint32_t *end)
{
    td_str space = n->escape ? TD_STR(MARK) : TD_STR(" ");
    while (w->out->len - from >= space.len &&
           td_str_ends((td_str){ w->out->ptr + from, w->out->len - from }, space)) {
        w->out->len -= space.len;
        if (w->places == NULL)
            continue;
        w->places->len -= space.len * sizeof *end;
        memcpy(end, w->places->ptr + w->places->len, sizeof *end);
    }
}

td_code tk_spm_normalize(const spm_norm *n, td_str s, td_buf *out, td_buf *places, td_error *err)
{
    writer w = { out, places, err };
    size_t at = 0, len, from = out->len;
    td_str form;
    td_str mark = n->escape ? TD_STR(MARK) : TD_STR(" ");
    for (; n->remove_extra && at < s.len; at += len) {
        TD_TRY(prefix(n, td_str_from_offset(s, at), &form, &len, err));
        if (!td_str_eq(form, TD_STR(" ")))
            break;
    }
    if (at == s.len)
        return TD_OK; /* nothing but white space: no text at all */
    if (!n->suffix && n->dummy_prefix)
        TD_TRY(put(&w, mark, (uint32_t)at));
    bool after_space = n->remove_extra;
    for (; at < s.len; at += len) {
        TD_TRY(prefix(n, td_str_from_offset(s, at), &form, &len, err));
        while (after_space && form.len != 0 && form.ptr[0] == ' ')
            form = td_str_from_offset(form, 1);
        if (form.len != 0) {
            TD_TRY(put_marked(&w, form, n->escape, (uint32_t)at));
            after_space = n->remove_extra && form.ptr[form.len - 1] == ' ';
        }
    }
    uint32_t end = (uint32_t)s.len;
    if (n->remove_extra)
        strip_end(n, &w, from, &end);
    if (n->suffix && n->dummy_prefix)
        TD_TRY(put(&w, mark, end));
    td_code code = TD_OK;
    if (places != NULL)
        code = td_buf_append(places, (const char *)&end, sizeof end);
    return code == TD_OK ? TD_OK : td_buf_fail(places, err, code, "normalized text");
}

/* Where each byte and its end come from. */
static td_code set_align(tk_ctx *ctx, tk_text *text, const td_buf *places, td_error *err)
{
    tk_align *align = td_arena_array(&ctx->arena, tk_align, (size_t)text->len + 1);
    if (align == NULL)
        return tk_nomem(ctx, err);
    uint32_t here, next;
    for (uint32_t i = 0; i < text->len; i++) {
        memcpy(&here, places->ptr + i * sizeof here, sizeof here);
        memcpy(&next, places->ptr + (i + 1) * sizeof next, sizeof next);
        align[i] = (tk_align){ here, next };
    }
    text->align = align;
    return TD_OK;
}

static td_code apply(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    td_buf out = { 0 }, places = { 0 };
    bool track = text->align != NULL;
    td_str s = { text->ptr, text->len };
    td_code code = td_buf_reserve(&out, s.len + s.len / 2 + 16);
    if (code != TD_OK)
        code = td_buf_fail(&out, err, code, "normalized text");
    else
        code = tk_spm_normalize((const spm_norm *)self, s, &out, track ? &places : NULL, err);
    if (code == TD_OK) {
        td_str kept = td_arena_copy(&ctx->arena, td_buf_view(&out));
        if (kept.ptr == NULL)
            code = tk_nomem(ctx, err);
        text->ptr = kept.ptr;
        text->len = (uint32_t)kept.len;
    }
    if (code == TD_OK && track)
        code = set_align(ctx, text, &places, err);
    td_buf_done(&out);
    td_buf_done(&places);
    return code;
}

td_code tk_spm_make_norm(tk_load *load, const spm_norm_spec *spec, bool suffix,
                         const tk_prefix_trie *user, const spm_norm **ret)
{
    spm_norm *n = TK_NEW(load, spm_norm);
    if (n == NULL)
        return TD_E_INTERNAL;
    *n = (spm_norm){ .base = { .type = "SentencePiece", .apply = apply },
                     .has_map = spec->charsmap.len != 0,
                     .user = user,
                     .dummy_prefix = spec->dummy_prefix,
                     .remove_extra = spec->remove_extra,
                     .escape = spec->escape,
                     .suffix = suffix };
    if (n->has_map) {
        tk_at root = { .load = load };
        tk_at at = { .load = load, .up = &root, .key = "normalizer_spec.precompiled_charsmap" };
        td_str kept = tk_keep(load, spec->charsmap);
        if (kept.ptr == NULL)
            return TD_E_INTERNAL;
        TD_TRY(tk_charsmap_make(&at, kept, &n->map));
    }
    *ret = n;
    return TD_OK;
}
