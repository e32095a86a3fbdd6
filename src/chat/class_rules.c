/* class_rules.c - tokenizer classes that rebuild their pipeline, as data.
 *
 * Such a class takes vocabulary and merges from tokenizer.json and nothing else but the
 * post-processor: the other parts are the class's own, whatever the file says. The tables come
 * from the reference itself: tools/gen_tokenizer_classes.py. */
#include "chat/class_rules.h"

#include "base/error.h"
#include "base/str.h"

const char *const td_standard_tokens[TD_STANDARD_TOKENS] = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
};

#include "chat/class_rules.def"

const td_class_rule *td_class_rule_find(td_str name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (td_str_eq(name, td_str_from(rules[i].name)))
            return &rules[i];
    }
    return NULL;
}

const char *td_class_text(uint16_t number)
{
    return texts[number];
}

/* Which of its values an option has; -1: one that the class refuses. */
static int option_value(const td_class_option *o, const td_dict *tok_config)
{
    const td_value *v = tok_config != NULL ? td_dict_find(tok_config, td_str_from(o->name)) : NULL;
    if (v == NULL)
        return o->missing;
    if (td_is_none(*v))
        return o->null;
    return v->tag == TD_V_BOOL ? (int)v->as.boolean : -1;
}

td_code td_class_parts_for(const td_class_rule *rule, const td_dict *tok_config, bool charsmap,
                           const td_class_parts **ret, td_error *err)
{
    size_t at = rule->takes_charsmap && charsmap;
    for (const td_class_option *o = rule->options; o->name != NULL; o++) {
        int value = option_value(o, tok_config);
        if (value < 0)
            return td_fail(err, TD_E_TOKENIZER,
                           "tokenizer_config.json: %s of %s must be true or false", o->name,
                           rule->name);
        at = at * (size_t)o->values + (size_t)value;
    }
    *ret = &rule->parts[at];
    if ((*ret)->normalizer == TD_NO_PARTS)
        return td_fail(err, TD_E_TOKENIZER, "%s refuses these options", rule->name);
    return TD_OK;
}
