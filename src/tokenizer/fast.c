/* fast.c - for which tokenizers there is a fast way, and its tables (see fast.h). */
#include "tokenizer/fast.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/fast_loops.h"
#include "tokenizer/norm/norm.h"
#include "tokenizer/pretok/pretok.h"
#include "tokenizer/vocab/vocab.h"

static td_code set_cuts(tk_load *load, tk_fast *f, bool chars)
{
    tk_cuts *cuts = tk_cuts_new(f->bpe, chars, f->marks.mark);
    if (cuts == NULL)
        return tk_load_nomem(load);
    f->cuts = cuts;
    return tk_on_free(load, td_free, cuts);
}

static bool has_all_bytes(tk_fast *f)
{
    for (uint32_t b = 0; b < 256; b++) {
        f->bytes[b] = f->bpe->direct[tk_byte_to_char((uint8_t)b)];
        if (f->bytes[b] == TK_NO_ID)
            return false;
    }
    return true;
}

/* The UTF-8 of the characters that stand for bytes: one byte or two. */
static void set_byte_chars(tk_fast *f)
{
    for (uint32_t b = 0; b < 256; b++) {
        char text[4] = { 0 };
        td_utf8_put(text, tk_byte_to_char((uint8_t)b));
        memcpy(&f->byte_chars[b], text, sizeof f->byte_chars[b]);
    }
}

static void free_entries(void *entries)
{
    tk_entries_done(entries);
}

static td_code set_entries(tk_load *load, tk_fast *f)
{
    TD_TRY(tk_on_free(load, free_entries, &f->entries));
    return tk_entries_fill(&f->entries, f->bpe) ? TD_OK : tk_load_nomem(load);
}

static td_code set_long_entries(tk_load *load, tk_fast *f)
{
    const tk_vocab *v = f->bpe->vocab;
    f->long_entries = tk_new(load, (1 << TK_LONG_ENTRY_BITS) / 8);
    if (f->long_entries == NULL)
        return TD_E_INTERNAL;
    for (uint32_t at = 0; at < v->size; at = tk_vocab_next(v, at)) {
        char bytes[512];
        td_str entry = tk_vocab_text(v, at);
        if (entry.len <= TK_CACHED_BYTES)
            continue;
        size_t n = tk_chars_to_bytes(entry, bytes, sizeof bytes);
        if (n == 0 && entry.len > sizeof bytes) { /* any long word may be one then */
            memset(f->long_entries, 0xFF, (1 << TK_LONG_ENTRY_BITS) / 8);
            break;
        }
        if (n > TK_CACHED_BYTES) {
            uint32_t bit = tk_long_entry(bytes, n);
            f->long_entries[bit >> 6] |= (uint64_t)1 << (bit & 63);
        }
    }
    return TD_OK;
}

static td_code set_char_words(tk_load *load, tk_fast *f, const tk_norm *norm)
{
    if (!tk_spaces_of(norm, f->spaces, &f->marks) ||
        !tk_vocab_find(f->bpe->vocab, f->marks.mark, &f->mark))
        f->marks = (tk_spaces){ 0 };
    TD_TRY(set_cuts(load, f, true));
    f->chars = TK_NEW(load, tk_char_words);
    if (f->chars == NULL)
        return TD_E_INTERNAL;
    tk_char_words_start(f->chars, f->bpe, f->cuts, f->marks.mark, f->mark);
    return TD_OK;
}

/* Whether pretok leaves every text from norm whole. */
static bool splits_nothing(const tk_norm *norm, const tk_pretok *pretok)
{
    if (pretok == NULL)
        return true;
    if (!tk_is_split(pretok))
        return false;
    const tk_split_pretok *s = (const tk_split_pretok *)pretok;
    bool is_string;
    td_str source = tk_regex_source(s->pattern, &is_string);
    bool keeps = s->behavior != TK_REMOVED || !s->invert;
    return is_string && keeps && tk_norm_removes(norm, source);
}

/* Whether every character has symbols that do not depend on its neighbours. */
static bool falls_back_to_bytes(const tk_bpe *bpe)
{
    if (!bpe->byte_fallback || bpe->ignore_merges)
        return false;
    for (uint32_t b = 0; b < 256; b++)
        if (bpe->bytes[b] == TK_NO_ID || tk_id_bit(bpe->merges.parts, bpe->bytes[b]))
            return false;
    return true;
}

/* Words of BPE. *ret stays NULL where it is not one that can be taken so. */
static td_code set_bpe(tk_load *load, tk_fast *f, const tk_norm *norm, const tk_pretok *pretok,
                       const tk_bpe *bpe, const tk_fast **ret)
{
    /* Of two texts of one id, cuts and proofs would see only one. */
    if (bpe == NULL || bpe->prefix.len != 0 || bpe->suffix.len != 0 || bpe->vocab->shared_ids)
        return TD_OK;
    f->bpe = bpe;
    f->scanner = pretok != NULL ? tk_scanner_of(pretok, &f->prefix_space) : NULL;
    if (f->scanner != NULL) {
        f->run = tk_scan_best(f->scanner->run, td_cpu_best());
        if (!has_all_bytes(f))
            return TD_OK;
    } else {
        f->spaces = norm == NULL && pretok != NULL ? tk_as_metaspace(pretok) : NULL;
        bool whole = f->spaces != NULL ? !f->spaces->split : splits_nothing(norm, pretok);
        if (!whole || !falls_back_to_bytes(bpe))
            return TD_OK;
    }
    set_byte_chars(f);
    if (f->scanner != NULL)
        TD_TRY(set_entries(load, f));
    if (bpe->ignore_merges && f->scanner != NULL)
        TD_TRY(set_long_entries(load, f));
    *ret = f;
    return f->scanner == NULL ? set_char_words(load, f, norm) : set_cuts(load, f, false);
}

/* Words for any model. NULL: there is no scanner for the pre-tokenizer. */
static const tk_fast *set_pieces(tk_fast *f, const tk_pretok *pretok, const tk_model *model)
{
    if (pretok == NULL || pretok->positional || (pretok->parts != NULL && pretok->part_count == 0))
        return NULL;
    const tk_pretok *first = pretok->parts != NULL ? pretok->parts[0] : pretok;
    *f = (tk_fast){ .loops = f->loops, .model = model, .scanner = tk_kinds_scanner(first) };
    if (f->scanner == NULL)
        return NULL;
    f->run = tk_scan_best(f->scanner->run, td_cpu_best());
    f->drops_space = tk_as_metaspace(first) == NULL;
    f->pretok = f->drops_space && pretok->part_count <= 1 ? NULL : pretok;
    return f;
}

td_code tk_fast_new(tk_load *load, const tk_norm *norm, const tk_pretok *pretok,
                    const tk_model *model, const tk_fast **ret)
{
    *ret = NULL;
    tk_fast *f = TK_NEW(load, tk_fast);
    if (f == NULL)
        return TD_E_INTERNAL;
    f->loops = tk_loops_of(td_cpu_best());
    TD_TRY(set_bpe(load, f, norm, pretok, tk_as_bpe(model), ret));
    if (*ret == NULL)
        *ret = set_pieces(f, pretok, model);
    return TD_OK;
}

td_code tk_sink_reserve(tk_sink *sink, size_t extra, td_error *err)
{
    if (sink->counting || extra <= sink->cap - sink->count)
        return TD_OK;
    size_t cap = sink->cap * 2 + extra + 1024;
    td_id *ids = td_realloc(sink->ids, cap * sizeof *ids);
    if (ids == NULL)
        return td_fail_nomem(err);
    sink->ids = ids;
    sink->cap = cap;
    return TD_OK;
}
