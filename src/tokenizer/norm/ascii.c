/* ascii.c - the short way through normalizers that take ASCII character by character.
 *
 * Such a normalizer has tk_norm.ascii: in texts of ASCII, what each character becomes does not
 * depend on others; in other texts the same holds for all but those next to what is no ASCII, of
 * which the one in front may compose with it (NFC) and the one behind may be of one cluster with it
 * (Precompiled). So stretches of ASCII go through a table, which the normalizer itself has filled,
 * and islands of the rest, with their neighbours, through the normalizer. A neighbour that is
 * dropped does not count as one. Where more is known (tk_norm.wide) islands are what is left. */
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/load/load.h"
#include "tokenizer/norm/norm.h"

enum {
    DROPPED = 0x80, /* in a table: the character becomes nothing */
    GAP_MIN = 32,   /* characters between islands; fewer are taken with them */
    SLACK = 32,     /* readable bytes behind what is made */
};

/* What norm makes of a text of one or two characters, as one byte for each of them; false: it is
 * something else. */
static bool learn(const tk_norm *norm, tk_ctx *ctx, td_str text, uint8_t *ret, td_error *err)
{
    tk_text t = { .ptr = text.ptr, .len = (uint32_t)text.len, .to = (uint32_t)text.len };
    ctx->input = text;
    bool good = norm->apply(norm, ctx, &t, err) == TD_OK && t.len <= text.len &&
                td_utf8_is_ascii((td_str){ t.ptr, t.len });
    ret[0] = ret[1] = DROPPED;
    if (good && t.len != 0)
        memcpy(ret, t.ptr, t.len);
    td_arena_reset(&ctx->arena);
    return good;
}

/* The one pair of ASCII characters that is one cluster must become what both do alone: then it does
 * not matter where they are taken apart. */
static bool learn_crlf(const tk_norm *norm, tk_ctx *ctx, const uint8_t *ascii, td_error *err)
{
    uint8_t both[2], alone[2] = { ascii['\r'], ascii['\n'] };
    if (alone[0] == DROPPED) {
        alone[0] = alone[1];
        alone[1] = DROPPED;
    }
    return learn(norm, ctx, TD_STR("\r\n"), both, err) && memcmp(both, alone, 2) == 0;
}

td_code tk_norm_learn(tk_load *load, tk_norm *norm)
{
    tk_ctx ctx = { 0 };
    td_error err = TD_ERROR_INIT;
    uint8_t *ascii = tk_new(load, 128);
    if (ascii == NULL)
        return TD_E_INTERNAL;
    bool good = true, same = true;
    for (uint32_t b = 0; b < 128 && good; b++) {
        uint8_t made[2];
        char byte = (char)b;
        good = learn(norm, &ctx, (td_str){ &byte, 1 }, made, &err);
        ascii[b] = made[0];
        same &= made[0] == b;
    }
    if (good && learn_crlf(norm, &ctx, ascii, &err)) {
        norm->ascii = ascii;
        norm->keeps_ascii = same;
    }
    td_error_clear(&err);
    td_arena_done(&ctx.arena);
    return TD_OK;
}

/* Text on its way into a new one. */
typedef struct writer {
    const tk_norm *norm;
    tk_ctx *ctx;
    tk_text in;
    char *out; /* in the arena */
    size_t len, cap, growth; /* bytes for one of the text, but in islands */
    bool changed;
    td_error *err;
} writer;

/* Makes room for extra bytes of out and as many as are still to come; false: it was made in a new
 * place, behind all that is in the arena. */
static td_code make_room(writer *w, size_t extra, size_t rest, bool *ret_there)
{
    rest *= w->growth;
    *ret_there = w->out != NULL && extra + rest + SLACK <= w->cap - w->len;
    if (*ret_there)
        return TD_OK;
    size_t cap = 2 * (w->len + extra) + rest + 2 * SLACK;
    if (cap > UINT32_MAX)
        return td_fail(w->err, TD_E_LIMIT, "normalized text is too long");
    char *to = td_arena_alloc(&w->ctx->arena, cap, 1);
    if (to == NULL)
        return tk_nomem(w->ctx, w->err);
    if (w->len != 0)
        memcpy(to, w->out, w->len);
    w->out = to;
    w->cap = cap;
    return TD_OK;
}

static void put_ascii(writer *w, const char *p, const char *end)
{
    const uint8_t *ascii = w->norm->ascii;
    char *to = w->out + w->len;
    uint8_t changed = 0;
    for (; p < end; p++) {
        uint8_t c = ascii[(uint8_t)*p];
        changed |= c ^ (uint8_t)*p;
        *to = (char)c;
        to += c != DROPPED;
    }
    w->len = (size_t)(to - w->out);
    w->changed |= changed != 0;
}

static td_code put_island(writer *w, const char *p, const char *end)
{
    tk_text t = { .ptr = p, .len = (uint32_t)(end - p), .to = (uint32_t)(end - p) };
    td_arena_mark mark = td_arena_save(&w->ctx->arena);
    bool there = false;
    TD_TRY(w->norm->apply(w->norm, w->ctx, &t, w->err));
    TD_TRY(make_room(w, t.len, w->in.len - (size_t)(end - w->in.ptr), &there));
    memcpy(w->out + w->len, t.ptr, t.len);
    w->len += t.len;
    w->changed |= t.ptr != p || t.len != (size_t)(end - p);
    if (there)
        td_arena_rewind(&w->ctx->arena, mark);
    w->ctx->matches = (tk_matches){ 0 }; /* its storage may be gone */
    return TD_OK;
}

/* Where an island ends that has begun before p: behind a neighbour, with others between it and the
 * next island. */
static const char *island_end(const uint8_t *ascii, const char *p, const char *end)
{
    while (p < end) {
        const char *neighbour = NULL;
        uint32_t kept = 0;
        while (p < end && (uint8_t)*p >= 0x80)
            p++;
        for (; p < end && (uint8_t)*p < 0x80 && kept <= GAP_MIN; p++) {
            bool drops = ascii[(uint8_t)*p] == DROPPED;
            if (!drops && kept++ == 0)
                neighbour = p + 1;
        }
        if (neighbour != NULL && (kept > GAP_MIN || p == end))
            return neighbour;
    }
    return end;
}

static td_code run(writer *w)
{
    const char *p = w->in.ptr, *end = p + w->in.len;
    while (p < end) {
        const char *stop = p + td_utf8_ascii_run((td_str){ p, (size_t)(end - p) });
        if (stop != end) {
            while (stop > p && w->norm->ascii[(uint8_t)stop[-1]] == DROPPED)
                stop--;
            stop -= stop > p;
        }
        put_ascii(w, p, stop);
        if (stop == end)
            break;
        p = stop;
        const char *wide = p + td_utf8_ascii_run((td_str){ p, (size_t)(end - p) });
        stop = island_end(w->norm->ascii, wide, end);
        TD_TRY(put_island(w, p, stop));
        p = stop;
    }
    return TD_OK;
}

static inline bool has(const uint64_t *bits, uint32_t c)
{
    return c < 0x10000 && (bits[c / 64] >> (c % 64) & 1) != 0;
}

/* Puts a character, with a space on either side or without. */
static inline void put_same(writer *w, const char *p, size_t n, bool spaced)
{
    char *to = w->out + w->len;
    to[0] = ' ';
    for (size_t i = 0; i < n; i++)
        to[spaced + i] = p[i];
    to[spaced + n] = ' ';
    w->len += n + 2 * (size_t)spaced;
    w->changed |= spaced;
}

/* What becomes of a character; 0: it is not known. */
static inline uint32_t form_of(const tk_norm_wide *wide, uint32_t c)
{
    const uint32_t *page = c < 0x10000 ? wide->forms[c >> 8] : NULL;
    return page != NULL ? page[c & 0xFF] : 0;
}

static inline void put_form(writer *w, const char *texts, uint32_t form)
{
    memcpy(w->out + w->len, texts + (form >> TK_FORM_BITS), TK_FORM_MAX);
    w->len += form & TK_FORM_MAX;
    w->changed = true;
}

static td_code run_wide(writer *w)
{
    const tk_norm_wide *wide = w->norm->wide;
    const char *p = w->in.ptr, *end = p + w->in.len;
    while (p < end) {
        const char *next = p + td_utf8_ascii_run((td_str){ p, (size_t)(end - p) });
        put_ascii(w, p, next);
        const char *island = p = next;
        for (; p < end; p = next) {
            uint32_t c = td_utf8_next(&next, end);
            if (c < 0x80 && (island == p || w->norm->ascii[c] != DROPPED))
                break;
            bool same = has(wide->same, c);
            uint32_t form = same ? 0 : form_of(wide, c);
            if (!same && form == 0)
                continue;
            if (island != p)
                TD_TRY(put_island(w, island, p));
            if (same)
                put_same(w, p, (size_t)(next - p), has(wide->spaced, c));
            else
                put_form(w, wide->texts, form);
            island = next;
        }
        if (island != p)
            TD_TRY(put_island(w, island, p));
    }
    return TD_OK;
}

td_code tk_norm_apply(const tk_norm *norm, tk_ctx *ctx, tk_text *text, td_error *err)
{
    if (norm->ascii == NULL || norm->keeps_ascii || text->align != NULL || ctx->plainly)
        return norm->apply(norm, ctx, text, err);
    writer w = { .norm = norm, .ctx = ctx, .in = *text, .err = err };
    w.growth = norm->wide != NULL ? TK_FORM_GROWTH : 1;
    td_arena_mark mark = td_arena_save(&ctx->arena);
    bool there;
    TD_TRY(make_room(&w, 0, text->len, &there));
    TD_TRY(norm->wide != NULL ? run_wide(&w) : run(&w));
    if (!w.changed) {
        td_arena_rewind(&ctx->arena, mark);
        return TD_OK;
    }
    text->ptr = w.out;
    text->len = (uint32_t)w.len;
    return TD_OK;
}
