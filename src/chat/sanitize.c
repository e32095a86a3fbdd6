/* sanitize.c - control tokens in user strings count as plain text.
 *
 * In:    a call, the template's literals, the model's added tokens.
 * Idea:  each control token in a user's string is wrapped in two private-use characters before
 *        rendering. The rendered text is split at them: wrapped pieces are encoded without special
 *        tokens, the others normally.
 * Holds: markers that are in the input already are dropped first, so nobody can forge them. A piece
 *        in the middle is encoded behind a newline, whose ids are cut off again. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "chat/prompt.h"
#include "unicode/unicode.h"

#define MARK_START "\xF3\xB0\x80\x80" /* U+F0000 */
#define MARK_END "\xF3\xB0\x80\x81"   /* U+F0001 */
enum { MARK_LEN = 4 };

/* Texts to look for: longest first at each place. */
typedef struct needles {
    td_str *items;
    size_t count;
    bool first[256]; /* some item begins with this byte */
} needles;

static bool is_space(td_str s)
{
    return s.len != 0 && td_py_strip(s).len == 0;
}

typedef struct literal_search {
    const td_model *m;
    bool *found;
} literal_search;

static void see_literal(void *user, td_str text)
{
    literal_search *s = user;
    for (size_t i = 0; i < s->m->added.count; i++) {
        if (!s->found[i] && td_str_find(text, s->m->added.items[i].text, 0) != TD_NOT_FOUND)
            s->found[i] = true;
    }
}

static void add_needle(needles *n, td_str text)
{
    if (text.len == 0)
        return;
    size_t at = n->count++;
    while (at > 0 && td_utf8_count(n->items[at - 1]) < td_utf8_count(text)) {
        n->items[at] = n->items[at - 1];
        at--;
    }
    n->items[at] = text;
    n->first[(unsigned char)text.ptr[0]] = true;
}

/* Special tokens, and those others that the template writes itself. */
static td_code control_tokens(const td_model *m, const td_template *t, td_arena *a, needles *ret,
                              td_error *err)
{
    *ret = (needles){ 0 };
    ret->items = td_arena_array(a, td_str, m->added.count + 1);
    bool *found = td_arena_array(a, bool, m->added.count + 1);
    if (ret->items == NULL || found == NULL)
        return td_arena_fail(a, err);
    memset(found, 0, m->added.count + 1);
    jj_each_literal(t, see_literal, &(literal_search){ m, found });
    for (size_t i = 0; i < m->added.count; i++) {
        const td_added *token = &m->added.items[i];
        if (token->special || (found[i] && !is_space(token->text)))
            add_needle(ret, token->text);
    }
    return TD_OK;
}

/* The needle that stands at the start of s; 0: none. */
static size_t match(const needles *n, td_str s)
{
    if (s.len == 0 || !n->first[(unsigned char)s.ptr[0]])
        return 0;
    for (size_t i = 0; i < n->count; i++) {
        if (td_str_starts(s, n->items[i]))
            return n->items[i].len;
    }
    return 0;
}

static bool at_mark(td_str s)
{
    return td_str_starts(s, TD_STR(MARK_START)) || td_str_starts(s, TD_STR(MARK_END));
}

static td_str drop_marks(td_arena *a, td_str s)
{
    if (td_str_find(s, TD_STR(MARK_START), 0) == TD_NOT_FOUND &&
        td_str_find(s, TD_STR(MARK_END), 0) == TD_NOT_FOUND)
        return s;
    char *to = td_arena_array(a, char, s.len + 32);
    size_t n = 0;
    for (size_t i = 0; to != NULL && i < s.len;) {
        if (at_mark(td_str_from_offset(s, i)))
            i += MARK_LEN;
        else
            to[n++] = s.ptr[i++];
    }
    return (td_str){ to, n };
}

static td_code mark_text(const needles *n, td_arena *a, td_value *v, td_error *err)
{
    td_str s = drop_marks(a, td_as_str(*v));
    if (s.ptr == NULL && s.len != 0)
        return td_arena_fail(a, err);
    size_t marks = 0;
    for (size_t i = 0, len; i < s.len; i += len != 0 ? len : 1) {
        len = match(n, td_str_from_offset(s, i));
        marks += len != 0;
    }
    if (marks == 0) {
        if (s.ptr != v->as.str)
            *v = td_string(s);
        return TD_OK;
    }
    char *to = td_arena_array(a, char, s.len + marks * 2 * MARK_LEN + 32);
    if (to == NULL)
        return td_arena_fail(a, err);
    size_t at = 0;
    for (size_t i = 0; i < s.len;) {
        size_t len = match(n, td_str_from_offset(s, i));
        if (len == 0) {
            to[at++] = s.ptr[i++];
            continue;
        }
        memcpy(to + at, MARK_START, MARK_LEN);
        memcpy(to + at + MARK_LEN, s.ptr + i, len);
        memcpy(to + at + MARK_LEN + len, MARK_END, MARK_LEN);
        at += 2 * MARK_LEN + len;
        i += len;
    }
    *v = td_string((td_str){ to, at });
    return TD_OK;
}

/* Nesting is bounded by the readers. */
static td_code mark_value(const needles *n, td_arena *a, td_value *v, td_error *err)
{
    if (td_is_str(*v))
        return mark_text(n, a, v, err);
    if (v->tag == TD_V_LIST || v->tag == TD_V_TUPLE) { /* a tuple becomes a list */
        td_value *items = td_arena_array(a, td_value, (size_t)v->len + 1);
        if (items == NULL)
            return td_arena_fail(a, err);
        for (uint32_t i = 0; i < v->len; i++) {
            items[i] = v->as.items[i];
            TD_TRY(mark_value(n, a, &items[i], err));
        }
        *v = td_list_of(items, v->len);
    } else if (v->tag == TD_V_DICT && v->as.dict->count != 0) {
        td_dict *d = td_dict_copy(a, v->as.dict, 0);
        if (d == NULL)
            return td_arena_fail(a, err);
        for (uint32_t i = 0; i < d->count; i++)
            TD_TRY(mark_value(n, a, &d->entries[i].val, err));
        *v = td_dict_of(d);
    }
    return TD_OK;
}

td_code td_sanitize_call(const td_model *m, const td_template *t, td_arena *a, td_chat_call *call,
                         td_error *err)
{
    needles n;
    TD_TRY(control_tokens(m, t, a, &n, err));
    TD_TRY(mark_value(&n, a, &call->messages, err));
    TD_TRY(mark_value(&n, a, &call->tools, err));
    TD_TRY(mark_value(&n, a, &call->documents, err));
    TD_TRY(mark_value(&n, a, &call->tool_choice, err));
    if (call->kwargs != NULL) {
        td_value kwargs = td_dict_of((td_dict *)call->kwargs);
        TD_TRY(mark_value(&n, a, &kwargs, err));
        call->kwargs = kwargs.as.dict;
    }
    return TD_OK;
}

/* ---- encoding ---- */

typedef struct id_list {
    td_id *ids;
    size_t count, cap;
} id_list;

static td_code push_ids(id_list *list, const td_id *ids, size_t count, td_error *err)
{
    if (list->cap - list->count < count) {
        size_t cap = list->cap * 2 + count + 64;
        td_id *more = td_realloc(list->ids, cap * sizeof *more);
        if (more == NULL)
            return td_fail_nomem(err);
        list->ids = more;
        list->cap = cap;
    }
    if (count != 0)
        memcpy(list->ids + list->count, ids, count * sizeof *ids);
    list->count += count;
    return TD_OK;
}

typedef struct splitter {
    const td_model *m;
    td_encoder *enc;
    td_arena *a;
    needles all; /* every added token */
    td_id newline[8];
    size_t newline_count;
    id_list out;
} splitter;

/* One piece; as_text: a control token that counts as text. first: nothing stands before it. */
static td_code encode_piece(splitter *s, td_str piece, bool as_text, bool first, td_error *err)
{
    if (piece.len == 0)
        return TD_OK;
    unsigned flags = s->m->encode_flags | (as_text ? TD_ENCODE_NO_ADDED : 0);
    td_ids ids;
    size_t skip = 0;
    if (!first) {
        char *behind = td_arena_array(s->a, char, piece.len + 33);
        if (behind == NULL)
            return td_arena_fail(s->a, err);
        behind[0] = '\n';
        memcpy(behind + 1, piece.ptr, piece.len);
        TD_TRY(td_encode(s->enc, (td_str){ behind, piece.len + 1 }, flags, &ids, err));
        if (ids.count >= s->newline_count &&
            memcmp(ids.ids, s->newline, s->newline_count * sizeof(td_id)) == 0)
            skip = s->newline_count;
        else
            first = true;
    }
    if (first)
        TD_TRY(td_encode(s->enc, piece, flags, &ids, err));
    td_id own;
    bool known = as_text && td_token_id(td_model_tokenizer(s->m), piece, &own);
    for (size_t i = skip; known && i < ids.count; i++) {
        if (ids.ids[i] == own)
            return td_fail(err, TD_E_INPUT,
                           "cannot sanitize \"%.*s\": the tokenizer makes it from plain text",
                           (int)piece.len, piece.ptr);
    }
    return push_ids(&s->out, ids.ids + skip, ids.count - skip, err);
}

/* The wrapped token at the start of s; 0: a lone marker. */
static size_t wrapped(const needles *n, td_str s)
{
    td_str inner = td_str_from_offset(s, MARK_LEN);
    if (!td_str_starts(s, TD_STR(MARK_START)) || inner.len == 0)
        return 0;
    for (size_t i = 0; i < n->count; i++) {
        if (td_str_starts(inner, n->items[i]) &&
            td_str_starts(td_str_from_offset(inner, n->items[i].len), TD_STR(MARK_END)))
            return n->items[i].len;
    }
    return 0;
}

static td_code encode_all(splitter *s, td_str text, td_error *err)
{
    size_t start = 0;
    bool first = true;
    for (size_t i = 0; i < text.len;) {
        td_str rest = td_str_from_offset(text, i);
        if (!at_mark(rest)) {
            i++;
            continue;
        }
        TD_TRY(encode_piece(s, (td_str){ text.ptr + start, i - start }, false, first, err));
        first = false;
        size_t len = wrapped(&s->all, rest);
        if (len != 0) {
            TD_TRY(encode_piece(s, (td_str){ rest.ptr + MARK_LEN, len }, true, false, err));
            len += MARK_LEN;
        }
        i += MARK_LEN + len;
        start = i;
    }
    return encode_piece(s, td_str_from_offset(text, start), false, first, err);
}

td_code td_sanitize_encode(const td_model *m, td_encoder *enc, td_str text, td_arena *a,
                           td_id **ret_ids, size_t *ret_count, td_error *err)
{
    splitter s = { .m = m, .enc = enc, .a = a };
    s.all.items = td_arena_array(a, td_str, m->added.count + 1);
    if (s.all.items == NULL)
        return td_arena_fail(a, err);
    for (size_t i = 0; i < m->added.count; i++)
        add_needle(&s.all, m->added.items[i].text);
    td_ids newline;
    TD_TRY(td_encode(enc, TD_STR("\n"), m->encode_flags, &newline, err));
    if (newline.count > sizeof s.newline / sizeof *s.newline)
        return td_fail(err, TD_E_TOKENIZER, "a newline has too many ids");
    memcpy(s.newline, newline.ids, newline.count * sizeof(td_id));
    s.newline_count = newline.count;
    td_code code = encode_all(&s, text, err);
    if (code != TD_OK) {
        td_free(s.out.ids);
        return code;
    }
    *ret_ids = s.out.ids;
    *ret_count = s.out.count;
    return TD_OK;
}
