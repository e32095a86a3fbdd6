/* tiles.c - see tiles.h. */
#include "tokenizer/tiles.h"

#include <string.h>

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

static bool is_upper_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

/* Whether an entry stands for one byte of a character that has no entry. */
static bool is_byte(td_str entry)
{
    return entry.len == 6 && memcmp(entry.ptr, "<0x", 3) == 0 && is_upper_hex(entry.ptr[3]) &&
           is_upper_hex(entry.ptr[4]) && entry.ptr[5] == '>';
}

/* Whether the model may give an id, whose entry is known. */
static bool from_model(const tk_fast *fast, td_id id, td_str entry)
{
    return entry.ptr != NULL &&
           (fast->bpe->ignore_merges || tk_id_bit(fast->bpe->merges.products, id) ||
            td_utf8_count(entry) == 1 || (fast->scanner == NULL && is_byte(entry)));
}

/* Whether a model of characters tells the length of its tokens: spaces become marks and nothing
 * else happens. A mark in front of a text must be known for what it is, so where there is one no
 * added token may come from the model. */
static bool are_chars_good(const td_tokenizer *tok)
{
    const tk_fast *fast = tok->fast;
    const tk_bpe *bpe = fast->bpe;
    if (fast->marks.mark.len == 0 || fast->marks.how != NULL || tok->added.normalized != NULL)
        return false;
    for (uint32_t b = 0; b < 256; b++)
        if (tk_id_bit(bpe->merges.products, bpe->bytes[b]))
            return false;
    return true;
}

/* Whether an id that an added token has, and that may come from the model, too, stands for texts of
 * the same length in both cases. */
static bool is_alike(const tk_fast *fast, const tk_added_token *t, td_str entry)
{
    if (!td_str_eq(entry, t->normalized_form))
        return false;
    return fast->scanner != NULL ? is_plain(entry) : !fast->marks.prepends && !is_byte(entry);
}

bool tk_tiles_of(const td_tokenizer *tok)
{
    const tk_fast *fast = tok->fast;
    if (fast == NULL || fast->bpe == NULL || fast->prefix_space || tok->always_track ||
        tok->added.any_strip)
        return false;
    if (fast->scanner == NULL && !are_chars_good(tok))
        return false;
    for (uint32_t i = 0; i < tok->added.count; i++) {
        const tk_added_token *t = &tok->added.tokens[i];
        td_str entry = tk_vocab_spell(fast->bpe->vocab, t->id);
        if (from_model(fast, t->id, entry) && !is_alike(fast, t, entry))
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

/* How much of text from at on a token of the model stands for; headed: its first mark stands for
 * nothing. SIZE_MAX: it does not fit. */
static size_t length_at(const tk_fast *fast, td_str entry, td_str text, size_t at, bool headed)
{
    td_str mark = fast->marks.mark;
    if (fast->scanner != NULL)
        return td_utf8_count(entry);
    if (is_byte(entry))
        return headed ? SIZE_MAX : 1;
    size_t from = at, k = 0;
    if (headed && !td_str_starts(entry, mark))
        return SIZE_MAX;
    for (k = headed ? mark.len : 0; k < entry.len;) {
        bool is_mark = td_str_starts(td_str_from_offset(entry, k), mark);
        size_t n = is_mark ? mark.len : 1;
        if (at >= text.len)
            return SIZE_MAX;
        at += is_mark && text.ptr[at] == ' ' ? 1 : n;
        k += n;
    }
    return at - from;
}

td_code tk_tiles_set(const td_tokenizer *tok, tk_ctx *ctx, td_str text, tk_encoding *e, bool *ret,
                     td_error *err)
{
    const tk_fast *fast = tok->fast;
    td_arena_mark mark = td_arena_save(&ctx->arena);
    uint32_t *starts = td_arena_array(&ctx->arena, uint32_t, e->count + 1);
    uint32_t *ends = td_arena_array(&ctx->arena, uint32_t, e->count + 1);
    td_str *values = td_arena_array(&ctx->arena, td_str, e->count + 1);
    if (starts == NULL || ends == NULL || values == NULL)
        return tk_nomem(ctx, err);
    size_t at = 0;
    bool heads = fast->scanner == NULL && fast->marks.prepends, headed = heads;
    *ret = !(heads && ctx->joined);
    for (size_t i = 0; i < e->count && *ret; i++) {
        td_id id = e->ids[i];
        td_str entry = tk_vocab_spell(fast->bpe->vocab, id);
        const tk_added_token *t =
            from_model(fast, id, entry) ? NULL : tk_added_by_id(&tok->added, id);
        size_t len = t != NULL            ? t->normalized_form.len
                     : entry.ptr != NULL ? length_at(fast, entry, text, at, headed)
                                          : SIZE_MAX;
        *ret = len <= text.len - at;
        if (!*ret)
            break;
        /* A mark in front of a text is the first character's. */
        size_t shown = len != 0 || at == text.len ? len : 1;
        starts[i] = char_start(text, (uint32_t)at);
        ends[i] = char_end(text, (uint32_t)(at + shown));
        values[i] = t != NULL ? (td_str){ text.ptr + at, len } : entry;
        at += len;
        headed = heads && t != NULL;
    }
    *ret = *ret && at == text.len;
    if (!*ret) {
        td_arena_rewind(&ctx->arena, mark);
        return TD_OK;
    }
    e->starts = starts;
    e->ends = ends;
    e->values = values;
    return TD_OK;
}
