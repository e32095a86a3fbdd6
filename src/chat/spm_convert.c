/* spm_convert.c - what TokenizersBackend hands to a class when there is but a SentencePiece
 * model: vocabulary and merges, and what that says about tokens. Classes without a constructor of
 * their own get the whole pipeline, as the generic one does. */
#include "chat/spm_convert.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/str.h"
#include "chat/spm_classes.h"

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

/* Control and user-defined pieces, as tokens with flags. */
static td_code set_pieces(td_arena *a, const tk_spm_facts *facts, td_token_files *files,
                          td_error *err)
{
    td_token_list *list = td_arena_array(a, td_token_list, 1);
    td_added *items = td_arena_array(a, td_added, (size_t)facts->added_count + 1);
    if (list == NULL || items == NULL)
        return td_arena_fail(a, err);
    for (uint32_t i = 0; i < facts->added_count; i++)
        items[i] = (td_added){ .text = facts->added[i].text, .special = facts->added[i].special };
    *list = (td_token_list){ items, facts->added_count, facts->added_count + 1 };
    files->pieces = list;
    return TD_OK;
}

static bool set_key(td_arena *a, td_dict *d, const char *key, td_value v)
{
    return td_dict_set(a, d, td_key(td_str_from(key)), v);
}

/* The generic class is named its standard tokens by the file; a Unigram class is told the unknown
 * piece. */
static td_code configure(td_arena *a, const tk_spm_facts *facts, bool whole, td_token_files *files,
                         td_error *err)
{
    const struct {
        const char *key;
        td_str text;
    } named[] = { { "bos_token", facts->bos },
                  { "eos_token", facts->eos },
                  { "unk_token", facts->unk } };
    td_dict *d =
        files->tok_config != NULL ? td_dict_copy(a, files->tok_config, 5) : td_dict_new(a, 5);
    bool ok = d != NULL;
    for (size_t i = 0; ok && whole && i < sizeof named / sizeof *named; i++)
        if (named[i].text.ptr != NULL && !has_key(files, named[i].key))
            ok = set_key(a, d, named[i].key, td_string(named[i].text));
    if (ok && facts->unigram)
        ok = set_key(a, d, "unk_id", td_int(facts->unk_id));
    if (!ok)
        return td_arena_fail(a, err);
    files->tok_config = d;
    files->raw = whole && facts->dummy_prefix;
    return set_pieces(a, facts, files, err);
}

/* As Python's if takes it. */
static bool is_legacy(const td_token_files *files)
{
    const td_value *v = key_of(files->tok_config, "legacy");
    if (v == NULL)
        return true;
    switch (v->tag) {
    case TD_V_NONE:
        return false;
    case TD_V_BOOL:
        return v->as.boolean;
    case TD_V_INT:
        return v->as.integer != 0;
    case TD_V_FLOAT:
        return v->as.real != 0;
    case TD_V_DICT:
        return v->as.dict->count != 0;
    default:
        return v->len != 0;
    }
}

/* The model's character map as tokenizer.json spells it. */
static td_code spell_charsmap(td_arena *a, td_str map, td_str *ret, td_error *err)
{
    *ret = (td_str){ NULL, 0 };
    if (map.len == 0)
        return TD_OK;
    char *text = td_arena_array(a, char, td_base64_length(map.len) + 1);
    if (text == NULL)
        return td_arena_fail(a, err);
    *ret = (td_str){ text, td_base64_write(map, text) };
    return TD_OK;
}

td_code td_spm_convert(td_arena *a, td_str bytes, td_token_files *files, td_buf *out,
                       td_converted *ret, td_error *err)
{
    const td_class_rule *rule = files->rule;
    bool whole = rule == NULL || !rule->rebuilds;
    if (rule != NULL && rule->rebuilds && rule->kind == TD_KIND_WORDPIECE)
        return td_fail(err, TD_E_TOKENIZER,
                       "%s makes a WordPiece model, which takes no SentencePiece vocabulary",
                       rule->name);
    tk_spm_options options = { .whole = whole, .legacy = is_legacy(files) };
    tk_spm_facts facts;
    if (whole)
        TD_TRY(set_renames(a, files, &options, err));
    if (rule != NULL)
        TD_TRY(td_spm_arrange(a, files, &options, err));
    TD_TRY(tk_convert_sentencepiece(a, bytes, &options, out, &facts, err));
    if (!whole && rule->kind == TD_KIND_UNIGRAM && !facts.unigram)
        return td_fail(err, TD_E_TOKENIZER, "%s needs a SentencePiece model of the kind Unigram",
                       rule->name);
    TD_TRY(spell_charsmap(a, facts.charsmap, &ret->charsmap, err));
    ret->nearest = facts.unigram;
    ret->model_only = !whole;
    return configure(a, &facts, whole, files, err);
}
