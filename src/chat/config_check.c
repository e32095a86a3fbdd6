#include "chat/config_check.h"

#include "base/error.h"
#include "base/str.h"

typedef enum wanted { SIDE, FLAG, LIST, MAP, TEXT } wanted;

static bool fits(td_value v, wanted kind)
{
    switch (kind) {
    case SIDE:
        return td_is_str(v) && (td_str_eq(td_as_str(v), TD_STR("left")) ||
                                td_str_eq(td_as_str(v), TD_STR("right")));
    case FLAG:
        return v.tag == TD_V_BOOL;
    case LIST:
        return td_is_none(v) || v.tag == TD_V_LIST;
    case MAP:
        return v.tag == TD_V_DICT || v.tag == TD_V_LIST;
    case TEXT:
        return td_is_none(v) || td_is_str(v);
    }
    return false;
}

td_code td_config_check(const td_dict *tok_config, td_error *err)
{
    static const struct {
        const char *key;
        wanted kind;
        const char *what;
    } keys[] = {
        { "padding_side", SIDE, "left or right" },
        { "truncation_side", SIDE, "left or right" },
        { "split_special_tokens", FLAG, "true or false" },
        { "chat_control_tokens", LIST, "a list" },
        { "auto_map", MAP, "an object or a list" },
        { "tokenizer_class", TEXT, "a text" },
    };
    for (size_t i = 0; tok_config != NULL && i < sizeof keys / sizeof *keys; i++) {
        const td_value *v = td_dict_find(tok_config, td_str_from(keys[i].key));
        if (v != NULL && !fits(*v, keys[i].kind))
            return td_fail(err, TD_E_TOKENIZER, "tokenizer_config.json: %s must be %s", keys[i].key,
                           keys[i].what);
    }
    return TD_OK;
}
