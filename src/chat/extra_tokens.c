/* extra_tokens.c - tokens without a name: those of files, of the vocabulary's pieces, of the class.
 *
 * Holds: which key a list came by decides what the class makes of it. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "chat/token_merge.h"

static td_code extra_from_list(td_merge *m, td_value list, const char *where, bool objects)
{
    for (uint32_t i = 0; i < list.len; i++) {
        td_value v = list.as.items[i];
        td_added token = { 0 };
        if (td_is_str(v)) {
            token = td_merge_plain(td_as_str(v));
        } else if (v.tag == TD_V_DICT && (objects || td_merge_key(v.as.dict, "__type") != NULL)) {
            TD_TRY(td_merge_read_object(v.as.dict, where, &token, m->err));
            token.special |= objects;
        } else {
            return td_fail(m->err, TD_E_TOKENIZER, "%s: extra special token %u is no text", where,
                           i);
        }
        TD_TRY(td_merge_push(m->a, &m->extra, token, m->err));
    }
    return TD_OK;
}

static bool is_filled(const td_value *v)
{
    return v != NULL && ((v->tag == TD_V_LIST && v->len != 0) ||
                         (v->tag == TD_V_DICT && v->as.dict->count != 0));
}

static td_code extra_from_object(td_merge *m, const td_dict *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        td_entry e = d->entries[i];
        if (!td_is_str(e.val) || !td_is_str(e.key))
            return td_fail(m->err, TD_E_TOKENIZER,
                           "tokenizer_config.json: extra_special_tokens must map names to texts");
        TD_TRY(td_merge_push_named(m->a, &m->named, td_as_str(e.key),
                                   td_merge_plain(td_as_str(e.val)),
                                   /* configured */ true, m->err));
    }
    return TD_OK;
}

static bool null_is_absent(const td_merge *m)
{
    return m->files->rule != NULL && m->files->rule->null_is_absent;
}

/* The T5 family's own tokens are numbered; others have a fixed list. */
static bool is_numbered(const td_class_rule *rule)
{
    return rule->extra->text != NULL && strcmp(rule->extra->text, "<extra_id_0>") == 0;
}

/* An extra token <nameNUMBER>. */
static td_code push_numbered(td_merge *m, const char *name, int64_t number)
{
    enum { TEXT_MAX = 32 };
    char *text = td_arena_array(m->a, char, TEXT_MAX);
    if (text == NULL)
        return td_arena_fail(m->a, m->err);
    snprintf(text, TEXT_MAX, "<%s%lld>", name, (long long)number);
    return td_merge_push(m->a, &m->extra, td_merge_plain(td_str_from(text)), m->err);
}

static td_code numbered_tokens(td_merge *m)
{
    enum { DEFAULT_COUNT = 100, COUNT_MAX = 100000 };
    const td_value *ids = td_merge_key(m->files->tok_config, "extra_ids");
    int64_t count = ids == NULL ? DEFAULT_COUNT : ids->tag == TD_V_INT ? ids->as.integer : -1;
    if (count < 0 || count > COUNT_MAX)
        return td_fail(m->err, TD_E_TOKENIZER, "tokenizer_config.json: extra_ids is no count");
    int64_t given = 0;
    for (size_t i = 0; m->extra_source == TD_BY_ADDITIONAL && i < m->extra.count; i++)
        given += td_str_find(m->extra.items[i].text, TD_STR("<extra_id_"), 0) != TD_NOT_FOUND;
    if (given != 0 && count > 0 && given != count)
        return td_fail(m->err, TD_E_TOKENIZER,
                       "additional_special_tokens hold %lld of %lld extra ids", (long long)given,
                       (long long)count);
    for (int64_t i = 0; given == 0 && i < count; i++)
        TD_TRY(push_numbered(m, "extra_id_", i));
    return TD_OK;
}

/* The mask of sentences, unless the list of special_tokens_map.json has it, and numbers up to the
 * option offset; nothing else of that list stays. */
static td_code pegasus_tokens(td_merge *m)
{
    enum { FIRST = 2, OFFSET_DEFAULT = 103, OFFSET_MAX = 100000 };
    const td_value *option = td_merge_key(m->files->tok_config, "offset");
    const td_value *mask = td_merge_key(m->files->tok_config, "mask_token_sent");
    if (option != NULL && option->tag != TD_V_INT && option->tag != TD_V_BOOL)
        return td_fail(m->err, TD_E_TOKENIZER, "tokenizer_config.json: offset is no number");
    if (mask != NULL && !td_is_none(*mask) && !td_is_str(*mask))
        return td_fail(m->err, TD_E_TOKENIZER, "tokenizer_config.json: mask_token_sent is no text");
    int64_t offset = option == NULL            ? OFFSET_DEFAULT
                     : option->tag == TD_V_INT ? option->as.integer
                                               : option->as.boolean;
    if (offset > OFFSET_MAX)
        return td_fail(m->err, TD_E_TOKENIZER, "tokenizer_config.json: offset is too large");
    td_str text = mask == NULL        ? TD_STR("<mask_1>")
                  : td_is_none(*mask) ? (td_str){ NULL, 0 }
                                      : td_as_str(*mask);
    const td_added *listed = text.ptr != NULL && m->extra_source == TD_BY_ADDITIONAL
                                 ? td_merge_find(&m->extra, text)
                                 : NULL;
    bool given = text.ptr == NULL || (listed != NULL && listed->is_text);
    m->extra = (td_token_list){ 0 };
    if (!given)
        TD_TRY(td_merge_push(m->a, &m->extra, td_merge_plain(text), m->err));
    for (int64_t i = FIRST; i < offset; i++)
        TD_TRY(push_numbered(m, "unk_", i));
    return TD_OK;
}

/* Pieces take the place of additional tokens, or stand beside extra ones. */
td_code td_merge_extra_of_pieces(td_merge *m)
{
    const td_token_list *pieces = m->files->pieces;
    const td_class_rule *rule = m->files->rule;
    bool joins = m->extra_source == TD_BY_EXTRA && rule != NULL && rule->merges_lists;
    if (pieces == NULL || (m->extra_source == TD_BY_EXTRA && !joins))
        return TD_OK;
    if (m->extra_source == TD_BY_EXTRA_NULL && !null_is_absent(m))
        return TD_OK;
    if (!joins) {
        m->extra_source = TD_BY_ADDITIONAL;
        m->extra = (td_token_list){ 0 };
    }
    for (size_t i = 0; i < pieces->count; i++)
        TD_TRY(td_merge_push(m->a, &m->extra, pieces->items[i], m->err));
    return TD_OK;
}

/* Whether given has a token that the class takes for its own e: a text is not the same as a token
 * with flags, but classes that hold tokens with flags look at texts. */
static bool has_own(const td_token_list *given, const td_added *own)
{
    for (size_t i = 0; i < given->count; i++)
        if (td_str_eq(given->items[i].text, own->text) &&
            (given->items[i].is_text || !own->is_text))
            return true;
    return false;
}

/* The class's own extra tokens, if those of the files leave them in. */
td_code td_merge_extra_of_class(td_merge *m)
{
    const td_class_rule *rule = m->files->rule;
    if (rule == NULL)
        return TD_OK;
    if (strcmp(rule->name, "PegasusTokenizer") == 0 && m->extra_source != TD_BY_EXTRA)
        return pegasus_tokens(m);
    int how = m->extra_source == TD_BY_NOTHING      ? TD_EXTRA_BEHIND
              : m->extra_source == TD_BY_ADDITIONAL ? rule->additional_how
                                                    : (int)rule->extra_how;
    if (m->extra_source == TD_BY_EXTRA_NULL && rule->null_keeps_extra)
        how = TD_EXTRA_BEHIND;
    if (is_numbered(rule) && m->extra_source != TD_BY_EXTRA && m->extra_source != TD_BY_EXTRA_NULL)
        return numbered_tokens(m);
    if (how == TD_EXTRA_REPLACED)
        return TD_OK;
    td_token_list given = m->extra;
    if (how == TD_EXTRA_BEFORE || how == TD_EXTRA_IGNORED)
        m->extra = (td_token_list){ 0 };
    for (const td_class_extra *e = rule->extra; e->text != NULL; e++) {
        td_added token = td_merge_with_flags(td_str_from(e->text), e->flags);
        if (how == TD_EXTRA_BEFORE || how == TD_EXTRA_IGNORED || !has_own(&given, &token))
            TD_TRY(td_merge_push(m->a, &m->extra, token, m->err));
    }
    for (size_t i = 0; how == TD_EXTRA_BEFORE && i < given.count; i++) {
        if (!given.items[i].is_text || td_merge_find(&m->extra, given.items[i].text) == NULL)
            TD_TRY(td_merge_push(m->a, &m->extra, given.items[i], m->err));
    }
    return TD_OK;
}

/* Named tokens as newer files keep them; another one of the configuration's own hides them. */
td_code td_merge_named_specific(td_merge *m)
{
    const td_value *v = td_merge_key(m->files->tok_config, "model_specific_special_tokens");
    for (size_t i = 0; i < m->named.count; i++) {
        if (m->named.items[i].configured && !td_merge_is_standard(m->named.items[i].name))
            return TD_OK;
    }
    if (v == NULL || td_is_none(*v))
        return TD_OK;
    if (v->tag != TD_V_DICT)
        return td_fail(m->err, TD_E_TOKENIZER,
                       "tokenizer_config.json: model_specific_special_tokens must be an object");
    return extra_from_object(m, v->as.dict);
}

/* A list of extra tokens, or null. */
static td_code take_list(td_merge *m, td_value v, int source)
{
    m->extra_source = td_is_none(v) ? TD_BY_EXTRA_NULL : source;
    if (td_is_none(v))
        return TD_OK;
    if (v.tag != TD_V_LIST)
        return td_fail(m->err, TD_E_TOKENIZER,
                       "tokenizer_config.json: extra special tokens must be a list");
    return extra_from_list(m, v, "tokenizer_config.json", /* objects */ false);
}

td_code td_merge_extra_of_files(td_merge *m, bool with_map)
{
    const td_value *extra = td_merge_key(m->files->tok_config, "extra_special_tokens");
    const td_value *more = td_merge_key(m->files->tok_config, "additional_special_tokens");
    bool object = is_filled(extra) && extra->tag == TD_V_DICT;
    if (object)
        TD_TRY(extra_from_object(m, extra->as.dict));
    if (more != NULL && !is_filled(extra))
        TD_TRY(take_list(m, *more, TD_BY_EXTRA)); /* takes the other's place */
    else if (extra != NULL && !object && !(extra->tag == TD_V_DICT))
        TD_TRY(take_list(m, *extra, TD_BY_EXTRA));
    else if (more != NULL && !td_is_none(*more))
        TD_TRY(take_list(m, *more, TD_BY_ADDITIONAL));
    if (more != NULL && is_filled(extra) && !object && m->files->rule != NULL &&
        m->files->rule->merges_lists && more->tag == TD_V_LIST && m->files->pieces == NULL)
        TD_TRY(extra_from_list(m, *more, "tokenizer_config.json", /* objects */ false));
    const td_dict *map = with_map ? m->files->special_map : NULL;
    more = td_merge_key(map, "extra_special_tokens"); /* on top of those of the configuration */
    if (more != NULL && more->tag == TD_V_LIST) {
        m->extra_source = TD_BY_EXTRA;
        TD_TRY(extra_from_list(m, *more, "special_tokens_map.json", /* objects */ true));
    }
    more = td_merge_key(map, "additional_special_tokens"); /* instead of them */
    bool open = m->extra_source == TD_BY_NOTHING ||
                (m->extra_source == TD_BY_EXTRA_NULL && null_is_absent(m));
    if (open && more != NULL && more->tag == TD_V_LIST) {
        m->extra_source = TD_BY_ADDITIONAL;
        TD_TRY(extra_from_list(m, *more, "special_tokens_map.json", /* objects */ false));
    }
    return TD_OK;
}
