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
    FEW = 64,       /* bytes that are looked at one by one */
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
    bool there;
    TD_TRY(make_room(w, 0, w->in.len, &there));
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

/* p moved over characters that stay as they are and begin before end. */
static const char *pass_staying(const tk_norm_wide *wide, const char *p, const char *end)
{
    const unsigned char *u = (const unsigned char *)p, *stop = (const unsigned char *)end;
    while (u < stop && u[0] < 0xF0) {
        uint32_t c = u[0];
        if (c < 0x80) { /* each by itself, which is faster than to find its length first */
            if (!has(wide->stays, c))
                break;
            u += 1;
        } else if (c < 0xE0) {
            if (!has(wide->stays, (c & 0x1F) << 6 | (u[1] & 0x3F)))
                break;
            u += 2;
        } else {
            if (!has(wide->stays, (c & 0x0F) << 12 | (uint32_t)(u[1] & 0x3F) << 6 | (u[2] & 0x3F)))
                break;
            u += 3;
        }
    }
    return (const char *)u;
}

/* The same; by vectors if it is more than a few, and around those of which these know nothing. */
static const char *skip_staying(const tk_norm_wide *wide, const char *p, const char *end)
{
    for (;;) {
        const char *stop = end - p > FEW ? p + FEW : end;
        p = pass_staying(wide, p, stop);
        if (p < stop || p == end)
            return p;
        p = td_doubts_skip(&wide->doubts, p, end);
    }
}

/* A character with a space on either side. */
static void put_spaced(writer *w, const char *p, size_t n)
{
    char *to = w->out + w->len;
    to[0] = ' ';
    for (size_t i = 0; i < n; i++)
        to[1 + i] = p[i];
    to[1 + n] = ' ';
    w->len += n + 2;
    w->changed = true;
}

/* What becomes of a character; 0: it is not known. */
static inline uint32_t form_of(const tk_norm_wide *wide, uint32_t c)
{
    const uint32_t *page = c < 0x10000 ? wide->forms[c >> 8] : NULL;
    return page != NULL ? page[c & 0xFF] : 0;
}

static void put_form(writer *w, const char *texts, uint32_t form)
{
    memcpy(w->out + w->len, texts + (form >> TK_FORM_BITS), TK_FORM_MAX);
    w->len += form & TK_FORM_MAX;
    w->changed = true;
}

/* Puts what does not stay from *p on, which is no ASCII, and moves *p behind it. An island is of
 * characters of which nothing is known, and ASCII that is dropped behind them. */
static td_code put_wide(writer *w, const char **p, const char *end)
{
    const tk_norm_wide *wide = w->norm->wide;
    const char *island = *p, *next = island;
    for (; *p < end; *p = next) {
        uint32_t c = td_utf8_next(&next, end);
        if (c < 0x80 ? island == *p || w->norm->ascii[c] != DROPPED : has(wide->stays, c))
            break;
        bool spaced = has(wide->spaced, c);
        uint32_t form = spaced ? 0 : form_of(wide, c);
        if (!spaced && form == 0)
            continue;
        if (island != *p)
            TD_TRY(put_island(w, island, *p));
        if (spaced)
            put_spaced(w, *p, (size_t)(next - *p));
        else
            put_form(w, wide->texts, form);
        island = next;
    }
    return island != *p ? put_island(w, island, *p) : TD_OK;
}

/* Copies what stays, in one go. */
static td_code put_staying(writer *w, const char *p, const char *end)
{
    bool there;
    if (w->out == NULL)
        TD_TRY(make_room(w, 0, w->in.len, &there));
    memcpy(w->out + w->len, p, (size_t)(end - p));
    w->len += (size_t)(end - p);
    return TD_OK;
}

/* Writes nothing before something changes, so that a text all of which stays needs no copy. */
static td_code run_wide(writer *w)
{
    const char *p = w->in.ptr, *end = p + w->in.len;
    while (p < end) {
        const char *from = p;
        /* Where ASCII changes there is more that does, and the table is faster then. */
        if (w->out == NULL || ((unsigned char)*p & 0x80) != 0) {
            p = skip_staying(w->norm->wide, p, end);
            if (p == end && w->out == NULL)
                break;
            TD_TRY(put_staying(w, from, p));
            from = p;
        }
        p += td_utf8_ascii_run((td_str){ p, (size_t)(end - p) });
        put_ascii(w, from, p);
        TD_TRY(put_wide(w, &p, end));
    }
    return TD_OK;
}

/* Whether all of text stays, and a normalizer would find that. */
static bool stays(const tk_norm_wide *wide, const tk_text *text)
{
    const char *end = text->ptr + text->len;
    return wide != NULL && skip_staying(wide, text->ptr, end) == end && tk_text_is_whole(text);
}

td_code tk_norm_apply(const tk_norm *norm, tk_ctx *ctx, tk_text *text, td_error *err)
{
    const tk_norm_wide *wide = norm->wide;
    if (norm->ascii == NULL || (norm->keeps_ascii && wide == NULL) || ctx->plainly)
        return norm->apply(norm, ctx, text, err);
    if (text->align != NULL)
        return stays(wide, text) ? TD_OK : norm->apply(norm, ctx, text, err);
    writer w = { .norm = norm, .ctx = ctx, .in = *text, .err = err };
    w.growth = wide != NULL ? TK_FORM_GROWTH : 1;
    td_arena_mark mark = td_arena_save(&ctx->arena);
    TD_TRY(wide != NULL ? run_wide(&w) : run(&w));
    if (!w.changed) {
        td_arena_rewind(&ctx->arena, mark);
        return TD_OK;
    }
    text->ptr = w.out;
    text->len = (uint32_t)w.len;
    return TD_OK;
}
