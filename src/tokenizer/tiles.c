/* tiles.c - see tiles.h. */
#include "tokenizer/tiles.h"

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/internal.h"

/* Whether an entry of byte characters is spelled as the bytes that it stands for. */
static bool is_plain(td_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= ' ' || s.ptr[i] > '~')
            return false;
    return true;
}

/* Whether the model may give an id, whose entry is known. */
static bool from_model(const tk_fast *fast, td_id id, td_str entry)
{
    return entry.ptr != NULL && (fast->bpe->ignore_merges ||
                                 tk_id_bit(fast->bpe->merges.products, id) ||
                                 td_utf8_count(entry) == 1);
}

bool tk_tiles_of(const td_tokenizer *tok)
{
    const tk_fast *fast = tok->fast;
    if (fast == NULL || fast->scanner == NULL || tok->always_track || tok->added.any_strip)
        return false;
    for (uint32_t i = 0; i < tok->added.count; i++) {
        const tk_added_token *t = &tok->added.tokens[i];
        td_str entry = tk_vocab_spell(fast->bpe->vocab, t->id);
        /* When the id may come from the model, too, both must be as long and read alike. */
        bool alike = is_plain(entry) && td_str_eq(entry, t->normalized_form);
        if (from_model(fast, t->id, entry) && !alike)
            return false;
    }
    return true;
}

static uint32_t char_start(td_str text, uint32_t at)
{
    while (at > 0 && at < text.len && td_utf8_is_cont(text.ptr[at]))
        at--;
    return at;
}

static uint32_t char_end(td_str text, uint32_t at)
{
    while (at < text.len && td_utf8_is_cont(text.ptr[at]))
        at++;
    return at;
}

td_code tk_tiles_set(const td_tokenizer *tok, tk_ctx *ctx, td_str text, tk_encoding *e, bool *ret,
                     td_error *err)
{
    td_arena_mark mark = td_arena_save(&ctx->arena);
    uint32_t *starts = td_arena_array(&ctx->arena, uint32_t, e->count + 1);
    uint32_t *ends = td_arena_array(&ctx->arena, uint32_t, e->count + 1);
    td_str *values = td_arena_array(&ctx->arena, td_str, e->count + 1);
    if (starts == NULL || ends == NULL || values == NULL)
        return tk_nomem(ctx, err);
    size_t at = 0;
    for (size_t i = 0; i < e->count; i++) {
        td_id id = e->ids[i];
        td_str entry = tk_vocab_spell(tok->fast->bpe->vocab, id);
        const tk_added_token *t =
            from_model(tok->fast, id, entry) ? NULL : tk_added_by_id(&tok->added, id);
        size_t len = t != NULL ? t->normalized_form.len : td_utf8_count(entry);
        *ret = len <= text.len - at && (t != NULL || entry.ptr != NULL);
        if (!*ret)
            break;
        starts[i] = char_start(text, (uint32_t)at);
        ends[i] = char_end(text, (uint32_t)(at + len));
        values[i] = t != NULL ? (td_str){ text.ptr + at, len } : entry;
        at += len;
    }
    *ret = at == text.len;
    if (!*ret) {
        td_arena_rewind(&ctx->arena, mark);
        return TD_OK;
    }
    e->starts = starts;
    e->ends = ends;
    e->values = values;
    return TD_OK;
}
