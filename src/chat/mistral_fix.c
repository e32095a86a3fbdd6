/* mistral_fix.c - the option fix_mistral_regex: files of Mistral's models that were made by old
 * releases hold a wrong regex, which the option replaces. */
#include "chat/mistral_fix.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "chat/release.h"
#include "chat/vocab_text.h"
#include "value/json.h"

enum { VOCABULARY_ABOVE = 100000 };

#define MISTRAL_REGEX                                                                              \
    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*"                \
    "[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]+|"                                                      \
    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]+"                \
    "[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*|"                                                      \
    "\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*|\\\\s*[\\\\r\\\\n]+|"                      \
    "\\\\s+(?!\\\\S)|\\\\s+"

static const td_value *key_of(const td_dict *d, const char *key)
{
    return d != NULL ? td_dict_find(d, td_str_from(key)) : NULL;
}

static td_str text_of(const td_dict *d, const char *key)
{
    const td_value *v = key_of(d, key);
    return v != NULL && td_is_str(*v) ? td_as_str(*v) : (td_str){ NULL, 0 };
}

/* Whether config.json speaks of a Mistral model of an old release. */
static td_code is_old_mistral(const td_dict *config, bool *ret, td_error *err)
{
    static const char *const types[] = { "mistral", "mistral3", "voxtral", "ministral", "pixtral" };
    td_str version = text_of(config, "transformers_version");
    td_release release;
    *ret = false;
    if (version.len != 0) {
        if (!td_release_parse(version, &release))
            return td_fail(err, TD_E_TOKENIZER, "config.json: transformers_version is no version");
        if (td_release_compare(release, (td_release){ .numbers = { 5, 0, 0, 0 } }) >= 0)
            return TD_OK;
    }
    const td_value *type = key_of(config, "model_type");
    *ret = type == NULL || td_is_none(*type);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        *ret |= td_str_eq(text_of(config, "model_type"), td_str_from(types[i]));
    return TD_OK;
}

/* The finished vocabulary's size: entries, and added tokens that are none. */
static td_code vocabulary_size(td_arena *a, td_str vocab, const td_token_list *added, int64_t *ret,
                               td_error *err)
{
    td_dict *wanted = td_dict_new(a, (uint32_t)added->count + 1);
    bool ok = wanted != NULL;
    for (size_t i = 0; ok && i < added->count; i++)
        ok = td_dict_set(a, wanted, td_key(added->items[i].text), td_int(-1));
    if (!ok)
        return td_arena_fail(a, err);
    TD_TRY(td_vocab_find(vocab, wanted, ret, err));
    for (uint32_t i = 0; i < wanted->count; i++)
        *ret += wanted->entries[i].val.as.integer < 0;
    return TD_OK;
}

td_code td_mistral_fix_wanted(td_arena *a, const td_dict *config, const td_dict *tok_config,
                              td_str vocab, const td_token_list *added, bool *ret, td_error *err)
{
    const td_value *asked = key_of(tok_config, "fix_mistral_regex");
    *ret = false;
    if (config == NULL || asked == NULL || asked->tag != TD_V_BOOL || !asked->as.boolean ||
        vocab.ptr == NULL)
        return TD_OK;
    int64_t size;
    TD_TRY(vocabulary_size(a, vocab, added, &size, err));
    return size > VOCABULARY_ABOVE ? is_old_mistral(config, ret, err) : TD_OK;
}

static td_code read_texts(td_arena *a, td_value *split, td_value *bytes, td_error *err)
{
    TD_TRY(td_json_read(a,
                        TD_STR("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" MISTRAL_REGEX
                               "\"},\"behavior\":\"Isolated\",\"invert\":false}"),
                        split, err));
    return td_json_read(a,
                        TD_STR("{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
                               "\"trim_offsets\":true,\"use_regex\":false}"),
                        bytes, err);
}

td_code td_mistral_fix(td_arena *a, td_dict *root, td_error *err)
{
    const td_value *own = key_of(root, "pre_tokenizer");
    if (own == NULL || own->tag != TD_V_DICT)
        return TD_OK;
    td_str type = text_of(own->as.dict, "type");
    const td_value *list =
        td_str_eq(type, TD_STR("Sequence")) ? key_of(own->as.dict, "pretokenizers") : NULL;
    uint32_t count = list != NULL && list->tag == TD_V_LIST ? list->len : 2;
    td_value split, bytes, *items = td_arena_array(a, td_value, count + 1);
    td_dict *d = td_dict_new(a, 2);
    if (items == NULL || d == NULL)
        return td_arena_fail(a, err);
    TD_TRY(read_texts(a, &split, &bytes, err));
    if (list != NULL && list->tag == TD_V_LIST && count != 0)
        memcpy(items, list->as.items, count * sizeof *items);
    else
        items[1] = td_str_eq(type, TD_STR("Metaspace")) ? bytes : *own;
    items[0] = split;
    if (!td_dict_set(a, d, td_key(TD_STR("type")), td_string(TD_STR("Sequence"))) ||
        !td_dict_set(a, d, td_key(TD_STR("pretokenizers")), td_list_of(items, count)) ||
        !td_dict_set(a, root, td_key(TD_STR("pre_tokenizer")), td_dict_of(d)))
        return td_arena_fail(a, err);
    return TD_OK;
}
