/* spm_convert.c - what TokenizersBackend hands to a class when there is but a SentencePiece
 * model. */
#include "chat/spm_convert.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "tokenizer/formats/convert_spm.h"

bool td_spm_is_for(const td_class_rule *rule)
{
    static const char *const classes[] = { "LlamaTokenizer", "CodeLlamaTokenizer",
                                           "GemmaTokenizer" };
    for (size_t i = 0; rule != NULL && i < sizeof classes / sizeof *classes; i++)
        if (strcmp(rule->name, classes[i]) == 0)
            return true;
    return rule == NULL;
}

static const td_value *key_of(const td_dict *d, const char *key)
{
    return d != NULL ? td_dict_find(d, td_str_from(key)) : NULL;
}

static bool has_decoder(const td_token_files *files)
{
    const td_value *v = key_of(files->tok_config, "added_tokens_decoder");
    return v != NULL && !td_is_none(*v);
}

/* Whether the configuration has the key; special_tokens_map.json counts where it is read. */
static bool has_key(const td_token_files *files, const char *key)
{
    return key_of(files->tok_config, key) != NULL ||
           (!has_decoder(files) && key_of(files->special_map, key) != NULL);
}

/* ---- names of pieces ---- */

static bool id_of(td_str text, uint32_t *ret)
{
    uint64_t id = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || id > UINT32_MAX)
            return false;
        id = id * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *ret = (uint32_t)id;
    return text.len != 0 && id <= UINT32_MAX;
}

/* Entries of added_tokens_decoder, or of added_tokens.json, name the pieces of their ids. What has
 * another shape is refused when the tokens are read. */
static td_code set_renames(td_arena *a, const td_token_files *files, tk_spm_options *o,
                           td_error *err)
{
    const td_value *v = key_of(files->tok_config, "added_tokens_decoder");
    bool by_id = has_decoder(files);
    const td_dict *d = by_id ? (v->tag == TD_V_DICT ? v->as.dict : NULL) : files->added_json;
    if (d == NULL)
        return TD_OK;
    tk_spm_rename *items = td_arena_array(a, tk_spm_rename, (size_t)d->count + 1);
    if (items == NULL)
        return td_arena_fail(a, err);
    o->renames = items;
    for (uint32_t i = 0; i < d->count; i++) {
        td_entry e = d->entries[i];
        tk_spm_rename r;
        const td_value *content =
            by_id && e.val.tag == TD_V_DICT ? key_of(e.val.as.dict, "content") : NULL;
        if (!td_is_str(e.key))
            continue;
        if (by_id && content != NULL && td_is_str(*content) && id_of(td_as_str(e.key), &r.id))
            r.text = td_as_str(*content);
        else if (!by_id && e.val.tag == TD_V_INT && e.val.as.integer >= 0 &&
                 e.val.as.integer < UINT32_MAX)
            r = (tk_spm_rename){ (uint32_t)e.val.as.integer, td_as_str(e.key) };
        else
            continue;
        items[o->rename_count++] = r;
    }
    return TD_OK;
}

/* ---- configuration ---- */

static bool set_text(td_arena *a, td_dict *d, const char *key, td_str text)
{
    return td_dict_set(a, d, td_key(td_str_from(key)), td_string(text));
}

static bool set_flag(td_arena *a, td_dict *d, const char *key, bool value)
{
    return td_dict_set(a, d, td_key(td_str_from(key)), td_bool(value));
}

/* The pieces as the list that an AddedToken is saved in. */
static bool added_list(td_arena *a, const tk_spm_facts *facts, td_value *ret)
{
    td_value *items = td_arena_array(a, td_value, (size_t)facts->added_count + 1);
    bool ok = items != NULL;
    for (uint32_t i = 0; ok && i < facts->added_count; i++) {
        td_dict *d = td_dict_new(a, 6);
        ok = d != NULL && set_text(a, d, "__type", TD_STR("AddedToken")) &&
             set_text(a, d, "content", facts->added[i].text) &&
             set_flag(a, d, "normalized", false) &&
             set_flag(a, d, "special", facts->added[i].special);
        if (ok)
            items[i] = td_dict_of(d);
    }
    *ret = td_list_of(items, facts->added_count);
    return ok;
}

/* Extra tokens are those pieces, unless the configuration has some; the generic class is named its
 * standard tokens by the file. */
static td_code configure(td_arena *a, const tk_spm_facts *facts, bool generic,
                         td_token_files *files, td_error *err)
{
    const struct {
        const char *key;
        td_str text;
    } named[] = { { "bos_token", facts->bos },
                  { "eos_token", facts->eos },
                  { "unk_token", facts->unk } };
    td_dict *d = files->tok_config != NULL ? td_dict_copy(a, files->tok_config, 5)
                                           : td_dict_new(a, 5);
    bool ok = d != NULL;
    for (size_t i = 0; ok && generic && i < sizeof named / sizeof *named; i++)
        if (named[i].text.ptr != NULL && !has_key(files, named[i].key))
            ok = set_text(a, d, named[i].key, named[i].text);
    const td_value *extra = key_of(files->tok_config, "extra_special_tokens");
    bool moved = extra != NULL && extra->tag == TD_V_DICT && !has_decoder(files);
    bool has_extra = (extra != NULL && !moved) ||
                     key_of(files->tok_config, "additional_special_tokens") != NULL ||
                     (!has_decoder(files) &&
                      key_of(files->special_map, "extra_special_tokens") != NULL);
    td_value list;
    if (ok && !has_extra)
        ok = added_list(a, facts, &list) &&
             td_dict_set(a, d, td_key(TD_STR("additional_special_tokens")), list);
    if (!ok)
        return td_arena_fail(a, err);
    files->tok_config = d;
    files->raw = generic && facts->dummy_prefix;
    return TD_OK;
}

static bool is_legacy(const td_token_files *files)
{
    const td_value *v = key_of(files->tok_config, "legacy");
    return v == NULL || (v->tag == TD_V_BOOL && v->as.boolean);
}

td_code td_spm_convert(td_arena *a, td_str bytes, td_token_files *files, td_buf *out,
                       td_error *err)
{
    bool generic = files->rule == NULL;
    const td_value *legacy = key_of(files->tok_config, "legacy");
    if (generic && legacy != NULL && legacy->tag != TD_V_BOOL)
        return td_fail(err, TD_E_TOKENIZER, "tokenizer_config.json: legacy must be true or false");
    tk_spm_options options = { .whole = generic, .legacy = is_legacy(files) };
    tk_spm_facts facts;
    if (generic)
        TD_TRY(set_renames(a, files, &options, err));
    TD_TRY(tk_convert_sentencepiece(a, bytes, &options, out, &facts, err));
    return configure(a, &facts, generic, files, err);
}
