/* added.c - the table of added tokens and the rules around a match (see added.h). */
#include "tokenizer/added.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/classes.h"
#include "tokenizer/model/unigram.h"
#include "tokenizer/regex.h"

static int by_id(const void *a, const void *b)
{
    const tk_added_token *x = a, *y = b;
    if (x->id != y->id)
        return x->id > y->id ? 1 : -1;
    if (x->order != y->order)
        return x->order < y->order ? 1 : -1;
    return td_str_cmp(x->content, y->content);
}

const tk_added_token *tk_added_by_id(const tk_added *a, td_id id)
{
    uint32_t low = 0, high = a->count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (a->tokens[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < a->count && a->tokens[low].id == id ? &a->tokens[low] : NULL;
}

const tk_added_token *tk_added_by_content(const tk_added *a, td_str content)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (td_str_eq(a->tokens[i].content, content))
            return &a->tokens[i];
    return NULL;
}

/* ---- loading ---- */

static td_code read_token(const tk_at *at, tk_added_token *t)
{
    uint32_t id = 0; /* required, but the reference gives ids of its own */
    TD_TRY(tk_get_uint(at, "id", &id));
    TD_TRY(tk_get_str(at, "content", &t->content));
    TD_TRY(tk_get_bool(at, "single_word", &t->single_word));
    TD_TRY(tk_get_bool(at, "lstrip", &t->lstrip));
    TD_TRY(tk_get_bool(at, "rstrip", &t->rstrip));
    TD_TRY(tk_get_bool(at, "normalized", &t->normalized));
    TD_TRY(tk_get_bool(at, "special", &t->special));
    return TD_OK;
}

/* While loading: content -> index in tokens. */
typedef struct content_map {
    uint32_t *slots;
    uint32_t mask;
} content_map;

static uint32_t *find_content(const content_map *m, const tk_added *a, td_str content)
{
    uint32_t at = (uint32_t)td_str_hash(content) & m->mask;
    while (m->slots[at] != 0 && !td_str_eq(a->tokens[m->slots[at] - 1].content, content))
        at = (at + 1) & m->mask;
    return &m->slots[at];
}

static td_code normalize(const tk_norm *norm, tk_load *load, tk_added_token *t)
{
    t->normalized_form = t->content;
    if (!t->normalized || norm == NULL)
        return TD_OK;
    tk_ctx ctx = { .input = t->content };
    tk_text text = { .ptr = t->content.ptr,
                     .len = (uint32_t)t->content.len,
                     .to = (uint32_t)t->content.len };
    td_code code = norm->zero_width ? tk_text_track(&ctx, &text, load->err) : TD_OK;
    if (code == TD_OK)
        code = norm->apply(norm, &ctx, &text, load->err);
    td_str form = { text.ptr, text.len };
    if (code == TD_OK && !td_str_eq(form, t->content)) {
        t->normalized_form = tk_keep(load, form);
        if (t->normalized_form.ptr == NULL)
            code = TD_E_INTERNAL;
    }
    tk_regex_release(&ctx);
    td_arena_done(&ctx.arena);
    return code;
}

static td_code add_all(const tk_at *list, const tk_model *model, const tk_norm *norm, tk_added *a,
                       const content_map *map, td_id next_id)
{
    for (uint32_t i = 0; i < list->value.len; i++) {
        tk_at at = tk_at_item(list, i);
        tk_added_token t = { .order = i + 1 };
        TD_TRY(read_token(&at, &t));
        if (t.content.len == 0)
            continue;
        uint32_t *slot = find_content(map, a, t.content);
        if (*slot != 0) {
            tk_added_token *old = &a->tokens[*slot - 1];
            t.id = old->id;
            t.special |= old->special; /* a text that was special once is so for good */
            TD_TRY(normalize(norm, list->load, &t));
            if (!t.normalized)
                t.normalized_form = old->normalized_form;
            *old = t;
            continue;
        }
        if (!model->token_to_id(model, t.content, &t.id)) {
            t.id = next_id++;
            a->fresh++;
        }
        TD_TRY(normalize(norm, list->load, &t));
        a->tokens[a->count++] = t;
        *slot = a->count;
    }
    return TD_OK;
}

static td_code make_trie(const tk_at *list, tk_added *a, bool normalized, tk_trie **ret)
{
    tk_load *load = list->load;
    td_str *texts = td_arena_array(&load->temp, td_str, (size_t)a->count + 1);
    uint32_t *values = td_arena_array(&load->temp, uint32_t, (size_t)a->count + 1);
    if (texts == NULL || values == NULL)
        return tk_load_nomem(load);
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        const tk_added_token *t = &a->tokens[i];
        if (t->lost || t->normalized != normalized)
            continue;
        texts[n] = normalized ? t->normalized_form : t->content;
        values[n++] = i;
        if (texts[n - 1].len == 0)
            return tk_at_fail(list, NULL, "token %u has an empty normalized form", t->id);
    }
    if (n == 0)
        return TD_OK;
    *ret = tk_trie_new(texts, values, n);
    return *ret == NULL ? tk_load_nomem(load) : tk_on_free(load, tk_trie_free, *ret);
}

static int by_form(const void *a, const void *b)
{
    return td_str_cmp(*(const td_str *)a, *(const td_str *)b);
}

/* Which of two tokens that look the same the reference finds is chance: it changes from process to
 * process. */
static td_code refuse_twins(const tk_at *list, const tk_added *a)
{
    tk_load *load = list->load;
    td_str *forms = td_arena_array(&load->temp, td_str, (size_t)a->count + 1);
    if (forms == NULL)
        return tk_load_nomem(load);
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->tokens[i].normalized && !a->tokens[i].lost)
            forms[n++] = a->tokens[i].normalized_form;
    if (n == 0)
        return TD_OK;
    qsort(forms, n, sizeof *forms, by_form);
    for (uint32_t i = 1; i < n; i++)
        if (td_str_eq(forms[i - 1], forms[i]))
            return tk_at_fail(list, NULL, "two tokens have the same normalized form '%.*s'",
                              (int)forms[i].len, forms[i].ptr);
    return TD_OK;
}

static void mark_special(tk_added *a, td_id id)
{
    a->special_bits[id >> 6] |= (uint64_t)1 << (id & 63);
}

static bool is_special_text(const tk_added *a, td_str text)
{
    const tk_added_token *t = tk_added_by_content(a, text);
    return t != NULL && t->special;
}

static td_code set_special(tk_load *load, const tk_model *model, tk_added *a)
{
    a->special_end = a->id_end > model->id_end(model) ? a->id_end : model->id_end(model);
    size_t words = ((size_t)a->special_end + 63) / 64;
    a->special_bits = tk_new(load, words != 0 ? words * sizeof(uint64_t) : 1);
    if (a->special_bits == NULL)
        return TD_E_INTERNAL;
    for (uint32_t i = 0; i < a->count; i++) {
        const tk_added_token *t = &a->tokens[i];
        td_id id;
        if (t->lost)
            continue;
        /* The test is on the text that decoding sees. */
        if (td_str_eq(t->normalized_form, t->content) ? t->special
                                                      : is_special_text(a, t->normalized_form))
            mark_special(a, t->id);
        if (t->special && model->token_to_id(model, t->content, &id) &&
            tk_added_by_id(a, id) == NULL)
            mark_special(a, id);
        a->any_strip |= t->lstrip || t->rstrip;
    }
    const tk_unigram *u = tk_as_unigram(model); /* its entries may have one text more than once */
    for (uint32_t i = 0; u != NULL && i < u->twin_count; i++)
        if (tk_added_by_id(a, u->twins[i].id) == NULL &&
            is_special_text(a, tk_vocab_spell(u->vocab, u->twins[i].later)))
            mark_special(a, u->twins[i].id);
    return TD_OK;
}

/* A vocabulary with holes may already have ids from its size on. */
static void mark_lost(tk_added *a)
{
    for (uint32_t i = 1; i < a->count; i++)
        a->tokens[i].lost = a->tokens[i].id == a->tokens[i - 1].id &&
                            (a->tokens[i - 1].lost || a->tokens[i].order < a->tokens[i - 1].order);
}

/* What both ways of making the table end with. */
static td_code finish(const tk_at *at, const tk_model *model, bool in_texts, tk_added *ret)
{
    qsort(ret->tokens, ret->count, sizeof *ret->tokens, by_id);
    mark_lost(ret);
    if (ret->count != 0)
        ret->id_end = ret->tokens[ret->count - 1].id + 1;
    if (in_texts) {
        TD_TRY(refuse_twins(at, ret));
        TD_TRY(make_trie(at, ret, false, &ret->raw));
        TD_TRY(make_trie(at, ret, true, &ret->normalized));
    }
    return set_special(at->load, model, ret);
}

td_code tk_added_load(const tk_at *list, const tk_model *model, const tk_norm *norm, tk_added *ret)
{
    tk_load *load = list->load;
    *ret = (tk_added){ 0 };
    uint32_t n = list->value.tag == TD_V_LIST ? list->value.len : 0;
    if (list->value.tag != TD_V_LIST && list->value.tag != TD_V_NONE)
        return tk_at_fail(list, NULL, "expected a list");
    content_map map = { .mask = 15 };
    while (map.mask < n * 2)
        map.mask = map.mask * 2 + 1;
    map.slots = td_arena_array(&load->temp, uint32_t, (size_t)map.mask + 1);
    ret->tokens = tk_new(load, ((size_t)n + 1) * sizeof *ret->tokens);
    if (map.slots == NULL || ret->tokens == NULL)
        return ret->tokens == NULL ? TD_E_INTERNAL : tk_load_nomem(load);
    memset(map.slots, 0, ((size_t)map.mask + 1) * sizeof *map.slots);
    size_t size = model->vocab_size(model);
    if (n != 0)
        TD_TRY(add_all(list, model, norm, ret, &map, (td_id)size));
    return finish(list, model, true, ret);
}

td_code tk_added_make(tk_load *load, const tk_added_token *tokens, uint32_t count, bool in_texts,
                      const tk_model *model, tk_added *ret)
{
    *ret = (tk_added){ .count = count, .fresh = count };
    ret->tokens = tk_new(load, ((size_t)count + 1) * sizeof *ret->tokens);
    if (ret->tokens == NULL)
        return TD_E_INTERNAL;
    for (uint32_t i = 0; i < count; i++) {
        ret->tokens[i] = tokens[i];
        ret->tokens[i].normalized_form = tokens[i].content;
    }
    tk_at root = { .load = load };
    return finish(&root, model, in_texts, ret);
}

/* ---- finding ---- */

static bool word_at(td_str text, size_t at)
{
    const char *p = text.ptr + at, *end = text.ptr + text.len;
    return p < end && tk_is_word(td_utf8_next(&p, end));
}

static bool word_before(td_str text, size_t at)
{
    const char *p = text.ptr + at;
    return at != 0 && tk_is_word(td_utf8_prev(text.ptr, &p));
}

static size_t space_start(td_str text, size_t at, size_t from)
{
    while (at > from) {
        const char *p = text.ptr + at;
        if (!tk_is_space(td_utf8_prev(text.ptr, &p)))
            break;
        at = (size_t)(p - text.ptr);
    }
    return at > from ? at : from;
}

static size_t space_end(td_str text, size_t at)
{
    const char *p = text.ptr + at, *end = text.ptr + text.len;
    while (p < end) {
        const char *q = p;
        if (!tk_is_space(td_utf8_next(&q, end)))
            break;
        p = q;
    }
    return (size_t)(p - text.ptr);
}

bool tk_added_next(const tk_added *a, const tk_trie *trie, td_str text, size_t from, size_t *cursor,
                   bool plain, tk_hit *ret)
{
    size_t start, end;
    uint32_t value;
    while (tk_trie_find(trie, text, *cursor, &start, &end, &value)) {
        const tk_added_token *t = &a->tokens[value];
        *cursor = end;
        if (plain && t->special)
            continue;
        if (t->single_word && (word_before(text, start) || word_at(text, end)))
            continue;
        if (t->lstrip)
            start = space_start(text, start, from);
        if (t->rstrip)
            end = space_end(text, end);
        *ret = (tk_hit){ t, start, end };
        return true;
    }
    return false;
}

td_code tk_added_void(const tk_hit *hit, td_error *err)
{
    return td_fail(err, TD_E_TOKENIZER, "added token %u: lstrip and rstrip leave nothing of it",
                   hit->token->id);
}

td_code tk_added_split(const tk_added *a, const tk_trie *trie, tk_ctx *ctx, const tk_text *text,
                       bool plain, tk_pieces *out, td_error *err)
{
    td_str s = { text->ptr, text->len };
    size_t from = 0, cursor = 0;
    tk_hit hit;
    while (trie != NULL && tk_added_next(a, trie, s, from, &cursor, plain, &hit)) {
        if (from < hit.start) {
            tk_piece gap = { tk_text_slice(text, (uint32_t)from, (uint32_t)hit.start), TK_NO_ID };
            TD_TRY(tk_pieces_add(ctx, out, &gap, err));
        }
        if (hit.start > hit.end)
            return tk_added_void(&hit, err);
        from = hit.end;
        if (hit.start == hit.end)
            continue;
        tk_piece found = { tk_text_slice(text, (uint32_t)hit.start, (uint32_t)hit.end),
                           hit.token->id };
        TD_TRY(tk_pieces_add(ctx, out, &found, err));
    }
    if (from < s.len) {
        tk_piece rest = { tk_text_slice(text, (uint32_t)from, text->len), TK_NO_ID };
        TD_TRY(tk_pieces_add(ctx, out, &rest, err));
    }
    return TD_OK;
}
