/* filters_seq.c - filters over the items of one sequence. */
#include "jinja/builtins/util.h"

td_code jj_f_length(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    int64_t n;
    TD_TRY(jj_length(vm, self, &n));
    *ret = td_int(n);
    return TD_OK;
}

td_code jj_f_list(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return jj_to_list(vm, self, ret);
}

static td_code empty(jj_vm *vm, const char *hint, td_value *ret)
{
    return jj_undefined_hint(vm, JJ_UNDEFINED_ERROR, td_str_from(hint), ret);
}

td_code jj_f_first(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    if (self.tag == TD_V_LIST && self.len != 0) {
        *ret = self.as.items[0];
        return TD_OK;
    }
    jj_iter it;
    bool more;
    TD_TRY(jj_iter_init(vm, self, &it));
    TD_TRY(jj_iter_next(vm, &it, ret, &more));
    return more ? TD_OK : empty(vm, "No first item, sequence was empty.", ret);
}

/* Whether reversed(v) works: what has a length and can be indexed, dicts and their views. */
static bool is_reversible(td_value v)
{
    if (v.tag == TD_V_OBJECT) {
        const td_object_type *t = v.as.object->type;
        return t->length != NULL && (t->getitem != NULL || t == &jj_dict_keys_type ||
                                     t == &jj_dict_values_type || t == &jj_dict_items_type);
    }
    return v.tag == TD_V_STR || v.tag == TD_V_LIST || v.tag == TD_V_TUPLE || v.tag == TD_V_DICT ||
           v.tag == TD_V_UNDEFINED;
}

td_code jj_f_last(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    if (!is_reversible(self))
        return jj_raise(vm, JJ_TYPE_ERROR, "'%s' object is not reversible", jj_type_name(self));
    if (self.tag == TD_V_STR) {
        if (self.len == 0)
            return empty(vm, "No last item, sequence was empty.", ret);
        const char *at = self.as.str + self.len;
        td_utf8_prev(self.as.str, &at);
        *ret = jj_sub(self, td_str_from_offset(td_as_str(self), (size_t)(at - self.as.str)));
        return TD_OK;
    }
    TD_TRY(jj_to_list(vm, self, &self));
    if (self.len == 0)
        return empty(vm, "No last item, sequence was empty.", ret);
    *ret = self.as.items[self.len - 1];
    return TD_OK;
}

td_code jj_f_random(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    int64_t n;
    TD_TRY(jj_length(vm, self, &n));
    if (n == 0)
        return empty(vm, "No random item, sequence was empty.", ret);
    if (n > 1)
        return jj_raise(vm, JJ_RUNTIME_ERROR,
                        "random: a choice among %lld items cannot be reproduced", (long long)n);
    if (self.tag == TD_V_DICT) {
        const td_value *found = td_dict_get(self.as.dict, td_int(0));
        if (found == NULL)
            return jj_raise(vm, JJ_KEY_ERROR, "0");
        *ret = *found;
        return TD_OK;
    }
    if (!is_reversible(self) || (self.tag == TD_V_OBJECT && self.as.object->type->getitem == NULL))
        return jj_raise(vm, JJ_TYPE_ERROR, "'%s' object is not subscriptable",
                        jj_type_name(self));
    return jj_getitem(vm, self, td_int(0), ret);
}

/* ---- reverse ---- */

static td_code reversed_text(jj_vm *vm, td_value self, td_value *ret)
{
    td_buf *b = jj_scratch(vm);
    const char *at = self.as.str + self.len;
    PUT(td_buf_reserve(b, self.len));
    while (at > self.as.str) {
        const char *end = at;
        td_utf8_prev(self.as.str, &at);
        PUT(td_buf_append(b, at, (size_t)(end - at)));
    }
    return jj_take(vm, b, jj_is_markup(self), ret);
}

/* The type of reversed(v). */
static const char *reversed_name(td_value v)
{
    if (v.tag == TD_V_LIST)
        return "list_reverseiterator";
    if (v.tag == TD_V_DICT || jj_is_object(v, &jj_dict_keys_type))
        return "dict_reversekeyiterator";
    if (jj_is_object(v, &jj_dict_values_type))
        return "dict_reversevalueiterator";
    if (jj_is_object(v, &jj_dict_items_type))
        return "dict_reverseitemiterator";
    return jj_is_object(v, &jj_range_type) ? "range_iterator" : "reversed";
}

td_code jj_f_reverse(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    if (self.tag == TD_V_STR)
        return reversed_text(vm, self, ret);
    bool lazy = is_reversible(self);
    const char *name = reversed_name(self);
    if (!lazy && !jj_is_iterable(self))
        return jj_raise(vm, JJ_FILTER_ARGUMENT, "argument must be iterable");
    TD_TRY(jj_to_list(vm, self, &self));
    td_value *items = td_arena_array(jj_arena(vm), td_value, self.len);
    if (items == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < self.len; i++)
        items[i] = self.as.items[self.len - 1 - i];
    td_value list = td_list_of(items, self.len);
    if (lazy)
        return jj_new_list_iterator(vm, list, name, ret);
    *ret = list;
    return TD_OK;
}

/* ---- join ---- */

/* The items as texts, so that the scratch buffer is free while they are made. */
static td_code item_texts(jj_vm *vm, td_value self, td_value attribute, td_value *ret)
{
    jj_getter getter = { 0 };
    TD_TRY(jj_getter_init(vm, attribute, &getter));
    if (self.tag != TD_V_LIST)
        TD_TRY(jj_to_list(vm, self, &self));
    td_value *texts = td_arena_array(jj_arena(vm), td_value, self.len);
    if (texts == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < self.len; i++) {
        TD_TRY(jj_getter_get(vm, &getter, self.as.items[i], &texts[i]));
        TD_TRY(jj_soft_str(vm, texts[i], &texts[i]));
    }
    *ret = td_list_of(texts, self.len);
    return TD_OK;
}

td_code jj_f_join(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value sep = jj_arg(args, 0, td_string(TD_STR(""))), list;
    TD_TRY(jj_soft_str(vm, sep, &sep));
    TD_TRY(item_texts(vm, self, jj_arg(args, 1, td_none()), &list));
    TD_TRY(jj_charge(vm, list.len));
    if (!jj_autoescape(vm)) {
        td_value plain = jj_as_markup(sep, false);
        return jj_m_str_join(vm, plain, &(jj_args){ &list, 1, NULL, 0 }, ret);
    }
    bool markup = jj_is_markup(sep);
    for (uint32_t i = 0; i < list.len && !markup; i++)
        markup = jj_is_markup(list.as.items[i]);
    if (markup)
        TD_TRY(jj_escape(vm, sep, &sep));
    return jj_m_str_join(vm, sep, &(jj_args){ &list, 1, NULL, 0 }, ret);
}

/* ---- min, max, sum ---- */

static td_code extreme(jj_vm *vm, td_value self, const jj_args *args, bool largest, td_value *ret)
{
    jj_getter getter = { 0 };
    bool sensitive, more;
    TD_TRY(jj_arg_bool(vm, args, 0, false, &sensitive));
    jj_iter it;
    td_value item, best, key, best_key;
    TD_TRY(jj_iter_init(vm, self, &it));
    TD_TRY(jj_iter_next(vm, &it, &best, &more));
    if (!more)
        return empty(vm, "No aggregated item, sequence was empty.", ret);
    getter.fold_case = !sensitive;
    TD_TRY(jj_getter_init(vm, jj_arg(args, 1, td_none()), &getter));
    TD_TRY(jj_getter_get(vm, &getter, best, &best_key));
    for (;;) {
        bool better;
        TD_TRY(jj_iter_next(vm, &it, &item, &more));
        if (!more)
            break;
        TD_TRY(jj_charge(vm, 1));
        TD_TRY(jj_getter_get(vm, &getter, item, &key));
        TD_TRY(largest ? jj_less(vm, best_key, key, &better) : jj_less(vm, key, best_key, &better));
        if (better) {
            best = item;
            best_key = key;
        }
    }
    *ret = best;
    return TD_OK;
}

td_code jj_f_max(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return extreme(vm, self, args, true, ret);
}

td_code jj_f_min(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return extreme(vm, self, args, false, ret);
}

td_code jj_f_sum(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    jj_getter getter = { 0 };
    td_value total = jj_arg(args, 1, td_int(0));
    TD_TRY(jj_getter_init(vm, jj_arg(args, 0, td_none()), &getter));
    if (total.tag == TD_V_STR || jj_is_bytes(total))
        return jj_raise(vm, JJ_TYPE_ERROR, "sum() can't sum strings [use ''.join(seq) instead]");
    jj_iter it;
    TD_TRY(jj_iter_init(vm, self, &it));
    for (;;) {
        td_value item;
        bool more;
        TD_TRY(jj_iter_next(vm, &it, &item, &more));
        if (!more)
            break;
        TD_TRY(jj_charge(vm, 1));
        TD_TRY(jj_getter_get(vm, &getter, item, &item));
        TD_TRY(jj_add(vm, total, item, &total));
    }
    *ret = total;
    return TD_OK;
}

/* ---- batch, slice ---- */

typedef struct cutter {
    jj_generator generator;
    jj_iter it;
    td_value source, size, fill;
    bool ended, exhausted;
    /* batch: the item that did not fit; slice: the list and where it stands */
    td_value pending;
    bool has_pending;
    td_value list;
    int64_t slices, number, offset;
} cutter;

static td_code new_cutter(jj_vm *vm, td_value self, const jj_args *args, const char *name,
                          td_code (*step)(jj_vm *, jj_generator *, td_value *, bool *),
                          td_value *ret)
{
    cutter *c = td_arena_new(jj_arena(vm), cutter);
    if (c == NULL)
        return jj_nomem(vm);
    *c = (cutter){ .generator = { { &jj_generator_type }, step, name, false, false, false },
                   .source = self, .size = args->pos[0], .fill = jj_arg(args, 1, td_none()) };
    *ret = td_object_of(&c->generator.base);
    return TD_OK;
}

static td_code batch_end(jj_vm *vm, cutter *c, jj_items *row, td_value *ret, bool *ret_more)
{
    bool shorter = false;
    c->exhausted = true;
    *ret_more = row->count != 0;
    if (!*ret_more)
        return TD_OK;
    if (!td_is_none(c->fill))
        TD_TRY(jj_less(vm, td_int(row->count), c->size, &shorter));
    if (shorter) {
        td_value missing;
        int64_t n;
        TD_TRY(jj_binop(vm, JJ_SUB, c->size, td_int(row->count), &missing));
        TD_TRY(jj_arg_int(vm, missing, &n));
        TD_TRY(jj_charge(vm, (uint64_t)n));
        for (int64_t i = 0; i < n; i++)
            TD_TRY(jj_items_push(vm, row, c->fill));
    }
    *ret = jj_items_list(row);
    return TD_OK;
}

static td_code batch_step(jj_vm *vm, jj_generator *g, td_value *ret, bool *ret_more)
{
    cutter *c = (cutter *)g;
    jj_items row = { 0 };
    *ret_more = false;
    if (c->exhausted)
        return TD_OK;
    if (!g->started)
        TD_TRY(jj_iter_init(vm, c->source, &c->it));
    if (c->has_pending)
        TD_TRY(jj_items_push(vm, &row, c->pending));
    for (;;) {
        td_value item;
        bool more, full;
        TD_TRY(jj_iter_next(vm, &c->it, &item, &more));
        if (!more)
            return batch_end(vm, c, &row, ret, ret_more);
        TD_TRY(jj_charge(vm, 1));
        TD_TRY(jj_eq(vm, td_int(row.count), c->size, &full));
        if (full) {
            c->pending = item;
            c->has_pending = *ret_more = true;
            *ret = jj_items_list(&row);
            return TD_OK;
        }
        TD_TRY(jj_items_push(vm, &row, item));
    }
}

td_code jj_f_batch(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return new_cutter(vm, self, args, "do_batch", batch_step, ret);
}

static td_code slice_start(jj_vm *vm, cutter *c)
{
    TD_TRY(jj_to_list(vm, c->source, &c->list));
    if (!jj_is_int(c->size)) {
        td_value unused; /* Python divides first, and that may be another error */
        TD_TRY(jj_binop(vm, JJ_FLOORDIV, td_int(c->list.len), c->size, &unused));
    }
    TD_TRY(jj_arg_int(vm, c->size, &c->slices));
    if (c->slices == 0)
        return jj_raise(vm, JJ_ZERO_DIVISION, "integer division or modulo by zero");
    return TD_OK;
}

static td_code slice_step(jj_vm *vm, jj_generator *g, td_value *ret, bool *ret_more)
{
    cutter *c = (cutter *)g;
    if (!g->started)
        TD_TRY(slice_start(vm, c));
    *ret_more = c->number < c->slices;
    if (!*ret_more)
        return TD_OK;
    int64_t n = c->list.len, each = n / c->slices, extra = n % c->slices;
    int64_t start = c->offset + c->number * each;
    if (c->number < extra)
        c->offset++;
    int64_t end = c->offset + (c->number + 1) * each;
    *ret = td_list_of(c->list.as.items + start, (uint32_t)(end - start));
    if (!td_is_none(c->fill) && c->number >= extra) {
        jj_items row = { 0 };
        for (uint32_t i = 0; i < ret->len; i++)
            TD_TRY(jj_items_push(vm, &row, ret->as.items[i]));
        TD_TRY(jj_items_push(vm, &row, c->fill));
        *ret = jj_items_list(&row);
    }
    c->number++;
    return TD_OK;
}

td_code jj_f_slice(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return new_cutter(vm, self, args, "sync_do_slice", slice_step, ret);
}
