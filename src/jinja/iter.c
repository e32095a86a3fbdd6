/* iter.c - iterating over everything that Python would iterate over. */
#include "base/str.h"
#include "base/utf8.h"
#include "jinja/vm_internal.h"

enum { OVER_NOTHING, OVER_ITEMS, OVER_TEXT, OVER_KEYS, OVER_RANGE, OVER_VIEW, OVER_OBJECT };

td_code jj_iter_init(jj_vm *vm, td_value v, jj_iter *it)
{
    *it = (jj_iter){ .source = v };
    switch (v.tag) {
    case TD_V_UNDEFINED:
        it->kind = OVER_NOTHING;
        return TD_OK;
    case TD_V_LIST:
    case TD_V_TUPLE:
        it->kind = OVER_ITEMS;
        it->end = v.len;
        return TD_OK;
    case TD_V_STR:
        it->kind = OVER_TEXT;
        it->end = v.len;
        return TD_OK;
    case TD_V_DICT:
        it->kind = OVER_KEYS;
        it->end = v.as.dict->count;
        return TD_OK;
    case TD_V_OBJECT:
        break;
    default:
        return jj_raise(vm, JJ_TYPE_ERROR, "'%s' object is not iterable", jj_type_name(v));
    }
    const td_object_type *type = v.as.object->type;
    if (type == &jj_range_type) {
        it->kind = OVER_RANGE;
        it->end = (uint64_t)((const jj_range *)v.as.object)->count;
    } else if (type == &jj_dict_keys_type || type == &jj_dict_values_type ||
               type == &jj_dict_items_type) {
        it->kind = OVER_VIEW;
        it->end = ((const jj_dict_view *)v.as.object)->dict->count;
    } else if (type->next != NULL) {
        it->kind = OVER_OBJECT;
    } else if (type->iter != NULL) {
        td_value fresh;
        TD_TRY(type->iter(vm, v.as.object, &fresh));
        return jj_iter_init(vm, fresh, it);
    } else {
        return jj_raise(vm, JJ_TYPE_ERROR, "'%s' object is not iterable", type->name);
    }
    return TD_OK;
}

bool jj_is_iterable(td_value v)
{
    if (v.tag == TD_V_OBJECT)
        return v.as.object->type == &jj_range_type || v.as.object->type->next != NULL ||
               v.as.object->type->iter != NULL || v.as.object->type == &jj_dict_keys_type ||
               v.as.object->type == &jj_dict_values_type ||
               v.as.object->type == &jj_dict_items_type;
    return v.tag == TD_V_UNDEFINED || v.tag == TD_V_LIST || v.tag == TD_V_TUPLE ||
           v.tag == TD_V_STR || v.tag == TD_V_DICT;
}

static td_value next_char(jj_iter *it)
{
    const char *begin = it->source.as.str + it->at, *p = begin;
    td_utf8_next(&p, it->source.as.str + it->end);
    td_value v = td_string((td_str){ begin, (size_t)(p - begin) });
    it->at += v.len;
    v.flags = (uint8_t)(it->source.flags & TD_VF_ASCII);
    return v;
}

static td_code next_of_view(jj_vm *vm, jj_iter *it, td_value *ret)
{
    const jj_dict_view *view = (const jj_dict_view *)it->source.as.object;
    td_entry e = view->dict->entries[it->at++];
    if (view->base.type == &jj_dict_keys_type)
        *ret = e.key;
    else if (view->base.type == &jj_dict_values_type)
        *ret = e.val;
    else
        return jj_new_pair(vm, e.key, e.val, ret);
    return TD_OK;
}

td_code jj_iter_next(jj_vm *vm, jj_iter *it, td_value *ret, bool *ret_more)
{
    if (it->kind == OVER_OBJECT)
        return it->source.as.object->type->next(vm, it->source.as.object, ret, ret_more);
    *ret_more = it->at < it->end;
    if (!*ret_more)
        return TD_OK;
    switch (it->kind) {
    case OVER_ITEMS:
        *ret = it->source.as.items[it->at++];
        return TD_OK;
    case OVER_TEXT:
        *ret = next_char(it);
        return TD_OK;
    case OVER_KEYS:
        *ret = it->source.as.dict->entries[it->at++].key;
        return TD_OK;
    case OVER_RANGE: {
        const jj_range *r = (const jj_range *)it->source.as.object;
        *ret = td_int(r->start + (int64_t)it->at++ * r->step);
        return TD_OK;
    }
    default:
        return next_of_view(vm, it, ret);
    }
}

td_code jj_to_list(jj_vm *vm, td_value v, td_value *ret)
{
    jj_items items = { 0 };
    jj_iter it;
    if (v.tag == TD_V_LIST || v.tag == TD_V_TUPLE) {
        *ret = td_list_of(v.as.items, v.len);
        return TD_OK;
    }
    TD_TRY(jj_iter_init(vm, v, &it));
    for (;;) {
        td_value item;
        bool more;
        TD_TRY(jj_iter_next(vm, &it, &item, &more));
        if (!more)
            break;
        TD_TRY(jj_charge(vm, 1));
        TD_TRY(jj_items_push(vm, &items, item));
    }
    *ret = jj_items_list(&items);
    return TD_OK;
}

td_code jj_length(jj_vm *vm, td_value v, int64_t *ret)
{
    switch (v.tag) {
    case TD_V_UNDEFINED:
        *ret = 0;
        return TD_OK;
    case TD_V_STR:
        *ret = (v.flags & TD_VF_ASCII) ? (int64_t)v.len : (int64_t)td_utf8_count(td_as_str(v));
        return TD_OK;
    case TD_V_LIST:
    case TD_V_TUPLE:
        *ret = v.len;
        return TD_OK;
    case TD_V_DICT:
        *ret = v.as.dict->count;
        return TD_OK;
    case TD_V_OBJECT:
        if (v.as.object->type->length != NULL)
            return v.as.object->type->length(vm, v.as.object, ret);
        break;
    default:
        break;
    }
    return jj_raise(vm, JJ_TYPE_ERROR, "object of type '%s' has no len()", jj_type_name(v));
}

td_code jj_truth(jj_vm *vm, td_value v, bool *ret)
{
    int64_t length;
    switch (v.tag) {
    case TD_V_BOOL:
    case TD_V_INT:
        *ret = v.as.integer != 0;
        return TD_OK;
    case TD_V_BIGINT:
        *ret = true;
        return TD_OK;
    case TD_V_FLOAT:
        *ret = v.as.real != 0;
        return TD_OK;
    case TD_V_STR:
    case TD_V_LIST:
    case TD_V_TUPLE:
        *ret = v.len != 0;
        return TD_OK;
    case TD_V_DICT:
        *ret = v.as.dict->count != 0;
        return TD_OK;
    case TD_V_OBJECT:
        if (v.as.object->type->truth != NULL)
            return v.as.object->type->truth(vm, v.as.object, ret);
        if (v.as.object->type->length == NULL) {
            *ret = true;
            return TD_OK;
        }
        TD_TRY(v.as.object->type->length(vm, v.as.object, &length));
        *ret = length != 0;
        return TD_OK;
    default:
        *ret = false;
        return TD_OK;
    }
}
