/* length.c - the rules of _get_padding_truncation_strategies, and what the tokenizer does then. */
#include "chat/length.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "value/bigint.h"

enum { IDS_MAX = 1 << 28 };            /* of a prompt that is filled up */
static const double MAX_LENGTH = 1e20; /* a model_max_length beyond this is none */

/* A model_max_length without memory of its own: undefined where it is none, null where it is of
 * no use but not none. */
static td_value plain_max(td_value v)
{
    double number = v.tag == TD_V_FLOAT ? v.as.real : 0;
    if (v.tag == TD_V_BIGINT)
        number = td_bigint_to_double(v.as.bigint);
    if (number > MAX_LENGTH)
        return td_undefined_value();
    return v.tag == TD_V_BOOL || v.tag == TD_V_INT ? v : td_none();
}

void td_length_setup(td_length_defaults *d, const td_dict *tok_config, td_str class_used,
                     const td_tokenizer *tok, const td_named_list *named)
{
    static const char *const pads_left[] = { "CodeLlama", "Cohere", "Gemma",
                                             "Llama",     "Siglip2", "XLNet" };
    static const struct {
        const char *key;
        size_t at;
    } sides[] = { { "truncation_side", offsetof(td_length_defaults, cut_left) },
                  { "padding_side", offsetof(td_length_defaults, pad_left) } };
    *d = (td_length_defaults){ .known = true, .max = td_undefined_value() };
    td_str stem = class_used;
    for (int i = 0; i < 2; i++) {
        td_str tail = i == 0 ? TD_STR("Fast") : TD_STR("Tokenizer");
        if (td_str_ends(stem, tail))
            stem.len -= tail.len;
    }
    for (size_t i = 0; i < sizeof pads_left / sizeof *pads_left; i++)
        d->pad_left |= td_str_eq(stem, td_str_from(pads_left[i]));
    for (size_t i = 0; tok_config != NULL && i < sizeof sides / sizeof *sides; i++) {
        const td_value *v = td_dict_find(tok_config, td_str_from(sides[i].key));
        if (v != NULL && td_is_str(*v)) /* config_check.c knows that it is one of two */
            *((bool *)(void *)((char *)d + sides[i].at)) =
                td_str_eq(td_as_str(*v), TD_STR("left"));
    }
    const td_value *max = NULL;
    if (tok_config != NULL) {
        max = td_dict_find(tok_config, TD_STR("model_max_length"));
        if (max == NULL)
            max = td_dict_find(tok_config, TD_STR("max_len"));
    }
    if (max != NULL && !td_is_none(*max))
        d->max = plain_max(*max);
    for (size_t i = 0; i < named->count; i++)
        if (td_str_eq(named->items[i].name, TD_STR("pad_token")))
            d->has_pad = td_token_id(tok, named->items[i].token.text, &d->pad);
}

static bool is_true(td_value v)
{
    return v.tag == TD_V_BOOL && v.as.boolean;
}

/* An integer that counts something; flags are 0 and 1. */
static bool as_size(td_value v, uint64_t *ret)
{
    if (v.tag == TD_V_BOOL)
        *ret = v.as.boolean;
    else if (v.tag == TD_V_INT && v.as.integer >= 0)
        *ret = (uint64_t)v.as.integer;
    else
        return false;
    return true;
}

static td_code refuse(td_error *err, const char *name, const char *why)
{
    return td_fail(err, TD_E_INPUT, "chat_template_kwargs: \"%s\" %s", name, why);
}

/* Which of the names v is, where v is given as a text. */
static td_code name_of(td_value v, const char *what, const char *const *names, size_t count,
                       size_t *ret, td_error *err)
{
    for (size_t i = 0; td_is_str(v) && i < count; i++) {
        if (td_str_eq(td_as_str(v), td_str_from(names[i]))) {
            *ret = i;
            return TD_OK;
        }
    }
    return refuse(err, what, "has a value that is no strategy");
}

typedef struct more {
    td_value multiple, side, stride;
} more;

/* tokenizer_kwargs: what goes on to the tokenizer beside these. */
static td_code read_more(td_value v, more *ret, td_error *err)
{
    static const char *const inert[] = {
        "verbose", "return_token_type_ids", "return_attention_mask", "return_special_tokens_mask",
        "return_offsets_mapping", "return_length",
    };
    *ret = (more){ td_undefined_value(), td_undefined_value(), td_undefined_value() };
    const struct {
        const char *name;
        td_value *value;
    } known[] = { { "pad_to_multiple_of", &ret->multiple },
                  { "padding_side", &ret->side },
                  { "stride", &ret->stride } };
    if (v.tag == TD_V_UNDEFINED || td_is_none(v))
        return TD_OK;
    if (v.tag != TD_V_DICT)
        return refuse(err, "tokenizer_kwargs", "must be an object");
    for (uint32_t i = 0; i < v.as.dict->count; i++) {
        td_entry e = v.as.dict->entries[i];
        td_str key = td_is_str(e.key) ? td_as_str(e.key) : TD_STR("");
        bool found = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            if (!td_str_eq(key, td_str_from(known[k].name)))
                continue;
            *known[k].value = e.val;
            found = true;
        }
        for (size_t k = 0; k < sizeof inert / sizeof *inert; k++)
            found |= td_str_eq(key, td_str_from(inert[k]));
        if (!found)
            return td_fail(err, TD_E_INPUT,
                           "chat_template_kwargs: tokenizer_kwargs: \"%.*s\" is not available",
                           (int)key.len, key.ptr);
    }
    return TD_OK;
}

static td_code check_tensors(td_value v, td_error *err)
{
    bool fine = v.tag == TD_V_UNDEFINED || td_is_none(v) ||
                (td_is_str(v) && td_str_eq(td_as_str(v), TD_STR("np")));
    return fine ? TD_OK
                : refuse(err, "return_tensors", "is not available here but as \"np\", which "
                                                "changes no id");
}

enum { LONGEST, TO_MAX, NO_PADDING };

static td_code padding_of(const td_length_args *args, size_t *ret, td_error *err)
{
    static const char *const names[] = { "longest", "max_length", "do_not_pad" };
    td_value v = args->padding;
    *ret = is_true(v) ? LONGEST : NO_PADDING;
    if (v.tag == TD_V_UNDEFINED || v.tag == TD_V_BOOL)
        return TD_OK;
    return name_of(v, "padding", names, 3, ret, err);
}

enum { LONGEST_FIRST, ONLY_FIRST, ONLY_SECOND, NO_TRUNCATION };

/* null without padding is not the default: with max_length, it cuts. */
static td_code truncation_of(const td_length_args *args, bool padding_given, size_t *ret,
                             td_error *err)
{
    static const char *const names[] = { "longest_first", "only_first", "only_second",
                                         "do_not_truncate" };
    td_value v = args->truncation, max = args->max_length;
    bool limited = max.tag != TD_V_UNDEFINED && !td_is_none(max);
    *ret = is_true(v) || (td_is_none(v) && limited && !padding_given) ? LONGEST_FIRST
                                                                      : NO_TRUNCATION;
    if (v.tag == TD_V_UNDEFINED || v.tag == TD_V_BOOL || td_is_none(v))
        return TD_OK;
    return name_of(v, "truncation", names, 4, ret, err);
}

/* Settles what is missing of the length. */
static td_code take_default(const td_length_defaults *d, td_value *max, size_t *padding,
                            size_t *truncation, td_error *err)
{
    if ((max->tag != TD_V_UNDEFINED && !td_is_none(*max)) ||
        (*padding != TO_MAX && *truncation == NO_TRUNCATION))
        return TD_OK;
    if (td_is_none(d->max))
        return refuse(err, "max_length", "is missing, and the tokenizer's own is no number");
    if (d->max.tag != TD_V_UNDEFINED) {
        *max = d->max;
        return TD_OK;
    }
    *truncation = NO_TRUNCATION;
    *padding = *padding == TO_MAX ? NO_PADDING : *padding;
    return TD_OK;
}

/* The multiple that a filled prompt has the length of. */
static td_code set_multiple(const more *m, bool limited, td_length *l, td_error *err)
{
    bool given = m->multiple.tag != TD_V_UNDEFINED && !td_is_none(m->multiple);
    if (!l->fills || !given)
        return TD_OK;
    if (!as_size(m->multiple, &l->multiple))
        return refuse(err, "pad_to_multiple_of", "is no length");
    if (!l->cuts || !limited)
        return TD_OK;
    if (l->multiple == 0 || l->cut_at % l->multiple != 0)
        return refuse(err, "max_length", "is no multiple of pad_to_multiple_of");
    return TD_OK;
}

static td_code set_sides(const td_length_defaults *d, const more *m, td_length *l, td_error *err)
{
    l->cut_left = d->cut_left;
    l->fill_left = d->pad_left;
    l->pad = d->pad;
    uint64_t stride = 0;
    bool strides = m->stride.tag != TD_V_UNDEFINED;
    if (l->cuts && strides && (!as_size(m->stride, &stride) || stride != 0))
        return refuse(err, "stride", "is not available but as 0");
    if (!l->fills)
        return TD_OK;
    if (!d->has_pad)
        return refuse(err, "padding", "needs a padding token, and the tokenizer has none");
    if (m->side.tag == TD_V_UNDEFINED || td_is_none(m->side))
        return TD_OK;
    l->fill_left = td_is_str(m->side) && td_str_eq(td_as_str(m->side), TD_STR("left"));
    bool right = td_is_str(m->side) && td_str_eq(td_as_str(m->side), TD_STR("right"));
    return l->fill_left || right ? TD_OK : refuse(err, "padding_side", "must be left or right");
}

static bool is_number(td_value v)
{
    return v.tag == TD_V_BOOL || v.tag == TD_V_INT || v.tag == TD_V_FLOAT || v.tag == TD_V_BIGINT;
}

/* A marked text's length is divided even where it is not filled up. */
static bool divides_badly(const more *m, td_value max, bool longest)
{
    bool limited = max.tag != TD_V_UNDEFINED && !td_is_none(max);
    if (m->multiple.tag == TD_V_UNDEFINED || td_is_none(m->multiple) || (!limited && !longest))
        return false;
    bool zero = (m->multiple.tag == TD_V_INT && m->multiple.as.integer == 0) ||
                (m->multiple.tag == TD_V_BOOL && !m->multiple.as.boolean) ||
                (m->multiple.tag == TD_V_FLOAT && m->multiple.as.real == 0);
    return !is_number(m->multiple) || zero || (!longest && !is_number(max));
}

td_code td_length_of(const td_length_defaults *d, const td_length_args *args, bool marked,
                     td_length *ret, td_error *err)
{
    size_t padding, truncation;
    more m;
    *ret = (td_length){ 0 };
    TD_TRY(padding_of(args, &padding, err));
    bool padding_given = args->padding.tag != TD_V_UNDEFINED &&
                         !(args->padding.tag == TD_V_BOOL && !args->padding.as.boolean);
    TD_TRY(truncation_of(args, padding_given, &truncation, err));
    TD_TRY(read_more(args->tokenizer_kwargs, &m, err));
    TD_TRY(check_tensors(args->return_tensors, err));
    td_value max = args->max_length;
    bool any = padding != NO_PADDING || truncation != NO_TRUNCATION;
    if (any && d->known)
        TD_TRY(take_default(d, &max, &padding, &truncation, err));
    ret->marked = marked;
    ret->divides = marked && divides_badly(&m, max, padding == LONGEST);
    if (!any)
        return TD_OK;
    if (!d->known)
        return refuse(err, padding != NO_PADDING ? "padding" : "truncation",
                      "is available with model directories only");
    ret->cuts = truncation != NO_TRUNCATION;
    ret->fills = padding != NO_PADDING;
    ret->needs_pair = truncation == ONLY_SECOND && !marked;
    if (ret->cuts && !as_size(max, &ret->cut_at))
        return refuse(err, "max_length", "is no length");
    ret->fills_to = padding == TO_MAX;
    if (ret->fills_to && !as_size(max, &ret->fill_to))
        return refuse(err, "max_length", "is no length");
    bool limited = max.tag != TD_V_UNDEFINED && !td_is_none(max);
    TD_TRY(set_multiple(&m, limited, ret, err));
    TD_TRY(set_sides(d, &m, ret, err));
    return TD_OK;
}

/* How many of count ids are kept. */
static uint64_t kept_of(const td_length *l, uint64_t count)
{
    bool cuts = l->cuts && count > l->cut_at && !(l->marked && l->cut_left && l->cut_at == 0);
    return cuts ? l->cut_at : count;
}

td_code td_length_count(const td_length *l, uint64_t count, uint64_t *ret, td_error *err)
{
    uint64_t kept = kept_of(l, count);
    if (kept != count && l->needs_pair && l->cut_at != 0)
        return refuse(err, "truncation", "of the second text only: there is none");
    count = *ret = kept;
    if (l->marked && kept == 0)
        return TD_OK;
    if (l->divides)
        return refuse(err, "pad_to_multiple_of", "and max_length cannot be divided");
    uint64_t target = !l->fills ? 0 : l->fills_to ? l->fill_to : count;
    if (target > IDS_MAX || l->multiple > IDS_MAX)
        return td_fail(err, TD_E_LIMIT, "filled up to more than %d tokens", IDS_MAX);
    if (l->multiple != 0 && target % l->multiple != 0)
        target += l->multiple - target % l->multiple;
    *ret = target > count ? target : count;
    return TD_OK;
}

/* One list of count entries, the kept ones where they belong, fill everywhere else. */
static td_code spread(td_arena *a, const uint32_t **list, size_t kept, size_t count, bool left,
                      uint32_t fill, td_error *err)
{
    uint32_t *to = td_arena_array(a, uint32_t, count + 1);
    if (to == NULL)
        return td_arena_fail(a, err);
    for (size_t i = 0; i < count; i++)
        to[i] = fill;
    if (kept != 0)
        memcpy(to + (left ? count - kept : 0), *list, kept * sizeof *to);
    *list = to;
    return TD_OK;
}

td_code td_length_apply(const td_length *l, td_arena *a, td_ids *ids, td_error *err)
{
    uint64_t count;
    TD_TRY(td_length_count(l, ids->count, &count, err));
    size_t kept = (size_t)kept_of(l, ids->count), from = l->cut_left ? ids->count - kept : 0;
    const uint32_t **const lists[] = { &ids->ids, &ids->starts, &ids->ends };
    for (size_t i = 0; i < 3; i++) {
        if (*lists[i] == NULL)
            continue;
        *lists[i] += from;
        if (count > kept)
            TD_TRY(spread(a, lists[i], kept, (size_t)count, l->fill_left, i == 0 ? l->pad : 0,
                          err));
    }
    ids->count = (size_t)count;
    return TD_OK;
}
