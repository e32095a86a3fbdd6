/* registry.c - JSON "type" to constructor, from the .def table of each folder. */
#include "base/str.h"
#include "tokenizer/load/components.h"
#include "tokenizer/load/legacy.h"

#define MAX_NESTING 32

static uint32_t nesting(const tk_at *at)
{
    uint32_t n = 0;
    for (; at != NULL; at = at->up)
        n++;
    return n;
}

static td_code unsupported(const tk_at *at, const char *what, td_str type)
{
    return tk_at_fail(at, "type", "unsupported %s '%.*s'", what,
                      type.len < 100 ? (int)type.len : 100, type.ptr);
}

static td_code too_deep(const tk_at *at)
{
    return tk_at_fail(at, NULL, "components are nested more than %d deep", MAX_NESTING / 2);
}

/* "type", or legacy (NULL: none) where there is none. */
static td_code type_of(const tk_at *at, const char *legacy, td_str *ret)
{
    tk_at field;
    if (at->value.tag != TD_V_DICT || legacy == NULL || tk_at_field(at, "type", &field))
        return tk_get_type(at, ret);
    *ret = td_str_from(legacy);
    return TD_OK;
}

/* One constructor function for each kind: NAME(at, ret). */
#define TK_MAKE(NAME, BASE, LEGACY, WHAT)                                                          \
    td_code NAME(const tk_at *at, const BASE **ret)                                                \
    {                                                                                              \
        td_str type;                                                                               \
        if (nesting(at) > MAX_NESTING)                                                             \
            return too_deep(at);                                                                   \
        TD_TRY(type_of(at, LEGACY, &type));                                                        \
        for (size_t i = 0; i < sizeof BASE##_table / sizeof *BASE##_table; i++)                    \
            if (td_str_eq(type, td_str_from(BASE##_table[i].type)))                                \
                return BASE##_table[i].make(at, ret);                                              \
        return unsupported(at, WHAT, type);                                                        \
    }

#define TK_ENTRY(BASE)                                                                             \
    typedef struct BASE##_entry {                                                                  \
        const char *type;                                                                          \
        td_code (*make)(const tk_at *at, const BASE **ret);                                        \
    } BASE##_entry;

TK_ENTRY(tk_norm)
#define TK_COMPONENT(type, make) { type, make },
static const tk_norm_entry tk_norm_table[] = {
#include "tokenizer/norm/norm.def"
};
#undef TK_COMPONENT
TK_MAKE(tk_make_norm, tk_norm, tk_legacy_norm(at), "normalizer")

TK_ENTRY(tk_pretok)
#define TK_COMPONENT(type, make) { type, make },
static const tk_pretok_entry tk_pretok_table[] = {
#include "tokenizer/pretok/pretok.def"
};
#undef TK_COMPONENT
TK_MAKE(tk_make_pretok, tk_pretok, NULL, "pre-tokenizer")

TK_ENTRY(tk_post)
#define TK_COMPONENT(type, make) { type, make },
static const tk_post_entry tk_post_table[] = {
#include "tokenizer/post/post.def"
};
#undef TK_COMPONENT
TK_MAKE(tk_make_post, tk_post, tk_legacy_post(at), "post-processor")

TK_ENTRY(tk_dec)
#define TK_COMPONENT(type, make) { type, make },
static const tk_dec_entry tk_dec_table[] = {
#include "tokenizer/dec/dec.def"
};
#undef TK_COMPONENT
TK_MAKE(tk_make_dec, tk_dec, tk_legacy_dec(at), "decoder")

TK_ENTRY(tk_model)
#define TK_COMPONENT(type, make) { type, make },
static const tk_model_entry tk_model_table[] = {
#include "tokenizer/model/model.def"
};
#undef TK_COMPONENT

td_code tk_make_model(const tk_at *at, const tk_model **ret)
{
    td_str type;
    tk_at field;
    if (at->value.tag != TD_V_DICT)
        return tk_at_fail(at, NULL, "expected an object");
    if (tk_at_has(at, "type", &field) && field.value.tag == TD_V_NONE)
        return tk_at_fail(&field, NULL, "expected a string");
    TD_TRY(type_of(at, tk_legacy_model(at), &type));
    for (size_t i = 0; i < sizeof tk_model_table / sizeof *tk_model_table; i++)
        if (td_str_eq(type, td_str_from(tk_model_table[i].type)))
            return tk_model_table[i].make(at, ret);
    return unsupported(at, "model", type);
}
