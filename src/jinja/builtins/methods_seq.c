/* methods_seq.c - methods of lists, tuples and ranges, and ranges themselves. */
#include "jinja/builtins/util.h"
#include "value/bigint.h"

/* ---- list, tuple ---- */

td_code jj_m_list_copy(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    td_value *items = td_arena_array(jj_arena(vm), td_value, self.len);
    if (items == NULL)
        return jj_nomem(vm);
    if (self.len != 0)
        memcpy(items, self.as.items, self.len * sizeof *items);
    *ret = td_list_of(items, self.len);
    return TD_OK;
}

td_code jj_m_list_count(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t n = 0;
    TD_TRY(jj_charge(vm, self.len));
    for (uint32_t i = 0; i < self.len; i++) {
        bool equal;
        TD_TRY(jj_eq(vm, self.as.items[i], args->pos[0], &equal));
        n += equal;
    }
    *ret = td_int(n);
    return TD_OK;
}

td_code jj_m_list_index(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t start, stop;
    if ((jj_given(args, 1) && !jj_is_int(args->pos[1])) ||
        (jj_given(args, 2) && !jj_is_int(args->pos[2])))
        return jj_raise(vm, JJ_TYPE_ERROR, "slice indices must be integers");
    TD_TRY(jj_arg_bounds(vm, args, 1, self.len, &start, &stop));
    TD_TRY(jj_charge(vm, self.len));
    for (int64_t i = start; i < stop; i++) {
        bool equal;
        TD_TRY(jj_eq(vm, self.as.items[i], args->pos[0], &equal));
        if (equal) {
            *ret = td_int(i);
            return TD_OK;
        }
    }
    return jj_raise(vm, JJ_VALUE_ERROR, "value is not in %s", jj_type_name(self));
}

td_code jj_m_tuple_count(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return jj_m_list_count(vm, self, args, ret);
}

td_code jj_m_tuple_index(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return jj_m_list_index(vm, self, args, ret);
}

/* ---- the tuples of groupby ---- */

td_code jj_m_group_grouper(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    *ret = self.as.items[0];
    return TD_OK;
}

td_code jj_m_group_list(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    *ret = self.as.items[1];
    return TD_OK;
}

/* ---- range ---- */

/* How many steps lead from start to before stop. */
static int64_t range_count(int64_t start, int64_t stop, int64_t step)
{
    if (step > 0 ? start >= stop : start <= stop)
        return 0;
    uint64_t span = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t n = (span - 1) / by + 1;
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

td_code jj_new_range(jj_vm *vm, int64_t start, int64_t stop, int64_t step, td_value *ret)
{
    jj_range *r = td_arena_new(jj_arena(vm), jj_range);
    if (r == NULL)
        return jj_nomem(vm);
    *r = (jj_range){ { &jj_range_type }, start, stop, step, range_count(start, stop, step) };
    *ret = td_object_of(&r->base);
    return TD_OK;
}

td_code jj_g_range(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)self;
    int64_t parts[3] = { 0, 0, 1 };
    uint32_t n = jj_given(args, 2) ? 3 : jj_given(args, 1) ? 2 : 1;
    for (uint32_t i = 0; i < n; i++) {
        if (args->pos[i].tag == TD_V_BIGINT)
            return jj_raise(vm, JJ_OVERFLOW_ERROR,
                            "range() of integers beyond 64 bits is not supported");
        TD_TRY(jj_index(vm, args->pos[i], &parts[n == 1 ? 1 : i]));
    }
    if (parts[2] == 0)
        return jj_raise(vm, JJ_VALUE_ERROR, "range() arg 3 must not be zero");
    if (range_count(parts[0], parts[1], parts[2]) > 100000)
        return jj_raise(vm, JJ_OVERFLOW_ERROR,
                        "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
    return jj_new_range(vm, parts[0], parts[1], parts[2], ret);
}

static const jj_range *range_of(td_value v)
{
    return (const jj_range *)v.as.object;
}

/* The position of an int (or equal number) in the range, -1 if it is not in it. */
static int64_t range_find(const jj_range *r, td_value v)
{
    int64_t i;
    if (jj_is_complex(v) && ((const jj_complex *)v.as.object)->im == 0)
        v = td_float(((const jj_complex *)v.as.object)->re);
    if (v.tag == TD_V_INT || v.tag == TD_V_BOOL) {
        i = v.as.integer;
    } else if (v.tag == TD_V_FLOAT && v.as.real >= -9.2e18 && v.as.real <= 9.2e18 &&
               (double)(int64_t)v.as.real == v.as.real) {
        i = (int64_t)v.as.real;
    } else {
        return -1;
    }
    if (r->count == 0)
        return -1;
    int64_t last = r->start + r->step * (r->count - 1);
    if (r->step > 0 ? i < r->start || i > last : i > r->start || i < last)
        return -1;
    uint64_t span = r->step > 0 ? (uint64_t)i - (uint64_t)r->start
                                : (uint64_t)r->start - (uint64_t)i;
    uint64_t by = r->step > 0 ? (uint64_t)r->step : 0 - (uint64_t)r->step;
    return span % by == 0 ? (int64_t)(span / by) : -1;
}

static td_code range_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    return jj_object_attr(vm, JJ_TYPE_range, self, name, ret);
}

static td_code range_getitem(jj_vm *vm, td_object *self, td_value key, td_value *ret)
{
    const jj_range *r = (const jj_range *)self;
    int64_t i;
    TD_TRY(jj_index(vm, key, &i));
    if (i < 0)
        i += r->count;
    if (i < 0 || i >= r->count)
        return jj_raise(vm, JJ_INDEX_ERROR, "range object index out of range");
    *ret = td_int(r->start + r->step * i);
    return TD_OK;
}

static td_code range_length(jj_vm *vm, td_object *self, int64_t *ret)
{
    (void)vm;
    *ret = ((const jj_range *)self)->count;
    return TD_OK;
}

static td_code range_iter(jj_vm *vm, td_object *self, td_value *ret)
{
    const jj_range *r = (const jj_range *)self;
    td_value *items = td_arena_array(jj_arena(vm), td_value, (size_t)r->count);
    if (items == NULL)
        return jj_nomem(vm);
    TD_TRY(jj_charge(vm, (uint64_t)r->count));
    for (int64_t i = 0; i < r->count; i++)
        items[i] = td_int(r->start + r->step * i);
    *ret = td_list_of(items, (uint32_t)r->count);
    return TD_OK;
}

static td_code range_contains(jj_vm *vm, td_object *self, td_value needle, bool *ret)
{
    (void)vm;
    *ret = range_find((const jj_range *)self, needle) >= 0;
    return TD_OK;
}

/* Equal as sequences. */
static bool range_key_eq(const td_object *self, td_value other)
{
    if (!jj_is_object(other, &jj_range_type))
        return false;
    const jj_range *a = (const jj_range *)self, *b = range_of(other);
    return a->count == b->count && (a->count == 0 || (a->start == b->start &&
                                                     (a->count == 1 || a->step == b->step)));
}

static uint64_t range_key_hash(const td_object *self, uint64_t seed)
{
    const jj_range *r = (const jj_range *)self;
    uint64_t h = td_value_hash_seeded(td_int(r->count), seed);
    if (r->count > 0)
        h = h * 31 + td_value_hash_seeded(td_int(r->start), seed);
    return r->count > 1 ? h * 31 + td_value_hash_seeded(td_int(r->step), seed) : h;
}

static td_code range_eq(jj_vm *vm, td_object *self, td_value other, bool *ret)
{
    (void)vm;
    *ret = range_key_eq(self, other);
    return TD_OK;
}

static td_code range_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    const jj_range *r = (const jj_range *)self;
    if (r->step == 1)
        return td_buf_printf(out, "range(%lld, %lld)", (long long)r->start, (long long)r->stop);
    return td_buf_printf(out, "range(%lld, %lld, %lld)", (long long)r->start, (long long)r->stop,
                         (long long)r->step);
}

const td_object_type jj_range_type = {
    .key = { range_key_eq, range_key_hash },
    .name = "range",
    .getattr = range_getattr,
    .getitem = range_getitem,
    .length = range_length,
    .iter = range_iter,
    .contains = range_contains,
    .eq = range_eq,
    .repr = range_repr,
};

td_code jj_m_range_count(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    *ret = td_int(range_find(range_of(self), args->pos[0]) >= 0);
    return TD_OK;
}

td_code jj_m_range_index(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t at = range_find(range_of(self), args->pos[0]);
    if (at < 0)
        return jj_raise(vm, JJ_VALUE_ERROR, "value is not in range");
    *ret = td_int(at);
    return TD_OK;
}

td_code jj_m_range_start(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    *ret = td_int(range_of(self)->start);
    return TD_OK;
}

td_code jj_m_range_stop(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    *ret = td_int(range_of(self)->stop);
    return TD_OK;
}

td_code jj_m_range_step(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    *ret = td_int(range_of(self)->step);
    return TD_OK;
}
