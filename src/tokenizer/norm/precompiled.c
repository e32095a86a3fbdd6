/* Precompiled: SentencePiece's character map.
 *
 * As the reference applies it: a grapheme cluster of less than six bytes becomes what its shortest
 * mapped beginning maps to, all of it; any other is mapped character by character. */
#include "base/utf8.h"
#include "tokenizer/load/components.h"
#include "tokenizer/norm/charsmap.h"
#include "tokenizer/norm/norm.h"
#include "unicode/unicode_ref.h"

enum { SHORT_CLUSTER = 5 }; /* bytes */

typedef struct precompiled {
    tk_norm base;
    tk_charsmap map;
} precompiled;

/* Emits characters one late: what maps to nothing adds to the change of the one before it. */
typedef struct writer {
    tk_edit edit;
    uint32_t c;
    int32_t change;
    bool pending, modified;
    td_error *err;
} writer;

static td_code flush(writer *w)
{
    if (!w->pending)
        return TD_OK;
    w->pending = false;
    return tk_edit_char(&w->edit, w->c, w->change, w->err);
}

static td_code put(writer *w, uint32_t c, int32_t change)
{
    TD_TRY(flush(w));
    w->c = c;
    w->change = change;
    w->pending = true;
    return TD_OK;
}

/* old_part became new_part: characters in excess are inserted, missing ones are removed behind the
 * last. At the very start nothing is there to remove them from, which shifts alignments there. */
static td_code put_replacement(writer *w, td_str old_part, td_str new_part)
{
    size_t old_count = td_utf8_count(old_part), new_count = td_utf8_count(new_part);
    const char *p = new_part.ptr, *end = new_part.ptr + new_part.len;
    for (size_t i = 0; p < end; i++)
        TD_TRY(put(w, td_utf8_next(&p, end), i >= old_count));
    if (new_count < old_count && w->pending)
        w->change -= (int32_t)(old_count - new_count);
    w->modified = true;
    return TD_OK;
}

static td_code map_chars(const tk_charsmap *m, writer *w, td_str part)
{
    const char *p = part.ptr, *end = part.ptr + part.len;
    while (p < end) {
        const char *from = p;
        uint32_t c = td_utf8_next(&p, end);
        td_str one = { from, (size_t)(p - from) }, to = { NULL, 0 };
        bool found = false;
        if (m->front[(unsigned char)*from])
            TD_TRY(tk_charsmap_find(m, one, &found, &to, w->err));
        TD_TRY(found ? put_replacement(w, one, to) : put(w, c, 0));
    }
    return TD_OK;
}

static td_code map_text(const tk_charsmap *m, writer *w, td_str text)
{
    const char *p = text.ptr, *end = text.ptr + text.len;
    while (p < end) {
        const char *stop = td_tk_cluster_end(p, end);
        td_str part = { p, (size_t)(stop - p) }, to = { NULL, 0 };
        bool found = false;
        if (part.len <= SHORT_CLUSTER && m->front[(unsigned char)*p])
            TD_TRY(tk_charsmap_find(m, part, &found, &to, w->err));
        TD_TRY(found ? put_replacement(w, part, to) : map_chars(m, w, part));
        p = stop;
    }
    return flush(w);
}

/* ASCII that no sequence starts with: nothing is mapped. */
static bool is_unmapped(const tk_charsmap *m, td_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x80 || m->front[(unsigned char)text.ptr[i]])
            return false;
    return true;
}

static td_code apply(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    const tk_charsmap *m = &((const precompiled *)self)->map;
    td_str s = { text->ptr, text->len };
    if (is_unmapped(m, s))
        return TD_OK;
    writer w = { .err = err };
    tk_edit_begin(&w.edit, ctx, text, 0);
    TD_TRY(map_text(m, &w, s));
    return w.modified ? tk_edit_end(&w.edit, text, err) : TD_OK;
}

td_code tk_make_norm_precompiled(const tk_at *at, const tk_norm **ret)
{
    precompiled *n = TK_NEW(at->load, precompiled);
    if (n == NULL)
        return TD_E_INTERNAL;
    n->base = (tk_norm){ .type = "Precompiled", .apply = apply };
    TD_TRY(tk_charsmap_load(at, "precompiled_charsmap", &n->map));
    *ret = &n->base;
    return tk_norm_learn(at->load, &n->base);
}
