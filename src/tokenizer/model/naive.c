/* naive.c - BPE: all pairs are looked at before each merge. Unigram: each text that ends at a
 * place, from the longest on. WordPiece: every length, the longest first. Nothing here uses the
 * tables that make the models fast: only the vocabulary and the merges. */
#include "tokenizer/model/naive.h"

#include <string.h>

#include "base/utf8.h"
#include "tokenizer/model/bpe.h"
#include "tokenizer/model/unigram.h"
#include "tokenizer/model/words.h"

static void put(tk_naive_tokens *t, td_id id, uint32_t start, uint32_t end)
{
    t->items[t->count++] = (tk_token){ .id = id, .start = start, .end = end };
}

static uint32_t char_len(td_str piece, uint32_t at)
{
    uint32_t len = 1;
    while (at + len < piece.len && td_utf8_is_cont(piece.ptr[at + len]))
        len++;
    return len;
}

/* The tokens <0xXX> of all bytes of text, which starts at start; false when one is missing. each:
 * of one byte each, as BPE has them, instead of the whole span. */
static bool put_bytes(tk_naive_tokens *t, const tk_vocab *vocab, td_str text, uint32_t start,
                      bool each)
{
    uint32_t before = t->count, len = (uint32_t)text.len;
    for (uint32_t i = 0; i < len; i++) {
        static const char digits[] = "0123456789ABCDEF";
        unsigned char byte = (unsigned char)text.ptr[i];
        char name[6] = { '<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>' };
        td_id id;
        if (!tk_vocab_find(vocab, (td_str){ name, 6 }, &id)) {
            t->count = before;
            return false;
        }
        put(t, id, each ? start + i : start, start + (each ? i + 1 : len));
    }
    return true;
}

/* ---- BPE ---- */

/* A character with the subword prefix and suffix around it; out: room for all three. */
static td_str decorate(const tk_bpe *b, td_str c, bool first, bool last, char *out)
{
    size_t len = 0;
    td_str parts[] = { b->prefix, c, b->suffix };
    bool wanted[] = { !first, true, last };
    for (int i = 0; i < 3; i++) {
        if (!wanted[i] || parts[i].len == 0)
            continue;
        memcpy(out + len, parts[i].ptr, parts[i].len);
        len += parts[i].len;
    }
    return (td_str){ out, len };
}

/* Characters as symbols. A waiting unknown token lets bytes pass, as in the reference. */
static void spell(const tk_bpe *b, td_str piece, tk_naive_tokens *t)
{
    tk_token unknown = { .id = b->unk };
    bool waits = false;
    for (uint32_t at = 0, len; at < piece.len; at += len) {
        td_id id;
        char around[TK_NAIVE_AROUND + 4];
        len = char_len(piece, at);
        td_str c = decorate(b, (td_str){ piece.ptr + at, len }, at == 0, at + len == piece.len,
                            around);
        if (tk_vocab_find(b->vocab, c, &id)) {
            if (waits)
                t->items[t->count++] = unknown;
            waits = false;
            put(t, id, at, at + len);
            continue;
        }
        if ((b->byte_fallback && put_bytes(t, b->vocab, c, at, true)) || !b->has_unk)
            continue;
        if (waits && b->fuse_unk) {
            unknown.end += len;
            continue;
        }
        if (waits)
            t->items[t->count++] = unknown;
        waits = true;
        unknown.start = at;
        unknown.end = at + len;
    }
    if (waits)
        t->items[t->count++] = unknown;
}

static void bpe(const tk_bpe *b, td_str piece, tk_naive_tokens *t)
{
    td_id whole;
    if (b->ignore_merges && tk_vocab_find(b->vocab, piece, &whole)) {
        put(t, whole, 0, (uint32_t)piece.len);
        return;
    }
    spell(b, piece, t);
    for (;;) {
        uint32_t best = UINT32_MAX, at = 0;
        td_id product = TK_NO_ID, p = TK_NO_ID;
        for (uint32_t i = 0; i + 1 < t->count; i++) {
            uint32_t rank = tk_merge_rank(&b->merges, t->items[i].id, t->items[i + 1].id, &p);
            if (rank < best) {
                best = rank;
                product = p;
                at = i;
            }
        }
        if (best == UINT32_MAX)
            break;
        tk_token *left = &t->items[at];
        left->id = product;
        left->end += left[1].end - left[1].start;
        t->count--;
        memmove(left + 1, left + 2, (t->count - at - 1) * sizeof *left);
    }
    /* Spans follow from lengths: what no token stands for is passed over. */
    uint32_t end = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t len = t->items[i].end - t->items[i].start;
        t->items[i].start = end;
        t->items[i].end = end += len;
    }
}

/* ---- Unigram ---- */

typedef struct path {
    double score;
    td_id id;
    uint32_t from;
    bool reached;
} path;

/* What text piece[from..to) offers: its own score, or that of an unknown character. */
static bool offer_of(const tk_unigram *u, td_str piece, uint32_t from, uint32_t to, td_id *ret_id,
                     double *ret_score)
{
    if (tk_vocab_find(u->vocab, (td_str){ piece.ptr + from, to - from }, ret_id)) {
        *ret_score = u->scores[*ret_id];
        return true;
    }
    *ret_id = u->unk;
    *ret_score = u->unk_score;
    return to - from == char_len(piece, from);
}

static void unigram(const tk_unigram *u, td_str piece, tk_naive_tokens *t)
{
    path paths[TK_NAIVE_BYTES + 1] = { { .reached = true } };
    uint32_t len = (uint32_t)piece.len, ends[TK_NAIVE_BYTES], n = 0;
    for (uint32_t to = 1; to <= len; to++) {
        for (uint32_t from = 0; from < to; from++) {
            path p = { .from = from, .reached = true };
            if ((to < len && td_utf8_is_cont(piece.ptr[to])) || !paths[from].reached ||
                !offer_of(u, piece, from, to, &p.id, &p.score))
                continue;
            p.score += paths[from].score;
            if (!paths[to].reached || p.score > paths[to].score)
                paths[to] = p;
        }
    }
    for (uint32_t at = len; at != 0; at = paths[at].from)
        ends[n++] = at;
    while (n > 0) {
        uint32_t end = ends[--n], start = paths[end].from;
        td_id id = paths[end].id;
        bool unknown = u->has_unk && id == u->unk;
        while (unknown && n > 0 && paths[ends[n - 1]].id == u->unk)
            end = ends[--n];
        td_str text = { piece.ptr + start, end - start };
        if (unknown && !tk_vocab_find(u->vocab, text, &id) && u->byte_fallback &&
            put_bytes(t, u->vocab, text, start, false))
            continue;
        put(t, id, start, end);
    }
}

/* ---- WordPiece ---- */

static bool longest_entry(const tk_words *w, td_str piece, uint32_t start, td_id *ret_id,
                          uint32_t *ret_end)
{
    char text[TK_NAIVE_AROUND + TK_NAIVE_BYTES];
    size_t head = start != 0 ? w->prefix.len : 0;
    if (head != 0)
        memcpy(text, w->prefix.ptr, head);
    memcpy(text + head, piece.ptr + start, piece.len - start);
    for (uint32_t end = (uint32_t)piece.len; end > start; end--) {
        bool inside = end < piece.len && td_utf8_is_cont(piece.ptr[end]);
        if (!inside && tk_vocab_find(w->vocab, (td_str){ text, head + end - start }, ret_id)) {
            *ret_end = end;
            return true;
        }
    }
    return false;
}

static void wordpiece(const tk_words *w, td_str piece, tk_naive_tokens *t)
{
    bool known = td_utf8_count(piece) <= w->max_chars;
    for (uint32_t at = 0, end; known && at < piece.len; at = end) {
        td_id id;
        known = longest_entry(w, piece, at, &id, &end);
        if (known)
            put(t, id, at, end);
    }
    if (known)
        return;
    t->count = 0;
    put(t, w->unk, 0, (uint32_t)piece.len);
}

bool tk_naive_tokenize(const tk_model *model, td_str piece, tk_naive_tokens *ret)
{
    const tk_bpe *b = tk_as_bpe(model);
    const tk_unigram *u = tk_as_unigram(model);
    const tk_words *w = tk_as_wordpiece(model);
    ret->count = 0;
    if (piece.len > TK_NAIVE_BYTES)
        return false;
    if (b != NULL && b->prefix.len + b->suffix.len <= TK_NAIVE_AROUND && !b->vocab->shared_ids)
        bpe(b, piece, ret);
    else if (u != NULL)
        unigram(u, piece, ret);
    else if (w != NULL && w->prefix.len <= TK_NAIVE_AROUND)
        wordpiece(w, piece, ret);
    else
        return false;
    return true;
}
