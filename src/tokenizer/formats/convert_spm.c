/* convert_spm.c - pieces written out as the vocabulary of a Unigram model, or as vocabulary and
 * merges: all splits of a piece into two others.
 *
 * Classes take the merges by the pieces' ids, and of all pieces; the generic class by the pieces'
 * scores, and only of normal ones, with the model's own normalizer before them. */
#include "tokenizer/formats/convert_spm.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/formats/spm_pipeline.h"

typedef struct conversion {
    td_arena *a;
    spm_file file;
    const tk_spm_options *options;
    bool unigram;
    td_str *texts;   /* by id */
    tk_vocab *vocab; /* of BPE: text -> id */
    tk_writer w;
    td_error *err;
} conversion;

/* ---- texts ---- */

static td_code fill(conversion *c, tk_vocab *v, const td_str *skip)
{
    for (uint32_t i = 0; i < c->file.count; i++)
        if ((skip == NULL || skip[i].ptr == NULL) && !tk_vocab_add(v, c->texts[i], i))
            return td_fail_nomem(c->err);
    return tk_vocab_seal(v) ? TD_OK : td_fail_nomem(c->err);
}

/* A piece takes its new name, unless a piece that keeps its own has that already. */
static td_code rename_all(conversion *c)
{
    uint32_t count = c->file.count;
    td_str *names = td_arena_array(c->a, td_str, (size_t)count + 1);
    tk_vocab *kept = tk_vocab_new(count);
    td_code code = names != NULL && kept != NULL ? TD_OK : td_arena_fail(c->a, c->err);
    if (code == TD_OK) {
        memset(names, 0, (size_t)count * sizeof *names);
        for (uint32_t i = 0; i < c->options->rename_count; i++)
            if (c->options->renames[i].id < count)
                names[c->options->renames[i].id] = c->options->renames[i].text;
        code = fill(c, kept, names);
    }
    for (uint32_t i = 0; code == TD_OK && i < count; i++) {
        td_id id;
        if (names[i].ptr != NULL && !tk_vocab_find(kept, names[i], &id))
            c->texts[i] = names[i];
    }
    tk_vocab_free(kept);
    return code;
}

static td_code set_texts(conversion *c)
{
    const spm_file *f = &c->file;
    c->texts = td_arena_array(c->a, td_str, (size_t)f->count + 1);
    if (c->texts == NULL)
        return td_arena_fail(c->a, c->err);
    for (uint32_t i = 0; i < f->count; i++)
        c->texts[i] = f->items[i].text;
    if (c->unigram)
        return TD_OK;
    if (c->options->rename_count != 0)
        TD_TRY(rename_all(c));
    c->vocab = tk_vocab_new(f->count);
    if (c->vocab == NULL)
        return td_fail_nomem(c->err);
    TD_TRY(fill(c, c->vocab, NULL));
    if (c->vocab->count != f->count)
        return td_fail(c->err, TD_E_TOKENIZER, "two pieces have the same text");
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

static bool is_part(const conversion *c, td_str s)
{
    td_id id;
    return tk_vocab_find(c->vocab, s, &id) &&
           (!c->options->whole || c->file.items[id].type == SPM_NORMAL);
}

static void put_splits(conversion *c, td_str piece, bool *first)
{
    const char *p = piece.ptr, *end = piece.ptr + piece.len;
    for (td_utf8_next(&p, end); p < end; td_utf8_next(&p, end)) {
        td_str left = { piece.ptr, (size_t)(p - piece.ptr) }, right = { p, (size_t)(end - p) };
        if (!is_part(c, left) || !is_part(c, right))
            continue;
        tk_write_raw(&c->w, *first ? "[" : ", [");
        *first = false;
        tk_write_text(&c->w, left);
        tk_write_raw(&c->w, ", ");
        tk_write_text(&c->w, right);
        tk_write_raw(&c->w, "]");
    }
}

static td_code put_merges(conversion *c)
{
    const spm_file *f = &c->file;
    const spm_piece **order = td_arena_array(c->a, const spm_piece *, (size_t)f->count + 1);
    uint32_t count = 0;
    bool first = true;
    if (order == NULL)
        return td_arena_fail(c->a, c->err);
    for (uint32_t i = 0; i < f->count; i++)
        if (!c->options->whole || f->items[i].type == SPM_NORMAL)
            order[count++] = &f->items[i];
    if (c->options->whole)
        qsort(order, count, sizeof *order, by_score);
    for (uint32_t i = 0; i < count; i++)
        put_splits(c, c->texts[order[i] - f->items], &first);
    return TD_OK;
}

/* ---- BPE ---- */

/* Which ids are taken, and how many entries were written. */
typedef struct ids {
    bool *taken;
    uint32_t end, count;
} ids;

static td_code put_id(conversion *c, ids *s, td_str text, uint32_t id)
{
    if (s->taken[id])
        return td_fail(c->err, TD_E_TOKENIZER,
                       "two tokens of this class's vocabulary have the id %u, for this file", id);
    s->taken[id] = true;
    tk_write_raw(&c->w, s->count++ == 0 ? "" : ", ");
    tk_write_text(&c->w, text);
    tk_write_raw(&c->w, ": ");
    tk_write_uint(&c->w, id);
    return TD_OK;
}

static bool is_among(td_str text, const tk_spm_entry *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (td_str_eq(items[i].text, text))
            return true;
    return false;
}

static td_code put_ids(conversion *c)
{
    const tk_spm_options *o = c->options;
    ids s = { .end = c->file.count + o->front_count + 1 };
    s.taken = td_arena_array(c->a, bool, s.end);
    if (s.taken == NULL)
        return td_arena_fail(c->a, c->err);
    memset(s.taken, 0, s.end * sizeof *s.taken);
    for (uint32_t i = 0; i < o->front_count; i++) {
        td_id id;
        bool again = is_among(o->front[i].text, o->front + i + 1, o->front_count - i - 1) ||
                     (o->ids == TK_SPM_MOVED && tk_vocab_find(c->vocab, o->front[i].text, &id));
        if (!again)
            TD_TRY(put_id(c, &s, o->front[i].text, i));
    }
    for (uint32_t i = 0; i < c->file.count; i++) {
        uint32_t id = o->ids == TK_SPM_KEPT ? i : o->ids == TK_SPM_MOVED ? i + 1 : s.count;
        if (o->ids != TK_SPM_FILLED || !is_among(c->texts[i], o->front, o->front_count))
            TD_TRY(put_id(c, &s, c->texts[i], id));
    }
    return TD_OK;
}

static td_code put_bpe(conversion *c, bool users)
{
    const spm_file *f = &c->file;
    tk_write_raw(&c->w, ", \"model\": {\"type\": \"BPE\", \"unk_token\": ");
    tk_write_text(&c->w, f->unk_piece);
    tk_write_raw(&c->w, f->byte_fallback ? ", \"fuse_unk\": true, \"byte_fallback\": true"
                                         : ", \"fuse_unk\": true, \"byte_fallback\": false");
    tk_write_raw(&c->w, users ? ", \"ignore_merges\": true" : ", \"ignore_merges\": false");
    tk_write_raw(&c->w, ", \"vocab\": {");
    TD_TRY(put_ids(c));
    tk_write_raw(&c->w, "}, \"merges\": [");
    TD_TRY(put_merges(c));
    tk_write_raw(&c->w, "]}");
    return TD_OK;
}

/* ---- Unigram ---- */

static void put_entry(conversion *c, td_str text, double score, bool *first)
{
    tk_write_raw(&c->w, *first ? "[" : ", [");
    *first = false;
    tk_write_text(&c->w, text);
    tk_write_raw(&c->w, ", ");
    tk_write_float(&c->w, score);
    tk_write_raw(&c->w, "]");
}

static td_code put_unigram(conversion *c)
{
    const spm_file *f = &c->file;
    const tk_spm_options *o = c->options;
    bool first = true;
    if (o->whole && f->unk_id < 0)
        return td_fail(c->err, TD_E_TOKENIZER, "the model has no unknown piece by its trainer");
    tk_write_raw(&c->w, ", \"model\": {\"type\": \"Unigram\", \"unk_id\": ");
    tk_write_uint(&c->w, f->unk_id < 0 ? 0 : (uint32_t)f->unk_id);
    tk_write_raw(&c->w, f->byte_fallback ? ", \"byte_fallback\": true, \"vocab\": ["
                                         : ", \"byte_fallback\": false, \"vocab\": [");
    for (uint32_t i = 0; i < o->front_count; i++)
        put_entry(c, o->front[i].text, o->front[i].score, &first);
    for (uint32_t i = o->skip; i < f->count; i++)
        put_entry(c, c->texts[i], (double)f->items[i].score, &first);
    for (uint32_t i = 0; i < o->back_count; i++)
        put_entry(c, o->back[i].text, o->back[i].score, &first);
    tk_write_raw(&c->w, "]}");
    return TD_OK;
}

/* ---- all of it ---- */

static td_code put_all(conversion *c)
{
    uint32_t users = 0;
    tk_write_raw(&c->w, "{\"version\": \"1.0\", \"added_tokens\": []");
    if (c->options->whole)
        TD_TRY(tk_spm_write_pipeline(&c->w, c->a, &c->file, c->texts, c->options->legacy, &users,
                                     c->err));
    TD_TRY(c->unigram ? put_unigram(c) : put_bpe(c, users != 0));
    tk_write_raw(&c->w, "}");
    return tk_write_end(&c->w, c->err);
}

/* Of the generic class's extra tokens, user-defined pieces are none: the pattern finds them. */
static td_code set_facts(conversion *c, tk_spm_facts *ret)
{
    const spm_file *f = &c->file;
    tk_spm_added *added = td_arena_array(c->a, tk_spm_added, (size_t)f->count + 1);
    if (added == NULL)
        return td_arena_fail(c->a, c->err);
    *ret = (tk_spm_facts){ .dummy_prefix = f->norm.dummy_prefix,
                           .unigram = c->unigram,
                           .unk_id = f->unk_id,
                           .charsmap = f->norm.charsmap,
                           .added = added };
    for (uint32_t i = 0; i < f->count; i++) {
        bool control = f->items[i].type == SPM_CONTROL;
        if (control || (f->items[i].type == SPM_USER_DEFINED && !c->options->whole))
            added[ret->added_count++] = (tk_spm_added){ f->items[i].text, control };
    }
    ret->bos = f->has_bos_id ? f->bos_piece : ret->bos;
    ret->eos = f->has_eos_id ? f->eos_piece : ret->eos;
    ret->unk = f->unk_id >= 0 ? f->unk_piece : ret->unk;
    return TD_OK;
}

td_code tk_convert_sentencepiece(td_arena *a, td_str bytes, const tk_spm_options *options,
                                 td_buf *out, tk_spm_facts *ret_facts, td_error *err)
{
    conversion c = { .a = a, .options = options, .w = { .out = out }, .err = err };
    TD_TRY(tk_spm_read(a, bytes, &c.file, err));
    c.unigram = options->model == TK_SPM_UNIGRAM ||
                (options->model == TK_SPM_BY_KIND && c.file.kind == SPM_UNIGRAM);
    td_code code = set_texts(&c);
    if (code == TD_OK)
        code = put_all(&c);
    if (code == TD_OK)
        code = set_facts(&c, ret_facts);
    tk_vocab_free(c.vocab);
    return code;
}
