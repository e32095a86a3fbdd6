/* value.h - the value model: what JSON, msgpack and Python hand in and templates compute with.
 *
 * A td_value is 16 bytes and copied freely. It owns nothing: strings are views into the input or
 * an arena, containers live in an arena, and all of it is immutable once built, so a slice of a
 * list or string is a view. Whoever builds a value says which arena or buffer must outlive it.
 *
 * Integers have one form: those that fit int64 are TD_V_INT, all others TD_V_BIGINT. */
#ifndef TD_SRC_VALUE_VALUE_H
#define TD_SRC_VALUE_VALUE_H

#include <string.h>

#include "base/arena.h"
#include "tokdrain/base.h"

typedef enum td_vtag {
    TD_V_UNDEFINED, /* Jinja's undefined; len is 0, as.undefined may name what was missing */
    TD_V_NONE,
    TD_V_BOOL,
    TD_V_INT,
    TD_V_BIGINT,
    TD_V_FLOAT,
    TD_V_STR,
    TD_V_LIST,
    TD_V_TUPLE,
    TD_V_DICT,
    TD_V_OBJECT, /* anything else an engine needs: ranges, iterators, macros, namespaces, ... */
} td_vtag;

enum {
    /* of TD_V_STR; both unset: not known yet */
    TD_VF_ASCII = 1u << 0,     /* every byte is below 0x80 */
    TD_VF_NONASCII = 1u << 1,  /* some byte is not */
    TD_VF_MARKUP = 1u << 2,    /* a markupsafe.Markup */
    TD_VF_JSON_RAW = 1u << 3,  /* json.dumps(ensure_ascii=False) would escape nothing in it */
    TD_VF_JSON_SPAN = 1u << 4, /* a td_json_span stands right before its bytes (see json.h) */
    TD_VF_JSON_KEY = 1u << 5,  /* a key of td_json_read_request: equal ones are one object */
};

typedef struct td_value td_value;
typedef struct td_dict td_dict;
typedef struct td_bigint td_bigint;
typedef struct td_object td_object;
typedef struct td_undefined td_undefined;

struct td_value {
    uint8_t tag;   /* td_vtag */
    uint8_t flags; /* TD_VF_ */
    uint16_t hash; /* of a TD_V_STR that is a dict key: td_key_hash; else 0 */
    uint32_t len;  /* STR: bytes; LIST, TUPLE: items; else 0 */
    union {
        bool boolean;
        int64_t integer;
        double real;
        const char *str;
        const td_value *items;
        td_dict *dict;
        const td_bigint *bigint;
        td_object *object;
        const td_undefined *undefined; /* NULL or an engine's hint for the message */
    } as;
};
_Static_assert(sizeof(td_value) == 16, "a value is two registers");

/* Objects start with this; the type table belongs to the engine that made the object. */
typedef struct td_object_type td_object_type;
struct td_object {
    const td_object_type *type;
};

/* What a td_object_type starts with: how its objects compare as keys of dicts. Equal values have
 * equal hashes for the same seed. Both NULL: each object is a key of its own. */
typedef struct td_object_key {
    bool (*eq)(const td_object *self, td_value other);
    uint64_t (*hash)(const td_object *self, uint64_t seed);
} td_object_key;

typedef struct td_entry {
    td_value key, val;
} td_entry;

/* Keys in insertion order; setting an existing key keeps its place, as in Python. Up to
 * TD_DICT_SMALL entries are searched in order, more through an index. */
enum { TD_DICT_SMALL = 8 };
struct td_dict {
    td_entry *entries;
    uint32_t count, cap;
    uint32_t *index; /* NULL while small; slots hold entry number + 1 */
    uint32_t index_mask;
};

/* ---- constructors ---- */

static inline td_value td_undefined_value(void)
{
    return (td_value){ .tag = TD_V_UNDEFINED };
}
static inline td_value td_none(void)
{
    return (td_value){ .tag = TD_V_NONE };
}
static inline td_value td_bool(bool b)
{
    return (td_value){ .tag = TD_V_BOOL, .as.integer = b };
}
static inline td_value td_int(int64_t i)
{
    return (td_value){ .tag = TD_V_INT, .as.integer = i };
}
static inline td_value td_float(double d)
{
    return (td_value){ .tag = TD_V_FLOAT, .as.real = d };
}
/* s.len must be below 4 GiB (all inputs and outputs are bounded far below it). */
static inline td_value td_string(td_str s)
{
    return (td_value){ .tag = TD_V_STR, .len = (uint32_t)s.len, .as.str = s.ptr };
}
static inline td_value td_list_of(const td_value *items, uint32_t count)
{
    return (td_value){ .tag = TD_V_LIST, .len = count, .as.items = items };
}
static inline td_value td_tuple_of(const td_value *items, uint32_t count)
{
    return (td_value){ .tag = TD_V_TUPLE, .len = count, .as.items = items };
}
static inline td_value td_dict_of(td_dict *d)
{
    return (td_value){ .tag = TD_V_DICT, .as.dict = d };
}
static inline td_value td_object_of(td_object *o)
{
    return (td_value){ .tag = TD_V_OBJECT, .as.object = o };
}

/* ---- access ---- */

static inline td_str td_as_str(td_value v)
{
    return (td_str){ v.as.str, v.len };
}
static inline bool td_is_str(td_value v)
{
    return v.tag == TD_V_STR;
}
static inline bool td_is_none(td_value v)
{
    return v.tag == TD_V_NONE;
}

/* 16 bits mixed from length and a few bytes of a key: equal texts have equal hashes. */
static inline uint16_t td_key_hash(td_str s)
{
    uint32_t h = (uint32_t)s.len * 0x9E3779B1u;
    if (s.len >= 4) {
        uint32_t head, tail;
        memcpy(&head, s.ptr, 4);
        memcpy(&tail, s.ptr + s.len - 4, 4);
        h = (h ^ head) * 0x85EBCA77u;
        h = (h ^ (h >> 15) ^ tail) * 0xC2B2AE3Du;
    } else {
        for (size_t i = 0; i < s.len; i++)
            h = (h ^ (unsigned char)s.ptr[i]) * 0x01000193u;
    }
    return (uint16_t)(h >> 16);
}
/* A string value with its key hash set, ready to be used as a dict key. */
td_value td_key(td_str s);

/* ---- dicts ---- */

/* An empty dict with room for cap entries; NULL when the arena is full. */
td_dict *td_dict_new(td_arena *a, uint32_t cap);
/* Sets d[key]; false when the arena is full. key is hashable (see td_value_hash). */
bool td_dict_set(td_arena *a, td_dict *d, td_value key, td_value val);
/* The value stored under key, NULL if there is none. Keys are equal as in Python: 1 == 1.0 ==
 * True. Valid until the dict grows. */
const td_value *td_dict_get(const td_dict *d, td_value key);
const td_value *td_dict_find(const td_dict *d, td_str key); /* the same for a text key */
/* As td_dict_find for a key made once by td_key: the fast path of compiled templates. */
const td_value *td_dict_find_key(const td_dict *d, td_value key);
/* A copy with its own entries (values shared), so that the copy may be changed. */
td_dict *td_dict_copy(td_arena *a, const td_dict *d, uint32_t extra);

/* ---- Python's rules ---- */

/* a == b. Never fails: values of different kinds are unequal; objects compare as keys do (engines
 * refine it). Nesting is bounded by the readers and the engine. */
bool td_value_eq(td_value a, td_value b);
/* Hash consistent with td_value_eq; false in *ret_ok for lists and dicts ("unhashable"). */
uint64_t td_value_hash(td_value v, bool *ret_ok);
/* The same with a seed, for a value that has a hash. */
uint64_t td_value_hash_seeded(td_value v, uint64_t seed);
/* Python's type name: "str", "int", "NoneType", "Undefined", ...; "object" for objects. */
const char *td_value_type_name(td_value v);

#endif
