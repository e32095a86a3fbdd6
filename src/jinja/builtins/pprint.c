/* pprint.c - the pprint filter: Python's pprint.pformat with its defaults (width 80, indent 1).
 *
 * Everything that fits on the rest of its line is printed as its repr with dict keys sorted; a
 * container that does not fit gets one line an item, a long str is cut at white space. */
#include "jinja/builtins/util.h"
#include "unicode/unicode.h"

enum { WIDTH = 80 };

typedef struct printer {
    jj_vm *vm;
    td_buf *out;
} printer;

static td_code put(printer *p, td_str s)
{
    td_code code = td_buf_put(p->out, s);
    return code == TD_OK ? TD_OK : jj_buf_fail(p->vm, p->out, code);
}

static td_code put_newline(printer *p, int64_t indent)
{
    TD_TRY(put(p, TD_STR("\n")));
    return jj_put_fill(p->vm, p->out, ' ', indent);
}

static td_code format(printer *p, td_value v, int64_t indent, int64_t allowance, int level);

/* ---- sorted reprs ---- */

/* Keys in order; where Python compares by type name and address instead, only the type names are
 * compared here, and keys of one type keep their order. */
static td_code keys_less(jj_vm *vm, td_value a, td_value b, bool *ret)
{
    td_code code = jj_less(vm, a, b, ret);
    if (code != TD_OK && jj_catch(vm, code, 1u << JJ_TYPE_ERROR)) {
        *ret = strcmp(jj_type_name(a), jj_type_name(b)) < 0;
        return TD_OK;
    }
    return code;
}

static td_code sorted_entries(jj_vm *vm, const td_dict *d, td_entry **ret)
{
    td_entry *e = td_arena_array(jj_arena(vm), td_entry, d->count);
    if (e == NULL)
        return jj_nomem(vm);
    TD_TRY(jj_charge(vm, (uint64_t)d->count * 4));
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t low = 0, high = i;
        while (low < high) {
            uint32_t mid = low + (high - low) / 2;
            bool less;
            TD_TRY(keys_less(vm, d->entries[i].key, e[mid].key, &less));
            if (less)
                high = mid;
            else
                low = mid + 1;
        }
        memmove(&e[low + 1], &e[low], (i - low) * sizeof *e);
        e[low] = d->entries[i];
    }
    *ret = e;
    return TD_OK;
}

/* The value with every dict in it sorted by key. */
static td_code with_sorted_dicts(jj_vm *vm, td_value v, td_value *ret)
{
    td_code code = TD_OK;
    *ret = v;
    if (v.tag != TD_V_DICT && v.tag != TD_V_LIST && v.tag != TD_V_TUPLE)
        return TD_OK;
    TD_TRY(jj_enter(vm));
    if (v.tag == TD_V_DICT) {
        td_entry *e = NULL;
        td_dict *d = td_dict_new(jj_arena(vm), v.as.dict->count);
        code = d == NULL ? jj_nomem(vm) : sorted_entries(vm, v.as.dict, &e);
        for (uint32_t i = 0; code == TD_OK && i < v.as.dict->count; i++) {
            td_value val;
            code = with_sorted_dicts(vm, e[i].val, &val);
            if (code == TD_OK)
                code = jj_dict_set(vm, d, e[i].key, val);
        }
        *ret = td_dict_of(d);
    } else {
        td_value *items = td_arena_array(jj_arena(vm), td_value, v.len);
        code = items == NULL ? jj_nomem(vm) : TD_OK;
        for (uint32_t i = 0; code == TD_OK && i < v.len; i++)
            code = with_sorted_dicts(vm, v.as.items[i], &items[i]);
        ret->as.items = items;
    }
    jj_leave(vm);
    return code;
}

static td_code repr_of(jj_vm *vm, td_value v, td_value *ret)
{
    td_buf *b = jj_scratch(vm);
    PUT(jj_append_repr(vm, b, v));
    TD_TRY(jj_charge(vm, b->len / 64));
    return jj_take(vm, b, false, ret);
}

/* ---- containers ---- */

static td_code format_items(printer *p, td_value v, int64_t indent, int64_t allowance, int level)
{
    indent += 1;
    for (uint32_t i = 0; i < v.len; i++) {
        if (i != 0) {
            TD_TRY(put(p, TD_STR(",")));
            TD_TRY(put_newline(p, indent));
        }
        TD_TRY(format(p, v.as.items[i], indent, i + 1 == v.len ? allowance : 1, level));
    }
    return TD_OK;
}

static td_code format_dict(printer *p, const td_dict *d, int64_t indent, int64_t allowance,
                           int level)
{
    indent += 1;
    TD_TRY(put(p, TD_STR("{")));
    for (uint32_t i = 0; i < d->count; i++) {
        td_value key;
        if (i != 0) {
            TD_TRY(put(p, TD_STR(",")));
            TD_TRY(put_newline(p, indent));
        }
        TD_TRY(repr_of(p->vm, d->entries[i].key, &key));
        TD_TRY(put(p, td_as_str(key)));
        TD_TRY(put(p, TD_STR(": ")));
        TD_TRY(format(p, d->entries[i].val, indent + jj_text_count(key) + 2,
                      i + 1 == d->count ? allowance + 1 : 1, level));
    }
    return put(p, TD_STR("}"));
}

/* ---- long texts ---- */

typedef struct chunks {
    jj_items list;
    td_value last; /* the repr looked at last */
} chunks;

static td_code add_chunk(printer *p, chunks *c, td_value text)
{
    td_value repr;
    TD_TRY(repr_of(p->vm, text, &repr));
    return jj_items_push(p->vm, &c->list, repr);
}

/* The end of the part that starts at s: characters that are no space, then spaces. */
static size_t part_length(td_str s)
{
    const char *at = s.ptr, *end = s.ptr + s.len;
    bool spaces = false;
    while (at < end) {
        const char *before = at;
        bool space = td_py_isspace(td_utf8_next(&at, end));
        if (spaces && !space)
            return (size_t)(before - s.ptr);
        spaces = space;
    }
    return s.len;
}

/* One line of the text that is too long: cut between words. */
static td_code split_line(printer *p, chunks *c, td_value line, int64_t max, int64_t last_max)
{
    td_str s = td_as_str(line);
    size_t from = 0, at = 0;
    while (at < s.len) {
        size_t next = at + part_length(td_str_from_offset(s, at));
        td_value candidate = jj_sub(line, (td_str){ s.ptr + from, next - from }), repr;
        TD_TRY(repr_of(p->vm, candidate, &repr));
        if (jj_text_count(repr) > (next == s.len ? last_max : max)) {
            if (at > from)
                TD_TRY(add_chunk(p, c, jj_sub(line, (td_str){ s.ptr + from, at - from })));
            from = at;
        }
        at = next;
    }
    if (from < s.len)
        TD_TRY(add_chunk(p, c, jj_sub(line, td_str_from_offset(s, from))));
    return TD_OK;
}

static td_code format_text(printer *p, td_value v, int64_t indent, int64_t allowance, int level)
{
    td_value keep = td_bool(true), lines;
    chunks c = { .last = td_none() };
    TD_TRY(jj_m_str_splitlines(p->vm, v, &(jj_args){ &keep, 1, NULL, 0 }, &lines));
    if (level == 1) {
        indent += 1;
        allowance += 1;
    }
    int64_t max = WIDTH - indent;
    for (uint32_t i = 0; i < lines.len; i++) {
        int64_t last_max = i + 1 == lines.len ? max - allowance : max;
        TD_TRY(repr_of(p->vm, lines.as.items[i], &c.last));
        if (jj_text_count(c.last) <= last_max)
            TD_TRY(jj_items_push(p->vm, &c.list, c.last));
        else
            TD_TRY(split_line(p, &c, lines.as.items[i], max, last_max));
    }
    if (c.list.count == 1)
        return put(p, td_as_str(c.last));
    if (level == 1)
        TD_TRY(put(p, TD_STR("(")));
    for (uint32_t i = 0; i < c.list.count; i++) {
        if (i != 0)
            TD_TRY(put_newline(p, indent));
        TD_TRY(put(p, td_as_str(c.list.items[i])));
    }
    return level == 1 ? put(p, TD_STR(")")) : TD_OK;
}

/* ---- */

static td_code format_long(printer *p, td_value v, int64_t indent, int64_t allowance, int level)
{
    switch ((td_vtag)v.tag) {
    case TD_V_LIST:
        TD_TRY(put(p, TD_STR("[")));
        TD_TRY(format_items(p, v, indent, allowance + 1, level));
        return put(p, TD_STR("]"));
    case TD_V_TUPLE:
        TD_TRY(put(p, TD_STR("(")));
        TD_TRY(format_items(p, v, indent, allowance + (v.len == 1 ? 2 : 1), level));
        return put(p, v.len == 1 ? TD_STR(",)") : TD_STR(")"));
    case TD_V_DICT:
        return format_dict(p, v.as.dict, indent, allowance, level);
    default:
        return format_text(p, v, indent, allowance, level);
    }
}

/* v's dicts are sorted already. */
static td_code format(printer *p, td_value v, int64_t indent, int64_t allowance, int level)
{
    td_value repr;
    TD_TRY(jj_charge(p->vm, 1));
    TD_TRY(repr_of(p->vm, v, &repr));
    bool container = v.tag == TD_V_LIST || v.tag == TD_V_DICT ||
                     (v.tag == TD_V_TUPLE && (v.flags & JJ_VF_GROUP) == 0);
    if (jj_text_count(repr) <= WIDTH - indent - allowance ||
        !(container || (v.tag == TD_V_STR && !jj_is_markup(v))))
        return put(p, td_as_str(repr));
    TD_TRY(jj_enter(p->vm));
    td_code code = format_long(p, v, indent, allowance, level + 1);
    jj_leave(p->vm);
    return code;
}

td_code jj_f_pprint(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    td_buf out = { .limit = jj_scratch(vm)->limit };
    printer p = { vm, &out };
    TD_TRY(with_sorted_dicts(vm, self, &self));
    td_code code = format(&p, self, 0, 0, 0);
    if (code == TD_OK)
        code = jj_new_text(vm, td_buf_view(&out), ret);
    td_buf_done(&out);
    return code;
}
