/* convert_spm.c - pieces written out as vocabulary and merges: all splits of a piece into two
 * others.
 *
 * Classes take the merges by the pieces' ids, and of all pieces; the generic class by the pieces'
 * scores, and only of normal ones, with the model's own normalizer before them. */
#include "tokenizer/formats/convert_spm.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/formats/spm.h"
#include "value/json.h"

#define MARK "\xE2\x96\x81"

typedef struct writer {
    td_arena *a;
    spm_file file;
    const tk_spm_options *options;
    td_str *texts;   /* by id */
    tk_vocab *vocab; /* text -> id */
    td_buf *out;
    td_code code; /* of the first append that failed */
    td_error *err;
} writer;

static void raw(writer *w, const char *text)
{
    if (w->code == TD_OK)
        w->code = td_buf_put(w->out, td_str_from(text));
}

static void text(writer *w, td_str s)
{
    if (w->code == TD_OK)
        w->code = td_json_write_string(w->out, s, false);
}

/* ---- texts ---- */

static td_code fill(writer *w, tk_vocab *v, const td_str *skip)
{
    for (uint32_t i = 0; i < w->file.count; i++)
        if ((skip == NULL || skip[i].ptr == NULL) && !tk_vocab_add(v, w->texts[i], i))
            return td_fail_nomem(w->err);
    return tk_vocab_seal(v) ? TD_OK : td_fail_nomem(w->err);
}

/* A piece takes its new name, unless a piece that keeps its own has that already. */
static td_code rename_all(writer *w)
{
    uint32_t count = w->file.count;
    td_str *names = td_arena_array(w->a, td_str, (size_t)count + 1);
    tk_vocab *kept = tk_vocab_new(count);
    td_code code = names != NULL && kept != NULL ? TD_OK : td_arena_fail(w->a, w->err);
    if (code == TD_OK) {
        memset(names, 0, (size_t)count * sizeof *names);
        for (uint32_t i = 0; i < w->options->rename_count; i++)
            if (w->options->renames[i].id < count)
                names[w->options->renames[i].id] = w->options->renames[i].text;
        code = fill(w, kept, names);
    }
    for (uint32_t i = 0; code == TD_OK && i < count; i++) {
        td_id id;
        if (names[i].ptr != NULL && !tk_vocab_find(kept, names[i], &id))
            w->texts[i] = names[i];
    }
    tk_vocab_free(kept);
    return code;
}

static td_code set_texts(writer *w)
{
    const spm_file *f = &w->file;
    w->texts = td_arena_array(w->a, td_str, (size_t)f->count + 1);
    w->vocab = tk_vocab_new(f->count);
    if (w->texts == NULL || w->vocab == NULL)
        return td_arena_fail(w->a, w->err);
    for (uint32_t i = 0; i < f->count; i++)
        w->texts[i] = f->items[i].text;
    if (w->options->rename_count != 0)
        TD_TRY(rename_all(w));
    TD_TRY(fill(w, w->vocab, NULL));
    if (w->vocab->count != f->count)
        return td_fail(w->err, TD_E_TOKENIZER, "two pieces have the same text");
    return TD_OK;
}

/* ---- merges ---- */

/* By falling score, then by id. */
static int by_score(const void *a, const void *b)
{
    const spm_piece *x = *(const spm_piece *const *)a, *y = *(const spm_piece *const *)b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x > y) - (x < y);
}

static bool is_part(const writer *w, td_str s)
{
    td_id id;
    return tk_vocab_find(w->vocab, s, &id) &&
           (!w->options->whole || w->file.items[id].type == SPM_NORMAL);
}

static void put_splits(writer *w, td_str piece, bool *first)
{
    const char *p = piece.ptr, *end = piece.ptr + piece.len;
    for (td_utf8_next(&p, end); p < end; td_utf8_next(&p, end)) {
        td_str left = { piece.ptr, (size_t)(p - piece.ptr) }, right = { p, (size_t)(end - p) };
        if (!is_part(w, left) || !is_part(w, right))
            continue;
        raw(w, *first ? "[" : ", [");
        *first = false;
        text(w, left);
        raw(w, ", ");
        text(w, right);
        raw(w, "]");
    }
}

static td_code put_merges(writer *w)
{
    const spm_file *f = &w->file;
    const spm_piece **order = td_arena_array(w->a, const spm_piece *, (size_t)f->count + 1);
    uint32_t count = 0;
    bool first = true;
    if (order == NULL)
        return td_arena_fail(w->a, w->err);
    for (uint32_t i = 0; i < f->count; i++)
        if (!w->options->whole || f->items[i].type == SPM_NORMAL)
            order[count++] = &f->items[i];
    if (w->options->whole)
        qsort(order, count, sizeof *order, by_score);
    for (uint32_t i = 0; i < count; i++)
        put_splits(w, w->texts[order[i] - f->items], &first);
    return TD_OK;
}

/* ---- the pipeline of the generic class ---- */

static td_code put_charsmap(writer *w)
{
    td_str map = w->file.norm.charsmap;
    char *spelled = td_arena_array(w->a, char, td_base64_length(map.len) + 1);
    if (spelled == NULL)
        return td_arena_fail(w->a, w->err);
    size_t n = td_base64_write(map, spelled);
    raw(w, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": ");
    text(w, (td_str){ spelled, n });
    raw(w, "}");
    return TD_OK;
}

static void put_replace(writer *w, const char *kind, const char *pattern, const char *content,
                        bool *first)
{
    raw(w, *first ? "{\"type\": \"Replace\", \"pattern\": {\""
                  : ", {\"type\": \"Replace\", \"pattern\": {\"");
    *first = false;
    raw(w, kind);
    raw(w, "\": ");
    text(w, td_str_from(pattern));
    raw(w, "}, \"content\": ");
    text(w, td_str_from(content));
    raw(w, "}");
}

static td_code put_normalizer(writer *w)
{
    const spm_norm_spec *n = &w->file.norm;
    bool first = n->charsmap.len == 0;
    raw(w, "{\"type\": \"Sequence\", \"normalizers\": [");
    if (!first)
        TD_TRY(put_charsmap(w));
    if (n->remove_extra) {
        put_replace(w, "Regex", "\\A +| +\\z", "", &first);
        put_replace(w, "Regex", " {2,}", " ", &first);
    }
    if (n->escape)
        put_replace(w, "String", " ", MARK, &first);
    if (n->dummy_prefix && w->options->legacy)
        put_replace(w, "Regex", "\\A" MARK, MARK MARK, &first);
    raw(w, "]}");
    return TD_OK;
}

/* User-defined pieces, the longest first, of equally long ones the first. */
static int by_length(const void *a, const void *b)
{
    const td_str *x = *(const td_str *const *)a, *y = *(const td_str *const *)b;
    size_t n = td_utf8_count(*x), m = td_utf8_count(*y);
    if (n != m)
        return n > m ? -1 : 1;
    return (x > y) - (x < y);
}

static td_code put_user_pattern(writer *w, const td_str **users, uint32_t count)
{
    static const char special[] = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f";
    td_buf pattern = { 0 };
    td_code code = TD_OK;
    for (uint32_t i = 0; i < count && code == TD_OK; i++) {
        if (i != 0)
            code = td_buf_byte(&pattern, '|');
        for (size_t k = 0; k < users[i]->len && code == TD_OK; k++) {
            char c = users[i]->ptr[k];
            if (memchr(special, c, sizeof special - 1) != NULL)
                code = td_buf_byte(&pattern, '\\');
            if (code == TD_OK)
                code = td_buf_byte(&pattern, c);
        }
    }
    if (code == TD_OK)
        text(w, td_buf_view(&pattern));
    else
        w->code = w->code == TD_OK ? code : w->code;
    td_buf_done(&pattern);
    return TD_OK;
}

static td_code put_pretokenizer(writer *w, const td_str **users, uint32_t count)
{
    bool dummy = w->file.norm.dummy_prefix;
    if (!dummy && count == 0) {
        raw(w, "null");
        return TD_OK;
    }
    raw(w, "{\"type\": \"Sequence\", \"pretokenizers\": [");
    if (dummy) {
        raw(w, "{\"type\": \"Metaspace\", \"replacement\": \"" MARK "\", \"prepend_scheme\": \"");
        raw(w, w->options->legacy ? "always" : "first");
        raw(w, "\", \"split\": false}");
    }
    if (count != 0) {
        raw(w, dummy ? ", " : "");
        raw(w, "{\"type\": \"Split\", \"pattern\": {\"Regex\": ");
        TD_TRY(put_user_pattern(w, users, count));
        raw(w, "}, \"behavior\": \"Isolated\", \"invert\": false}");
    }
    raw(w, "]}");
    return TD_OK;
}

static void put_decoder(writer *w)
{
    bool bytes = w->file.byte_fallback, dummy = w->file.norm.dummy_prefix;
    raw(w, "{\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Replace\", \"pattern\": "
           "{\"String\": \"" MARK "\"}, \"content\": \" \"}");
    raw(w, bytes ? ", {\"type\": \"ByteFallback\"}" : "");
    raw(w, bytes || dummy ? ", {\"type\": \"Fuse\"}" : "");
    raw(w, dummy ? ", {\"type\": \"Strip\", \"content\": \" \", \"start\": 1, \"stop\": 0}" : "");
    raw(w, "]}");
}

static td_code put_pipeline(writer *w, uint32_t *ret_users)
{
    const spm_file *f = &w->file;
    const td_str **users = td_arena_array(w->a, const td_str *, (size_t)f->count + 1);
    uint32_t count = 0;
    if (users == NULL)
        return td_arena_fail(w->a, w->err);
    for (uint32_t i = 0; i < f->count; i++)
        if (f->items[i].type == SPM_USER_DEFINED)
            users[count++] = &w->texts[i];
    qsort(users, count, sizeof *users, by_length);
    raw(w, ", \"normalizer\": ");
    TD_TRY(put_normalizer(w));
    raw(w, ", \"pre_tokenizer\": ");
    TD_TRY(put_pretokenizer(w, users, count));
    raw(w, ", \"post_processor\": null, \"decoder\": ");
    put_decoder(w);
    *ret_users = count;
    return TD_OK;
}

/* ---- all of it ---- */

static td_code put_all(writer *w)
{
    const spm_file *f = &w->file;
    uint32_t users = 0;
    raw(w, "{\"version\": \"1.0\", \"added_tokens\": []");
    if (w->options->whole)
        TD_TRY(put_pipeline(w, &users));
    raw(w, ", \"model\": {\"type\": \"BPE\", \"unk_token\": ");
    text(w, f->unk_piece);
    raw(w, f->byte_fallback ? ", \"fuse_unk\": true, \"byte_fallback\": true"
                            : ", \"fuse_unk\": true, \"byte_fallback\": false");
    raw(w, users != 0 ? ", \"ignore_merges\": true" : ", \"ignore_merges\": false");
    raw(w, ", \"vocab\": {");
    for (uint32_t i = 0; i < f->count && w->code == TD_OK; i++) {
        raw(w, i == 0 ? "" : ", ");
        text(w, w->texts[i]);
        if (w->code == TD_OK)
            w->code = td_buf_printf(w->out, ": %u", i);
    }
    raw(w, "}, \"merges\": [");
    TD_TRY(put_merges(w));
    raw(w, "]}}");
    return w->code == TD_OK ? TD_OK : td_buf_fail(w->out, w->err, w->code, "vocabulary");
}

/* Of the generic class's extra tokens, user-defined pieces are none: the pattern finds them. */
static td_code set_facts(writer *w, tk_spm_facts *ret)
{
    const spm_file *f = &w->file;
    tk_spm_added *added = td_arena_array(w->a, tk_spm_added, (size_t)f->count + 1);
    if (added == NULL)
        return td_arena_fail(w->a, w->err);
    *ret = (tk_spm_facts){ .dummy_prefix = f->norm.dummy_prefix, .added = added };
    for (uint32_t i = 0; i < f->count; i++) {
        bool control = f->items[i].type == SPM_CONTROL;
        if (control || (f->items[i].type == SPM_USER_DEFINED && !w->options->whole))
            added[ret->added_count++] = (tk_spm_added){ f->items[i].text, control };
    }
    ret->bos = f->has_bos_id ? f->bos_piece : ret->bos;
    ret->eos = f->has_eos_id ? f->eos_piece : ret->eos;
    ret->unk = f->has_unk_id ? f->unk_piece : ret->unk;
    return TD_OK;
}

td_code tk_convert_sentencepiece(td_arena *a, td_str bytes, const tk_spm_options *options,
                                 td_buf *out, tk_spm_facts *ret_facts, td_error *err)
{
    writer w = { .a = a, .options = options, .out = out, .err = err };
    TD_TRY(tk_spm_read(a, bytes, &w.file, err));
    if (w.file.kind == SPM_UNIGRAM && options->whole)
        return td_fail(err, TD_E_TOKENIZER,
                       "a SentencePiece model of the kind Unigram is not converted; the file by "
                       "itself can be loaded");
    td_code code = set_texts(&w);
    if (code == TD_OK)
        code = put_all(&w);
    if (code == TD_OK)
        code = set_facts(&w, ret_facts);
    tk_vocab_free(w.vocab);
    return code;
}
