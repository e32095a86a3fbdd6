/* chunks.c - proofs and the search for places to cut (see chunks.h).
 *
 * Words (byte-level models behind a known list of patterns). The place is between a letter l and
 * a mark r, both from short lists below: white space or punctuation, but not the apostrophe. In
 * every family whose scanner says letter_ends, by the text of its patterns:
 *   - No alternative can match l directly followed by r: letters are followed only by letters,
 *     marks, and (o200k) contractions, which begin with an apostrophe; r is matched only at the
 *     start of a match, or behind white space, punctuation or symbols. So no attempt at a match
 *     gets across the place, and each fails at r as it would at the end of the text.
 *   - The one look-ahead, \s+(?!\S), looks at what follows white space. White space before the
 *     place has l or something before l behind it, so it never looks across.
 *   - There is no look-behind, and both l and r are in matches: a gap never lies across, either.
 *   - Where patterns follow each other (deepseek3), that holds for each: l and r are no digits,
 *     and Han and kana end a match of the second pattern before r.
 * So the words are those of both sides, and words are encoded on their own.
 *
 * Normalizers there are none, NFC, NFKC, or lists of them. l and r are starters that no
 * composition takes as its second part, which makes the places before both boundaries of
 * normalization. l stays as it is because r is no mark. r stays as it is because nothing composes
 * with it ('<', '=' and '>' do and are not in the list), but for the full-width comma, which NFKC
 * makes a comma: still r.
 *
 * Characters (models that fast.h takes without a scanner). Normalizers are lists of Prepend and of
 * Replace of one ASCII character, which work character by character, but for the prepended text:
 * it comes before the first chunk alone (TK_ENCODE_JOINED takes it from the others). Metaspace
 * without a normalizer does the same, but behind added tokens with normalized=true, too, so that
 * there must be none. cuts.h then says between which characters no merge lies.
 *
 * Added tokens with normalized=true are looked for in the normalized text. One that lies across a
 * place has the two bytes around it next to each other, and such pairs are blocked; a search from
 * left to right is then the same in both parts. Tokens that look at what stands around them, or
 * swallow white space, switch cutting off. Those with normalized=false are outside of the text.
 *
 * Stretches. No added token with normalized=false can lie across a place when none has the two
 * bytes around it next to each other. Then the search for them, left to right, finds the same on
 * both sides as in the whole (unless tokens look around or swallow white space: then there are no
 * stretches). So where one of them starts behind such a place, it is found there and the text is
 * cut there. Other places may be cut as above: what stands before them is text or the end of an
 * added token. Which of both matters where a text is put in front of pieces; then the last
 * characters of added tokens are not open. */
#include "tokenizer/chunks.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/norm/norm.h"
#include "tokenizer/pretok/pretok.h"

/* ---- pairs of bytes ---- */

static bool has_pair(const tk_byte_pairs *pairs, char l, char r)
{
    unsigned char b = (unsigned char)r;
    return (pairs->bits[(unsigned char)l][b >> 6] >> (b & 63) & 1) != 0;
}

static void add_pairs(tk_byte_pairs *pairs, td_str text)
{
    const unsigned char *s = (const unsigned char *)text.ptr;
    for (size_t k = 1; k < text.len; k++)
        pairs->bits[s[k - 1]][s[k] >> 6] |= (uint64_t)1 << (s[k] & 63);
}

/* ---- places ---- */

/* l: ASCII, Cyrillic, kana, Han and Hangul letters of Unicode 1.1 (2.0), all of one code point in
 * NFC and NFKC. */
static bool is_left(uint32_t c)
{
    if (c < 0x80)
        return (c | 0x20) - 'a' < 26;
    return c - 0x410 < 0x40 || c - 0x3041 <= 0x3094 - 0x3041 || c - 0x30A1 <= 0x30FA - 0x30A1 ||
           c - 0x4E00 <= 0x9FA5 - 0x4E00 || c - 0xAC00 <= 0xD7A3 - 0xAC00;
}

/* r */
static bool is_right(uint32_t c)
{
    static const uint32_t ascii[4] = {
        1u << '\t' | 1u << '\n' | 1u << '\r',
        0x8C00FFFFu & ~(1u << ('\'' - 32)), /* from ' ' to '/', ':', ';' and '?' */
        0xF8000001u,                        /* '@', '[', '\', ']', '^', '_' */
        0x78000001u,                        /* '`', '{', '|', '}', '~' */
    };
    if (c < 0x80)
        return (ascii[c >> 5] >> (c & 31) & 1) != 0;
    return c == 0x3001 || c == 0x3002 || c == 0xFF0C;
}

static bool words_can_cut(const tk_chunks *c, td_str text, size_t start, size_t at, size_t end)
{
    const char *y = text.ptr + at, *z = y, *x = y;
    uint32_t right = (unsigned char)*y;
    /* The first byte tells most of what is not in the list. */
    if (right < 0x80 ? !is_right(right) : right != 0xE3 && right != 0xEF)
        return false;
    right = td_utf8_next(&z, text.ptr + end);
    uint32_t left = td_utf8_prev(text.ptr + start, &x);
    if (!is_right(right) || !is_left(left))
        return false;
    if (c->compat && right == 0xFF0C && has_pair(&c->blocked, y[-1], ','))
        return false;
    return !has_pair(&c->blocked, y[-1], *y);
}

static bool chars_can_cut(const tk_chunks *c, td_str text, size_t start, size_t at, size_t end)
{
    const char *y = text.ptr + at, *z = y, *x = y;
    td_utf8_next(&z, text.ptr + end);
    td_utf8_prev(text.ptr + start, &x);
    char pair[8]; /* the same two characters, normalized */
    size_t before = (size_t)(y - x), after = (size_t)(z - y);
    if ((unsigned char)*x < 0x80) {
        const tk_chunk_form *f = &c->form[(unsigned char)*x];
        before = f->last_len;
        memcpy(pair, f->last, 4);
    } else {
        memcpy(pair, x, before);
    }
    if ((unsigned char)*y < 0x80) {
        const tk_chunk_form *f = &c->form[(unsigned char)*y];
        after = f->first_len;
        memcpy(pair + before, f->first, after);
    } else {
        memcpy(pair + before, y, after);
    }
    return tk_can_cut(c->cuts, pair, pair + before, pair + before + after) &&
           !has_pair(&c->blocked, pair[before - 1], pair[before]);
}

bool tk_chunks_can_cut(const tk_chunks *c, td_str text, size_t start, size_t at, size_t end)
{
    if (c->kind == TK_CHUNKS_WORDS)
        return words_can_cut(c, text, start, at, end);
    return c->kind == TK_CHUNKS_CHARS && chars_can_cut(c, text, start, at, end);
}

/* ---- what the tokenizer allows ---- */

static bool is_type(const tk_norm *n, const char *type)
{
    return strcmp(n->type, type) == 0;
}

static bool words_norm(tk_chunks *c, const tk_norm *n)
{
    if (n == NULL)
        return true;
    if (is_type(n, "Sequence")) {
        for (uint32_t i = 0; i < n->part_count; i++)
            if (!words_norm(c, n->parts[i]))
                return false;
        return true;
    }
    c->compat |= is_type(n, "NFKC");
    return is_type(n, "NFC") || is_type(n, "NFKC");
}

static bool chars_norm(tk_chunks *c, const tk_norm *n)
{
    if (n == NULL)
        return true;
    if (is_type(n, "Sequence")) {
        for (uint32_t i = 0; i < n->part_count; i++)
            if (!chars_norm(c, n->parts[i]))
                return false;
        return true;
    }
    c->prefixed |= is_type(n, "Prepend");
    return is_type(n, "Prepend") || tk_norm_maps_char(n);
}

/* What each ASCII character becomes, from the normalizer itself. */
static bool read_forms(tk_chunks *c, const td_tokenizer *tok)
{
    tk_ctx ctx = { .tok = tok, .joined = true };
    td_error err = TD_ERROR_INIT;
    bool good = true;
    for (uint32_t b = 0; b < 128 && good; b++) {
        char byte = (char)b;
        tk_text t = { .ptr = &byte, .len = 1, .to = 1 };
        ctx.input = (td_str){ &byte, 1 };
        if (tok->norm != NULL)
            good = tok->norm->apply(tok->norm, &ctx, &t, &err) == TD_OK && t.len != 0;
        if (!good)
            break;
        tk_chunk_form *f = &c->form[b];
        const char *end = t.ptr + t.len, *first = t.ptr, *last = end;
        td_utf8_next(&first, end);
        td_utf8_prev(t.ptr, &last);
        f->first_len = (uint8_t)(first - t.ptr);
        f->last_len = (uint8_t)(end - last);
        memcpy(f->first, t.ptr, f->first_len);
        memcpy(f->last, last, f->last_len);
        td_arena_reset(&ctx.arena);
    }
    td_error_clear(&err);
    td_arena_done(&ctx.arena);
    return good;
}

static bool read_spaces(tk_chunks *c, const td_tokenizer *tok)
{
    const tk_metaspace *how = tok->fast->spaces;
    tk_chunk_form *f = &c->form[' '];
    f->first_len = f->last_len = (uint8_t)how->text.len;
    for (size_t i = 0; i < how->text.len; i++)
        f->first[i] = f->last[i] = how->text.ptr[i];
    c->prefixed = how->scheme != TK_PREPEND_NEVER;
    return tok->added.normalized == NULL;
}

static bool read_added(tk_chunks *c, const tk_added *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const tk_added_token *t = &a->tokens[i];
        if (!t->normalized)
            continue;
        if (t->single_word || t->lstrip || t->rstrip)
            return false;
        add_pairs(&c->blocked, t->normalized_form);
    }
    return true;
}

static void choose_kind(tk_chunks *c, const td_tokenizer *tok)
{
    const tk_fast *fast = tok->fast;
    if (fast == NULL || fast->prefix_space || tok->always_track || !read_added(c, &tok->added))
        return;
    if (fast->scanner != NULL) {
        if (fast->scanner->letter_ends && words_norm(c, tok->norm))
            c->kind = TK_CHUNKS_WORDS;
    } else if (chars_norm(c, tok->norm) && read_forms(c, tok) &&
               (fast->spaces == NULL || read_spaces(c, tok))) {
        c->cuts = fast->cuts;
        c->kind = TK_CHUNKS_CHARS;
    }
}

/* A place is chosen by a hash of the four bytes before it when what follows may be white space,
 * punctuation or no ASCII: one in 64 for chunks, one in 128 for stretches, and these are ends of
 * chunks as well. Whether text can be cut there is asked later. CHOSEN is odd, so that four equal
 * bytes (indentation) choose no place. */
enum { CHOSEN = 37, CHUNK_BITS = 63, STRETCH_BITS = 127 };
static void prepare_stretches(tk_chunks *c, const tk_added *a)
{
    bool is_last[128] = { false };
    c->added = a;
    for (uint32_t i = 0; i < a->count; i++) {
        const tk_added_token *t = &a->tokens[i];
        unsigned char last = (unsigned char)t->content.ptr[t->content.len - 1];
        c->no_stretches |= t->single_word || t->lstrip || t->rstrip;
        add_pairs(&c->joined, t->content);
        if (last < 128)
            is_last[last] |= c->prefixed && !t->normalized;
    }
    for (unsigned l = 0; l < 128; l++) {
        for (unsigned r = 0; r < 128; r++) {
            char pair[2] = { (char)l, (char)r };
            if (!is_last[l] && !has_pair(&c->joined, pair[0], pair[1]) &&
                tk_chunks_can_cut(c, (td_str){ pair, 2 }, 0, 1, 2))
                c->open[l][r >> 6] |= (uint64_t)1 << (r & 63);
        }
    }
}

void tk_chunks_init(tk_chunks *c, const td_tokenizer *tok)
{
    memset(c, 0, sizeof *c);
    c->stretch_min = TK_STRETCH_MIN;
    c->stretch_bits = STRETCH_BITS;
    choose_kind(c, tok);
    prepare_stretches(c, &tok->added);
}

/* ---- choosing among them ---- */

typedef uint8_t lanes __attribute__((vector_size(16)));

static inline lanes lanes_at(const char *p)
{
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Not 0 in the lane of each chosen place. */
static inline lanes chosen_lanes(const char *p, uint8_t bits)
{
    lanes h = lanes_at(p - 4), b = lanes_at(p - 3);
    h = h + h + h + b;
    b = lanes_at(p - 2);
    h = h + h + h + b;
    b = lanes_at(p - 1);
    h = h + h + h + b;
    return (lanes)((h & bits) == (uint8_t)(CHOSEN & bits)) & (lanes)((lanes_at(p) + 0x20) < 0x50);
}

static inline bool is_chosen(const char *p, uint8_t bits)
{
    const unsigned char *b = (const unsigned char *)p;
    return (uint8_t)(b[0] + 0x20) < 0x50 &&
           ((((b[-4] * 3u + b[-3]) * 3u + b[-2]) * 3u + b[-1]) & bits) == (CHOSEN & bits);
}

/* Which byte of w, as it lies in memory, is the first that is not 0. */
static inline size_t first_byte(uint64_t w)
{
    return (size_t)__builtin_ctzll(w) / 8;
}

/* The first chosen place of [at, end), or end; four bytes stand before at. */
static inline size_t next_chosen(td_str text, size_t at, size_t end, uint8_t bits)
{
    const char *p = text.ptr;
    for (; at + 2 * sizeof(lanes) <= end; at += 2 * sizeof(lanes)) {
        uint64_t found[4];
        for (size_t i = 0; i < 2; i++) {
            lanes v = chosen_lanes(p + at + i * sizeof v, bits);
            memcpy(&found[2 * i], &v, sizeof v);
        }
        if ((found[0] | found[1] | found[2] | found[3]) == 0)
            continue;
        size_t i = 0;
        while (found[i] == 0)
            i++;
        return at + 8 * i + first_byte(found[i]);
    }
    while (at < end && !is_chosen(p + at, bits))
        at++;
    return at;
}

static bool is_place(const tk_chunks *c, td_str text, size_t start, size_t at, size_t end)
{
    return !td_utf8_is_cont(text.ptr[at]) && tk_chunks_can_cut(c, text, start, at, end);
}

/* None of the places up to MAX is chosen: the last of them, or else the first one behind. */
static size_t end_unchosen(const tk_chunks *c, td_str text, size_t start, size_t end)
{
    size_t max = end - start > TK_CHUNK_MAX ? start + TK_CHUNK_MAX : end;
    for (size_t at = max; max < end && at >= start + TK_CHUNK_MIN; at--)
        if (is_place(c, text, start, at, end))
            return at;
    for (size_t at = max + 1; at < end; at++)
        if (is_place(c, text, start, at, end))
            return at;
    return end;
}

size_t tk_chunks_end(const tk_chunks *c, td_str text, size_t start, size_t end)
{
    if (c->kind == TK_CHUNKS_NONE || end - start <= TK_CHUNK_MIN)
        return end;
    size_t max = end - start > TK_CHUNK_MAX ? start + TK_CHUNK_MAX + 1 : end;
    size_t at = start + TK_CHUNK_MIN;
    while ((at = next_chosen(text, at, max, CHUNK_BITS)) < max) {
        if (is_place(c, text, start, at, end))
            return at;
        at++;
    }
    return end_unchosen(c, text, start, end);
}

static bool is_open(const tk_chunks *c, const char *p)
{
    unsigned char l = (unsigned char)p[-1], r = (unsigned char)p[0];
    return l < 128 && r < 128 && (c->open[l][r >> 6] >> (r & 63) & 1) != 0;
}

/* Where an added token starts in [at, end) so that the text is cut there; end: nowhere. */
static size_t next_added(const tk_chunks *c, td_str text, size_t at, size_t end)
{
    size_t start, stop;
    uint32_t value;
    while (c->added->raw != NULL &&
           tk_trie_find(c->added->raw, (td_str){ text.ptr, end }, at, &start, &stop, &value)) {
        if (!has_pair(&c->joined, text.ptr[start - 1], text.ptr[start]))
            return start;
        at = start + 1;
    }
    return end;
}

size_t tk_chunks_stretch_end(const tk_chunks *c, td_str text, size_t start, bool plain)
{
    size_t rest = text.len - start, at = start + c->stretch_min;
    if (rest <= c->stretch_min || c->no_stretches)
        return text.len;
    size_t far = rest > TK_STRETCH_FAR ? start + TK_STRETCH_FAR : text.len;
    size_t token = plain ? far : next_added(c, text, at, far);
    if (token < far)
        return token;
    size_t max = rest > TK_STRETCH_MAX ? start + TK_STRETCH_MAX : text.len;
    for (; (at = next_chosen(text, at, max, c->stretch_bits)) < max; at++)
        if (is_open(c, text.ptr + at))
            return at;
    while (at < text.len && !is_open(c, text.ptr + at))
        at++;
    return at;
}
