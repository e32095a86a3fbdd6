/* literal.c - constants as the reference's compiler writes them into Python source, and what Python
 * then reads there. That is nearly always the constant itself; the exceptions are kept:
 *
 * - infinity and NaN come out as unknown names and fail when they are reached;
 * - an int of too many digits has no text: the template does not compile;
 * - a complex number loses the signs of its zeros;
 * - a minus sign in front of a number binds less than "**" behind it. */
#include <math.h>

#include "jinja/emit.h"
#include "jinja/vm_internal.h"
#include "value/bigint.h"

static jj_complex complex_of(td_value v)
{
    return *(const jj_complex *)(const void *)v.as.object;
}

static bool is_complex(td_value v)
{
    return v.tag == TD_V_OBJECT && v.as.object->type == &jj_complex_type;
}

/* Whether something in v, itself included, is so. */
static bool any_in(td_value v, bool (*is)(td_value v))
{
    if (v.tag == TD_V_LIST || v.tag == TD_V_TUPLE)
        for (uint32_t i = 0; i < v.len; i++)
            if (any_in(v.as.items[i], is))
                return true;
    if (v.tag == TD_V_DICT)
        for (uint32_t i = 0; i < v.as.dict->count; i++)
            if (any_in(v.as.dict->entries[i].key, is) || any_in(v.as.dict->entries[i].val, is))
                return true;
    return is(v);
}

/* Python reads an unknown name where it is written. */
static bool is_infinite(td_value v)
{
    if (is_complex(v))
        return !isfinite(complex_of(v).re) || !isfinite(complex_of(v).im);
    return v.tag == TD_V_FLOAT && !isfinite(v.as.real);
}

static bool is_too_long(td_value v)
{
    enum { BITS_SAFE = TD_INT_DIGITS_MAX * 33 / 10 }; /* log2(10) > 3.3 */
    if (v.tag != TD_V_BIGINT || v.as.bigint->count < BITS_SAFE / 32)
        return false;
    td_buf text = { 0 };
    bool fails = td_bigint_print(&text, v.as.bigint) == TD_E_TEMPLATE;
    td_buf_done(&text);
    return fails;
}

/* What Python makes of "(a+bj)", or of "bj" when a is 0. */
static td_code read_complex(jj_compiler *c, td_value v, td_value *ret)
{
    jj_complex z = complex_of(v);
    if (z.re == 0 && signbit(z.re) == 0)
        z.re = signbit(z.im) != 0 ? -0.0 : 0.0; /* "-bj" is minus (0+bj) */
    else
        z = (jj_complex){ z.base, z.re + 0.0, z.im + 0.0 }; /* no zero keeps its sign */
    return jj_new_complex(c->fold_vm, z.re, z.im, ret);
}

/* v as Python reads it; containers are copied, since a complex number may be anywhere in them. */
static td_code read_back(jj_compiler *c, td_value v, td_value *ret)
{
    *ret = v;
    if (is_complex(v))
        return read_complex(c, v, ret);
    if ((v.tag == TD_V_LIST || v.tag == TD_V_TUPLE) && v.len != 0) {
        td_value *items = td_arena_array(c->arena, td_value, v.len);
        if (items == NULL)
            return td_arena_fail(c->arena, c->err);
        for (uint32_t i = 0; i < v.len; i++)
            TD_TRY(read_back(c, v.as.items[i], &items[i]));
        ret->as.items = items;
    }
    if (v.tag == TD_V_DICT) {
        const td_dict *from = v.as.dict;
        td_dict *d = td_dict_new(c->arena, from->count);
        for (uint32_t i = 0; d != NULL && i < from->count; i++) {
            td_value key, val;
            TD_TRY(read_back(c, from->entries[i].key, &key));
            TD_TRY(read_back(c, from->entries[i].val, &val));
            if (!td_dict_set(c->arena, d, key, val))
                d = NULL;
        }
        if (d == NULL)
            return td_arena_fail(c->arena, c->err);
        *ret = td_dict_of(d);
    }
    return TD_OK;
}

td_code jj_compile_const(jj_compiler *c, td_value v)
{
    uint32_t k;
    if (any_in(v, is_too_long))
        return jj_compile_error(c, c->at,
                                "Exceeds the limit (%d digits) for integer string conversion",
                                TD_INT_DIGITS_MAX);
    if (any_in(v, is_infinite)) {
        TD_TRY(jj_add_const(c, td_string(TD_STR("name 'inf' is not defined")), &k));
        TD_TRY(jj_emit(c, JJ_O_RAISE, JJ_RUNTIME_ERROR, 0, k));
        return jj_emit_const(c, td_none());
    }
    if (any_in(v, is_complex))
        TD_TRY(read_back(c, v, &v));
    return jj_emit_const(c, v);
}

bool jj_starts_with_minus(td_value v)
{
    switch ((td_vtag)v.tag) {
    case TD_V_INT:
        return v.as.integer < 0;
    case TD_V_BIGINT:
        return v.as.bigint->negative;
    case TD_V_FLOAT:
        return isfinite(v.as.real) && signbit(v.as.real) != 0;
    default:
        return is_complex(v) && complex_of(v).re == 0 && signbit(complex_of(v).re) == 0 &&
               signbit(complex_of(v).im) != 0;
    }
}
