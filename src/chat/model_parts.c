/* model_parts.c - a model from what another program has loaded: its tokenizer as tokenizer.json
 * text, its templates, its named tokens. Nothing is read from files, and no rule of a class is
 * applied to the tokenizer: the program that loaded it did that. */
#include <string.h>

#include "base/error.h"
#include "chat/model.h"
#include "chat/model_decode.h"

static td_code keep_special(td_model *m, td_arena *a, const td_model_parts *parts,
                            td_token_list added, td_error *err)
{
    td_tokens tokens = { .added = added };
    tokens.named.items = td_arena_array(a, td_named, parts->special_count + 1);
    if (tokens.named.items == NULL)
        return td_arena_fail(a, err);
    for (size_t i = 0; i < parts->special_count; i++) {
        tokens.named.items[tokens.named.count++] =
            (td_named){ .name = parts->special[i].name,
                        .token = { .text = parts->special[i].text, .special = true },
                        .configured = true };
    }
    return td_model_keep_tokens(m, &tokens, err);
}

static bool is_set(const td_dict *d, td_str key)
{
    const td_value *v = td_dict_find(d, key);
    return v != NULL && !td_is_none(*v);
}

static td_code make_tokenizer(td_model *m, td_arena *a, td_str json, const td_skimmed *skimmed,
                              td_error *err)
{
    const td_dict *file = skimmed->root;
    if (!is_set(file, TD_STR("truncation")) && !is_set(file, TD_STR("padding")))
        return td_tokenizer_new_from_json(json, &m->tokenizer, err);
    m->rules |= TD_RULE_UNCUT;
    td_dict *root = td_dict_copy(a, file, 2);
    if (root == NULL || !td_dict_set(a, root, td_key(TD_STR("truncation")), td_none()) ||
        !td_dict_set(a, root, td_key(TD_STR("padding")), td_none()))
        return td_arena_fail(a, err);
    return td_model_set_sections(m, root, skimmed, err);
}

/* Decoding goes by the class and by settings that a directory has in tokenizer_config.json. */
static td_code set_decoding(td_model *m, td_arena *a, const td_model_parts *parts,
                            const td_dict *file, td_error *err)
{
    static const char bpe_too[] =
        "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output";
    td_dict *config = td_dict_new(a, 2);
    bool ok = config != NULL &&
              td_dict_set(a, config, td_key(TD_STR("clean_up_tokenization_spaces")),
                          td_bool(parts->cleans_up_spaces)) &&
              td_dict_set(a, config, td_key((td_str){ bpe_too, sizeof bpe_too - 1 }),
                          td_bool(parts->cleans_up_bpe));
    if (!ok)
        return td_arena_fail(a, err);
    const td_value *model = td_dict_find(file, TD_STR("model"));
    const td_value *type = model != NULL && model->tag == TD_V_DICT
                               ? td_dict_find(model->as.dict, TD_STR("type"))
                               : NULL;
    td_model_decode_setup(m, config,
                          type != NULL && td_is_str(*type) ? td_as_str(*type) : TD_STR("BPE"));
    return TD_OK;
}

td_code td_model_take_parts(td_model *m, td_arena *a, const td_model_parts *parts, td_error *err)
{
    m->kind = "parts";
    m->class_why = "taken over from a loaded tokenizer";
    m->name = td_arena_text(&m->arena, (td_str){ parts->name, strlen(parts->name) });
    m->class_used = m->class_asked = td_arena_copy(&m->arena, parts->class_name);
    if (m->name == NULL || m->class_used.ptr == NULL)
        return td_arena_fail(&m->arena, err);
    for (size_t i = 0; i < parts->template_count; i++)
        TD_TRY(td_model_add_template(m, parts->templates[i].name, "chat_template",
                                     parts->templates[i].text, err));
    m->templates_are_map = parts->templates_by_name;
    if (parts->split_special_tokens) {
        m->encode_flags |= TD_ENCODE_PLAIN_TEXT;
        m->rules |= TD_RULE_SPLIT_SPECIAL;
    }
    td_skimmed skimmed;
    if (td_skim(a, parts->tokenizer_json, &skimmed, err) != TD_OK)
        return td_while(err, "%s", m->name);
    td_token_list added = { 0 };
    TD_TRY(td_tokens_of_file(a, skimmed.root, &added, err));
    TD_TRY(keep_special(m, a, parts, added, err));
    TD_TRY(make_tokenizer(m, a, parts->tokenizer_json, &skimmed, err));
    return set_decoding(m, a, parts, skimmed.root, err);
}
