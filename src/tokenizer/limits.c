/* limits.c - truncation and padding. */
#include "tokenizer/limits.h"

#include <string.h>

#include "base/str.h"
#include "value/bigint.h"

/* ---- loading ---- */

/* 64 bits without sign. */
static td_code get_size(const tk_at *at, const char *key, uint64_t *ret)
{
    tk_at field;
    if (!tk_at_field(at, key, &field))
        return tk_at_fail(at, key, "missing");
    const td_value *v = &field.value;
    if (v->tag == TD_V_INT && v->as.integer >= 0) {
        *ret = (uint64_t)v->as.integer;
        return TD_OK;
    }
    if (v->tag != TD_V_BIGINT || v->as.bigint->negative || v->as.bigint->count > 2)
        return tk_at_fail(&field, NULL, "expected an integer from 0 to 18446744073709551615");
    *ret = v->as.bigint->limbs[0] | (uint64_t)v->as.bigint->limbs[1] << 32;
    return TD_OK;
}

/* One of names, as a text or as the only key of an object over null. */
static td_code get_name(const tk_at *at, const char *key, const char *const *names, uint32_t *ret)
{
    tk_at field;
    if (!tk_at_field(at, key, &field))
        return tk_at_fail(at, key, "missing");
    td_value v = field.value;
    if (v.tag == TD_V_DICT && v.as.dict->count == 1 && v.as.dict->entries[0].val.tag == TD_V_NONE)
        v = v.as.dict->entries[0].key;
    for (*ret = 0; v.tag == TD_V_STR && names[*ret] != NULL; ++*ret)
        if (td_str_eq(td_as_str(v), td_str_from(names[*ret])))
            return TD_OK;
    return tk_at_fail(&field, NULL, "unsupported value");
}

static td_code get_direction(const tk_at *at, bool *ret_left)
{
    static const char *const names[] = { "Right", "Left", NULL };
    uint32_t found;
    TD_TRY(get_name(at, "direction", names, &found));
    *ret_left = found == 1;
    return TD_OK;
}

td_code tk_truncation_load(const tk_at *at, const tk_truncation **ret)
{
    static const char *const names[] = { "LongestFirst", "OnlyFirst", "OnlySecond", NULL };
    tk_at unused;
    uint32_t strategy;
    if (at->value.tag == TD_V_NONE)
        return TD_OK;
    if (at->value.tag != TD_V_DICT)
        return tk_at_fail(at, NULL, "expected an object");
    tk_truncation *t = TK_NEW(at->load, tk_truncation);
    if (t == NULL)
        return TD_E_INTERNAL;
    if (tk_at_has(at, "direction", &unused))
        TD_TRY(get_direction(at, &t->left));
    TD_TRY(get_size(at, "max_length", &t->max_length));
    TD_TRY(get_name(at, "strategy", names, &strategy));
    TD_TRY(get_size(at, "stride", &t->stride));
    t->only_second = strategy == 2;
    *ret = t;
    return TD_OK;
}

static td_code get_length(const tk_at *at, tk_padding *p)
{
    static const char *const names[] = { "BatchLongest", NULL };
    tk_at field, fixed;
    uint32_t unused;
    if (!tk_at_field(at, "strategy", &field) || field.value.tag != TD_V_DICT ||
        field.value.as.dict->count != 1 || !tk_at_field(&field, "Fixed", &fixed)) {
        p->longest = true;
        return get_name(at, "strategy", names, &unused);
    }
    return get_size(&field, "Fixed", &p->length);
}

td_code tk_padding_load(const tk_at *at, const tk_padding **ret)
{
    tk_at unused;
    uint32_t type_id;
    if (at->value.tag == TD_V_NONE)
        return TD_OK;
    if (at->value.tag != TD_V_DICT)
        return tk_at_fail(at, NULL, "expected an object");
    tk_padding *p = TK_NEW(at->load, tk_padding);
    if (p == NULL)
        return TD_E_INTERNAL;
    TD_TRY(get_length(at, p));
    TD_TRY(get_direction(at, &p->left));
    if (tk_at_field(at, "pad_to_multiple_of", &unused))
        TD_TRY(get_size(at, "pad_to_multiple_of", &p->multiple));
    TD_TRY(tk_get_uint(at, "pad_id", &p->id));
    TD_TRY(tk_get_uint(at, "pad_type_id", &type_id));
    TD_TRY(tk_get_str(at, "pad_token", &p->text));
    *ret = p;
    return TD_OK;
}

/* ---- use ---- */

static void keep(tk_encoding *enc, size_t from, size_t count)
{
    enc->ids += from;
    if (enc->starts != NULL) {
        enc->starts += from;
        enc->ends += from;
        enc->values += from;
    }
    enc->count = count;
    enc->cap -= from;
}

/* Room for the special tokens is taken off first. The reference does so without a sign, so where
 * there is no room for them nothing is cut. */
td_code tk_truncate(const tk_truncation *t, uint32_t special, tk_encoding *enc, td_error *err)
{
    uint64_t length = t->max_length - special;
    if (enc->count <= length)
        return TD_OK;
    if (length != 0 && t->only_second)
        return td_fail(err, TD_E_TOKENIZER, "truncation: there is no second text to truncate");
    if (length != 0 && t->stride >= length)
        return td_fail(err, TD_E_TOKENIZER,
                       "truncation: stride must be less than the %llu tokens of a window",
                       (unsigned long long)length);
    keep(enc, t->left ? enc->count - (size_t)length : 0, (size_t)length);
    return TD_OK;
}

static void put(const tk_padding *p, tk_encoding *enc, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        enc->ids[i] = p->id;
        if (enc->starts != NULL) {
            enc->starts[i] = enc->ends[i] = 0;
            enc->values[i] = p->text;
        }
    }
}

td_code tk_pad(const tk_padding *p, tk_ctx *ctx, tk_encoding *enc, td_error *err)
{
    uint64_t length = p->longest ? enc->count : p->length;
    if (p->multiple != 0 && length % p->multiple != 0)
        length += p->multiple - length % p->multiple;
    if (length <= enc->count)
        return TD_OK;
    if (length > SIZE_MAX / 64)
        return td_fail(err, TD_E_LIMIT, "padding: too long");
    size_t old = enc->count, more = (size_t)length - old;
    TD_TRY(tk_encoding_reserve(ctx, enc, more, err));
    if (p->left && old != 0) {
        memmove(enc->ids + more, enc->ids, old * sizeof *enc->ids);
        if (enc->starts != NULL) {
            memmove(enc->starts + more, enc->starts, old * sizeof *enc->starts);
            memmove(enc->ends + more, enc->ends, old * sizeof *enc->ends);
            memmove(enc->values + more, enc->values, old * sizeof *enc->values);
        }
    }
    put(p, enc, p->left ? 0 : old, more);
    enc->count += more;
    return TD_OK;
}
