/* tiktoken.c - files of ranks: lines of a token in base64, white space, and its rank.
 *
 * Such a file has neither a pattern nor special tokens: they are those of its family
 * (families.def), which is told by the number of ranks or named by the caller. Special tokens are
 * found in texts as with allowed_special="all", unless the caller wants them as text. */
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "tokenizer/formats/formats.h"
#include "tokenizer/formats/ranks.h"
#include "tokenizer/formats/read.h"
#include "tokenizer/scanner/scanner.h"

enum { TK_NO_RANKS = 0 };
typedef enum numbering { TK_FIXED, TK_BEHIND } numbering;

typedef struct family {
    const char *name, *pattern;
    uint32_t ranks;
    numbering numbers;
    const char *bos;
    bool nfc;
} family;

typedef struct special {
    const char *family, *text;
    uint32_t id, first, count;
} special;

#define TK_FAMILY(name, pattern, ranks, numbers, bos, nfc)                                         \
    { #name, pattern, ranks, numbers, bos, nfc },
#define TK_SPECIAL(family, text, id)
#define TK_SPECIALS(family, text, id, first, count)
static const family families[] = {
#include "tokenizer/formats/families.def"
};
#undef TK_FAMILY
#undef TK_SPECIAL
#undef TK_SPECIALS

#define TK_FAMILY(name, pattern, ranks, numbers, bos, nfc)
#define TK_SPECIAL(family, text, id) { #family, text, id, 0, 1 },
#define TK_SPECIALS(family, text, id, first, count) { #family, text, id, first, count },
static const special specials[] = {
#include "tokenizer/formats/families.def"
};
#undef TK_FAMILY
#undef TK_SPECIAL
#undef TK_SPECIALS

enum {
    FAMILIES = sizeof families / sizeof *families,
    SPECIALS = sizeof specials / sizeof *specials
};

typedef struct reader {
    tk_load *load;
    td_str text;
    size_t at;
    uint32_t line;
    tk_rank *items;
    uint32_t count, cap;
} reader;

static td_code fail_line(const reader *r, uint32_t line, const char *what)
{
    td_fail(r->load->err, TD_E_TOKENIZER, "line %u: %s", line, what);
    r->load->err->line = line;
    return TD_E_TOKENIZER;
}

static bool is_gap(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

/* The next field of a line; empty at its end. */
static td_str field(td_str *line)
{
    size_t start = 0;
    while (start < line->len && is_gap(line->ptr[start]))
        start++;
    size_t end = start;
    while (end < line->len && !is_gap(line->ptr[end]))
        end++;
    td_str s = { line->ptr + start, end - start };
    *line = td_str_from_offset(*line, end);
    return s;
}

static bool read_rank(td_str digits, uint32_t *ret)
{
    uint64_t n = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9' || n >= TK_RANKS_MAX)
            return false;
        n = n * 10 + (uint64_t)(digits.ptr[i] - '0');
    }
    *ret = (uint32_t)n;
    return digits.len != 0 && n < TK_RANKS_MAX;
}

static td_code add(reader *r, tk_rank item)
{
    if (r->count == r->cap) {
        uint32_t cap = r->cap * 2 + 4096;
        tk_rank *to = td_arena_array(&r->load->temp, tk_rank, cap);
        if (to == NULL)
            return tk_load_nomem(r->load);
        if (r->count != 0)
            memcpy(to, r->items, r->count * sizeof *to);
        r->items = to;
        r->cap = cap;
    }
    r->items[r->count++] = item;
    return TD_OK;
}

static td_code read_line(reader *r, td_str line)
{
    bool line_is_empty = line.len == 0;
    td_str token = field(&line), digits = field(&line);
    if (line_is_empty)
        return TD_OK;
    if (digits.len == 0 || field(&line).len != 0)
        return fail_line(r, r->line, "expected a token in base64 and its rank");
    bool good = false;
    tk_rank item;
    TD_TRY(tk_read_base64(r->load, &r->load->temp, token, &item.bytes, &good));
    if (!good || item.bytes.len == 0)
        return fail_line(r, r->line, "the token is not base64");
    if (item.bytes.len > TK_RANK_BYTES_MAX)
        return fail_line(r, r->line, "the token is longer than 1024 bytes");
    if (!read_rank(digits, &item.rank))
        return fail_line(r, r->line, "the rank is no number below 16777216");
    return add(r, item);
}

/* Lines end as for Python's bytes.splitlines(). */
static td_code read_lines(reader *r)
{
    td_str s = r->text;
    for (size_t at = 0; at < s.len;) {
        size_t end = at;
        while (end < s.len && s.ptr[end] != '\n' && s.ptr[end] != '\r')
            end++;
        r->line++;
        TD_TRY(read_line(r, (td_str){ s.ptr + at, end - at }));
        bool pair = end + 1 < s.len && s.ptr[end] == '\r' && s.ptr[end + 1] == '\n';
        at = end + 1 + pair;
    }
    return TD_OK;
}

static int by_rank(const void *a, const void *b)
{
    uint32_t x = ((const tk_rank *)a)->rank, y = ((const tk_rank *)b)->rank;
    return (x > y) - (x < y);
}

static bool in_order(const reader *r)
{
    for (uint32_t i = 1; i < r->count; i++)
        if (r->items[i - 1].rank >= r->items[i].rank)
            return false;
    return true;
}

static td_code sort_ranks(reader *r)
{
    if (in_order(r))
        return TD_OK;
    qsort(r->items, r->count, sizeof *r->items, by_rank);
    for (uint32_t i = 1; i < r->count; i++)
        if (r->items[i - 1].rank == r->items[i].rank)
            return td_fail(r->load->err, TD_E_TOKENIZER, "two tokens have the rank %u",
                           r->items[i].rank);
    return TD_OK;
}

/* ---- the family ---- */

static td_code unknown(td_error *err, const char *head)
{
    char names[512] = "";
    size_t len = 0;
    for (size_t i = 0; i < FAMILIES; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i != 0 ? ", " : "",
                                families[i].name);
    return td_fail(err, TD_E_TOKENIZER, "%s; known encodings: %s", head, names);
}

static td_code choose(const reader *r, const char *encoding, const family **ret)
{
    char head[160];
    for (size_t i = 0; i < FAMILIES; i++) {
        *ret = &families[i];
        if (encoding != NULL ? td_str_eq(td_str_from(encoding), td_str_from(families[i].name))
                             : families[i].ranks == r->count)
            return TD_OK;
    }
    if (encoding != NULL)
        snprintf(head, sizeof head, "unknown encoding \"%.60s\"", encoding);
    else
        snprintf(head, sizeof head,
                 "a tiktoken file of %u ranks is of no known family (its pattern and special "
                 "tokens are not in the file)",
                 r->count);
    return unknown(r->load->err, head);
}

static td_code keep_text(tk_load *load, const char *format, uint32_t n, td_str *ret)
{
    td_buf text = { 0 };
    size_t hole = td_str_find(td_str_from(format), TD_STR("%u"), 0);
    td_code code;
    if (hole == TD_NOT_FOUND)
        code = td_buf_put(&text, td_str_from(format));
    else
        code = td_buf_printf(&text, "%.*s%u%s", (int)hole, format, n, format + hole + 2);
    if (code != TD_OK) {
        td_buf_done(&text);
        return tk_load_nomem(load);
    }
    *ret = tk_keep(load, td_buf_view(&text));
    td_buf_done(&text);
    return ret->ptr != NULL ? TD_OK : TD_E_INTERNAL;
}

static bool is_rank(const reader *r, td_id id)
{
    tk_rank key = { .rank = id };
    return bsearch(&key, r->items, r->count, sizeof *r->items, by_rank) != NULL;
}

static td_code make_specials(const reader *r, const family *f, tk_added_token **ret,
                             uint32_t *ret_count)
{
    tk_load *load = r->load;
    uint32_t total = 0, n = 0;
    for (size_t i = 0; i < SPECIALS; i++)
        total += specials[i].count;
    tk_added_token *tokens = td_arena_array(&load->temp, tk_added_token, total);
    if (tokens == NULL)
        return tk_load_nomem(load);
    uint32_t behind = r->items[r->count - 1].rank + 1;
    if (f->numbers == TK_BEHIND && behind != r->count)
        return td_fail(load->err, TD_E_TOKENIZER,
                       "%s: its special tokens stand behind the ranks, which leave holes", f->name);
    for (size_t i = 0; i < SPECIALS; i++) {
        const special *s = &specials[i];
        if (strcmp(s->family, f->name) != 0)
            continue;
        for (uint32_t k = 0; k < s->count; k++) {
            tk_added_token t = { .id = s->id + k + (f->numbers == TK_BEHIND ? behind : 0),
                                 .special = true,
                                 .normalized = f->nfc };
            TD_TRY(keep_text(load, s->text, s->first + k, &t.content));
            if (is_rank(r, t.id))
                return td_fail(load->err, TD_E_TOKENIZER,
                               "%s: the id %u of %s is the rank of a token", f->name, t.id,
                               t.content.ptr);
            tokens[n++] = t;
        }
    }
    *ret = tokens;
    *ret_count = n;
    return TD_OK;
}

td_code tk_ranks_read(tk_load *load, td_str bytes, const tk_rank **ret, uint32_t *ret_count)
{
    reader r = { .load = load, .text = bytes };
    TD_TRY(read_lines(&r));
    TD_TRY(sort_ranks(&r));
    if (r.count == 0)
        return td_fail(load->err, TD_E_TOKENIZER, "a file of ranks without ranks");
    *ret = r.items;
    *ret_count = r.count;
    return TD_OK;
}

td_code tk_load_tiktoken(td_tokenizer *tok, tk_load *load, td_str bytes, const char *encoding)
{
    reader r = { .load = load, .text = bytes };
    const family *f = NULL;
    const tk_bpe *bpe = NULL;
    tk_added_token *tokens = NULL;
    uint32_t count = 0;
    TD_TRY(read_lines(&r));
    TD_TRY(sort_ranks(&r));
    TD_TRY(choose(&r, encoding, &f));
    tok->format = "tiktoken";
    tok->family = f->name;
    TD_TRY(tk_make_ranked_bpe(load, r.items, r.count, 0, &bpe));
    tok->model = &bpe->base;
    TD_TRY(make_specials(&r, f, &tokens, &count));
    TD_TRY(tk_added_make(load, tokens, count, true, tok->model, &tok->added));
    if (f->nfc)
        TD_TRY(tk_make_python_nfc(load, &tok->norm));
    TD_TRY(tk_make_words(load, td_str_from(f->pattern), &tok->pretok));
    TD_TRY(tk_make_bytes_detok(load, false, &tok->detok));
    if (f->bos != NULL) {
        const tk_added_token *t = tk_added_by_content(&tok->added, td_str_from(f->bos));
        TD_TRY(tk_make_bos(load, td_str_from(f->bos), t->id, false, &tok->post));
    }
    return tk_fast_new(load, tok->norm, tok->pretok, tok->model, &tok->fast);
}
