/* value.c - dicts, equality and hashing with Python's rules. */
#include "value/value.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "value/bigint.h"

td_value td_key(td_str s)
{
    td_value v = td_string(s);
    v.hash = td_key_hash(s);
    return v;
}

/* ---- equality ---- */

static bool is_number(td_value v)
{
    return v.tag >= TD_V_BOOL && v.tag <= TD_V_FLOAT;
}

/* Exact comparison of an int64 with a double, without rounding the integer. */
static bool int_eq_float(int64_t i, double d)
{
    if (!(d >= -9223372036854775808.0 && d < 9223372036854775808.0))
        return false;
    return (double)(int64_t)d == d && (int64_t)d == i;
}

static bool number_eq(td_value a, td_value b)
{
    if (a.tag == TD_V_FLOAT && b.tag == TD_V_FLOAT)
        return a.as.real == b.as.real;
    if (a.tag == TD_V_BIGINT || b.tag == TD_V_BIGINT) {
        if (a.tag == b.tag)
            return td_bigint_cmp(a.as.bigint, b.as.bigint) == 0;
        td_value big = a.tag == TD_V_BIGINT ? a : b, other = a.tag == TD_V_BIGINT ? b : a;
        return other.tag == TD_V_FLOAT && td_bigint_cmp_double(big.as.bigint, other.as.real) == 0;
    }
    if (a.tag == TD_V_FLOAT)
        return int_eq_float(b.as.integer, a.as.real);
    if (b.tag == TD_V_FLOAT)
        return int_eq_float(a.as.integer, b.as.real);
    return a.as.integer == b.as.integer;
}

static bool dict_eq(const td_dict *a, const td_dict *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const td_value *other = td_dict_get(b, a->entries[i].key);
        if (other == NULL || !td_value_eq(a->entries[i].val, *other))
            return false;
    }
    return true;
}

static const td_object_key *key_of(td_value v)
{
    return (const td_object_key *)(const void *)v.as.object->type;
}

/* One of them is an object. */
static bool objects_eq(td_value a, td_value b)
{
    if (a.tag == TD_V_OBJECT && key_of(a)->eq != NULL)
        return key_of(a)->eq(a.as.object, b);
    if (b.tag == TD_V_OBJECT && key_of(b)->eq != NULL)
        return key_of(b)->eq(b.as.object, a);
    return a.tag == b.tag && a.as.object == b.as.object;
}

bool td_value_eq(td_value a, td_value b)
{
    if (is_number(a) && is_number(b))
        return number_eq(a, b);
    if (a.tag == TD_V_OBJECT || b.tag == TD_V_OBJECT)
        return objects_eq(a, b);
    if (a.tag != b.tag)
        return false;
    switch ((td_vtag)a.tag) {
    case TD_V_STR:
        return td_str_eq(td_as_str(a), td_as_str(b));
    case TD_V_LIST:
    case TD_V_TUPLE:
        if (a.len != b.len)
            return false;
        for (uint32_t i = 0; i < a.len; i++)
            if (!td_value_eq(a.as.items[i], b.as.items[i]))
                return false;
        return true;
    case TD_V_DICT:
        return dict_eq(a.as.dict, b.as.dict);
    default:
        return true; /* undefined == undefined, none == none */
    }
}

/* ---- hashing ---- */

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93u;
    return h ^ h >> 32;
}

static uint64_t hash_double(double d, uint64_t seed)
{
    if (d >= -9223372036854775808.0 && d < 9223372036854775808.0 && (double)(int64_t)d == d)
        return mix((uint64_t)(int64_t)d ^ seed);
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return mix(bits ^ seed);
}

static bool is_nan(td_value v)
{
    return v.tag == TD_V_FLOAT && isnan(v.as.real);
}

static uint64_t hash_seeded(td_value v, uint64_t seed, bool *ret_ok);

static uint64_t hash_tuple(td_value v, uint64_t seed, bool *ret_ok)
{
    uint64_t h = v.tag ^ seed;
    for (uint32_t i = 0; i < v.len && *ret_ok; i++) {
        h = mix(h * 31 + hash_seeded(v.as.items[i], seed, ret_ok));
        if (is_nan(v.as.items[i])) /* equal to nothing: equal hashes would only collide */
            h = mix(h ^ (uint64_t)(uintptr_t)&v.as.items[i]);
    }
    return h;
}

static uint64_t hash_seeded(td_value v, uint64_t seed, bool *ret_ok)
{
    switch ((td_vtag)v.tag) {
    case TD_V_BOOL:
    case TD_V_INT:
        return mix((uint64_t)v.as.integer ^ seed);
    case TD_V_FLOAT:
        return hash_double(v.as.real, seed);
    case TD_V_BIGINT: /* equal to a double only if the conversion is exact: hash through it */
        return hash_double(td_bigint_to_double(v.as.bigint), seed);
    case TD_V_STR:
        return td_str_hash_seeded(td_as_str(v), seed);
    case TD_V_TUPLE:
        return hash_tuple(v, seed, ret_ok);
    case TD_V_LIST:
    case TD_V_DICT:
        *ret_ok = false;
        return 0;
    case TD_V_OBJECT:
        if (key_of(v)->hash != NULL)
            return key_of(v)->hash(v.as.object, seed);
        return mix((uint64_t)(uintptr_t)v.as.object ^ seed);
    default:
        return mix(v.tag ^ seed);
    }
}

uint64_t td_value_hash(td_value v, bool *ret_ok)
{
    *ret_ok = true;
    return hash_seeded(v, 0, ret_ok);
}

uint64_t td_value_hash_seeded(td_value v, uint64_t seed)
{
    bool ok = true;
    return hash_seeded(v, seed, &ok);
}

/* ---- dicts ---- */

td_dict *td_dict_new(td_arena *a, uint32_t cap)
{
    td_dict *d = td_arena_new(a, td_dict);
    if (d == NULL)
        return NULL;
    *d = (td_dict){ .cap = cap };
    if (cap != 0 && (d->entries = td_arena_array(a, td_entry, cap)) == NULL)
        return NULL;
    return d;
}

/* Where the search for a key starts. The seed is the address of the index, which whoever wrote the
 * keys cannot know: otherwise keys could be chosen to collide. */
static uint32_t first_slot(const td_dict *d, td_value key)
{
    bool ok = true;
    return (uint32_t)hash_seeded(key, (uint64_t)(uintptr_t)d->index, &ok) & d->index_mask;
}

/* The stored key that equals key, by number; UINT32_MAX if there is none. */
static uint32_t lookup(const td_dict *d, td_value key)
{
    if (d->index == NULL) {
        for (uint32_t i = 0; i < d->count; i++) {
            td_value k = d->entries[i].key;
            if (key.tag == TD_V_STR ? k.tag == TD_V_STR && k.hash == key.hash && k.len == key.len &&
                                          memcmp(k.as.str, key.as.str, k.len) == 0
                                    : td_value_eq(k, key))
                return i;
        }
        return UINT32_MAX;
    }
    if (is_nan(key))
        return UINT32_MAX;
    uint32_t slot = first_slot(d, key);
    for (; d->index[slot] != 0; slot = (slot + 1) & d->index_mask)
        if (td_value_eq(d->entries[d->index[slot] - 1].key, key))
            return d->index[slot] - 1;
    return UINT32_MAX;
}

static void index_entry(td_dict *d, uint32_t n)
{
    td_value key = d->entries[n].key;
    uint32_t slot = is_nan(key) ? (uint32_t)mix(n) & d->index_mask : first_slot(d, key);
    while (d->index[slot] != 0)
        slot = (slot + 1) & d->index_mask;
    d->index[slot] = n + 1;
}

static bool build_index(td_arena *a, td_dict *d)
{
    uint32_t slots = 32;
    while (slots < d->cap * 2)
        slots *= 2;
    uint32_t *index = td_arena_array(a, uint32_t, slots);
    if (index == NULL)
        return false;
    memset(index, 0, slots * sizeof *index);
    d->index = index;
    d->index_mask = slots - 1;
    for (uint32_t i = 0; i < d->count; i++)
        index_entry(d, i);
    return true;
}

static bool make_room(td_arena *a, td_dict *d)
{
    if (d->count == d->cap) {
        uint32_t cap = d->cap < 4 ? 4 : d->cap * 2;
        td_entry *entries = td_arena_array(a, td_entry, cap);
        if (entries == NULL)
            return false;
        if (d->count != 0)
            memcpy(entries, d->entries, d->count * sizeof *entries);
        d->entries = entries;
        d->cap = cap;
        if (d->index != NULL)
            return build_index(a, d);
    }
    return d->count != TD_DICT_SMALL || d->index != NULL || build_index(a, d);
}

bool td_dict_set(td_arena *a, td_dict *d, td_value key, td_value val)
{
    if (key.tag == TD_V_STR)
        key.hash = td_key_hash(td_as_str(key));
    uint32_t at = lookup(d, key);
    if (at != UINT32_MAX) {
        d->entries[at].val = val;
        return true;
    }
    if (!make_room(a, d))
        return false;
    d->entries[d->count++] = (td_entry){ key, val };
    if (d->index != NULL)
        index_entry(d, d->count - 1);
    return true;
}

const td_value *td_dict_find_key(const td_dict *d, td_value key)
{
    uint32_t at = lookup(d, key);
    return at != UINT32_MAX ? &d->entries[at].val : NULL;
}

const td_value *td_dict_get(const td_dict *d, td_value key)
{
    if (key.tag == TD_V_STR)
        key.hash = td_key_hash(td_as_str(key));
    return td_dict_find_key(d, key);
}

const td_value *td_dict_find(const td_dict *d, td_str key)
{
    return td_dict_find_key(d, td_key(key));
}

td_dict *td_dict_copy(td_arena *a, const td_dict *d, uint32_t extra)
{
    td_dict *copy = td_dict_new(a, d->count + extra);
    if (copy == NULL)
        return NULL;
    if (d->count != 0)
        memcpy(copy->entries, d->entries, d->count * sizeof *copy->entries);
    copy->count = d->count;
    if (copy->count > TD_DICT_SMALL && !build_index(a, copy))
        return NULL;
    return copy;
}

const char *td_value_type_name(td_value v)
{
    static const char *const names[] = { "Undefined", "NoneType", "bool",  "int",  "int",   "float",
                                         "str",       "list",     "tuple", "dict", "object" };
    assert(v.tag < sizeof names / sizeof *names);
    return names[v.tag];
}
