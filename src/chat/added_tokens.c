/* added_tokens.c - the added tokens that AutoTokenizer's backend ends up with.
 *
 * In:    tokenizer_config.json, special_tokens_map.json, added_tokens.json, tokenizer.json.
 * Idea:  (1) named tokens from class defaults and configuration, (2) a table "by id" from
 *        added_tokens_decoder, or else from the other files, (3) that table over the backend's own
 *        tokens, (4) named and extra tokens that are still missing.
 * Holds: ids written in files order tokens only. The tokenizer gives a token the id of the
 *        vocabulary entry of the same text, else the next free one, so order is all that counts. */
#include "chat/added_tokens.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "chat/token_merge.h"

td_code td_merge_push(td_arena *a, td_token_list *list, td_added token, td_error *err)
{
    if (list->count == list->cap) {
        size_t cap = list->cap != 0 ? list->cap * 2 : 16;
        td_added *items = td_arena_array(a, td_added, cap);
        if (items == NULL)
            return td_arena_fail(a, err);
        if (list->count != 0)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->cap = cap;
    }
    list->items[list->count++] = token;
    return TD_OK;
}

td_code td_merge_push_named(td_arena *a, td_named_list *list, td_str name, td_added token,
                            bool configured, td_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (td_str_eq(list->items[i].name, name)) {
            list->items[i].token = token;
            list->items[i].configured = configured;
            return TD_OK;
        }
    }
    if (list->count == list->cap) {
        size_t cap = list->cap != 0 ? list->cap * 2 : 16;
        td_named *items = td_arena_array(a, td_named, cap);
        if (items == NULL)
            return td_arena_fail(a, err);
        if (list->count != 0)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->cap = cap;
    }
    list->items[list->count++] = (td_named){ name, token, configured };
    return TD_OK;
}

td_added *td_merge_find(const td_token_list *list, td_str text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (td_str_eq(list->items[i].text, text))
            return &list->items[i];
    }
    return NULL;
}

const td_value *td_merge_key(const td_dict *d, const char *key)
{
    return d != NULL ? td_dict_find(d, td_str_from(key)) : NULL;
}

td_added td_merge_plain(td_str text)
{
    return (td_added){ .text = text, .special = true, .is_text = true };
}

td_added td_merge_with_flags(td_str text, unsigned flags)
{
    return (td_added){
        .text = text,
        .special = (flags & (TD_TOKEN_TEXT | TD_TOKEN_SPECIAL)) != 0,
        .normalized = (flags & TD_TOKEN_NORMALIZED) != 0,
        .lstrip = (flags & TD_TOKEN_LSTRIP) != 0,
        .rstrip = (flags & TD_TOKEN_RSTRIP) != 0,
        .single_word = (flags & TD_TOKEN_SINGLE_WORD) != 0,
        .is_text = (flags & TD_TOKEN_TEXT) != 0,
        .of_class = (flags & TD_TOKEN_TEXT) == 0,
    };
}

static bool flag(const td_dict *d, const char *key, bool missing)
{
    const td_value *v = td_merge_key(d, key);
    return v != NULL && v->tag == TD_V_BOOL ? v->as.boolean : missing;
}

/* A token object: its text is under content. */
td_code td_merge_read_object(const td_dict *d, const char *where, td_added *ret, td_error *err)
{
    const td_value *content = td_merge_key(d, "content");
    if (content == NULL || !td_is_str(*content))
        return td_fail(err, TD_E_INPUT, "%s: a token needs a \"content\" text", where);
    ret->text = td_as_str(*content);
    ret->special = flag(d, "special", false);
    ret->normalized = flag(d, "normalized", !ret->special);
    ret->lstrip = flag(d, "lstrip", false);
    ret->rstrip = flag(d, "rstrip", false);
    ret->single_word = flag(d, "single_word", false);
    return TD_OK;
}

bool td_merge_is_standard(td_str key)
{
    for (int i = 0; i < TD_STANDARD_TOKENS; i++) {
        if (td_str_eq(key, td_str_from(td_standard_tokens[i])))
            return true;
    }
    return false;
}

/* The class's own word on a token; NULL: it says nothing. */
static const td_class_named *class_named(const td_merge *m, td_str key)
{
    const td_class_named *n = m->files->rule != NULL ? m->files->rule->named : NULL;
    for (; n != NULL && n->name != NULL; n++) {
        if (td_str_eq(key, td_str_from(n->name)))
            return n;
    }
    return NULL;
}

static td_code push_default(td_merge *m, td_str key)
{
    const td_class_named *n = class_named(m, key);
    td_added token = { 0 };
    if (n != NULL && n->text != NULL)
        token = td_merge_with_flags(td_str_from(n->text), n->flags);
    return td_merge_push_named(m->a, &m->named, key, token, /* configured */ false, m->err);
}

static td_code named_from_defaults(td_merge *m)
{
    for (int i = 0; i < TD_STANDARD_TOKENS; i++)
        TD_TRY(push_default(m, td_str_from(td_standard_tokens[i])));
    const td_class_named *n = m->files->rule != NULL ? m->files->rule->named : NULL;
    for (; n != NULL && n->name != NULL; n++) {
        if (!td_merge_is_standard(td_str_from(n->name)) && n->text != NULL)
            TD_TRY(push_default(m, td_str_from(n->name)));
    }
    return TD_OK;
}

/* A named token of a file: text, or an object that says it is a token (any object in the map). */
static td_code push_configured(td_merge *m, td_str key, td_value v, bool from_map)
{
    const char *where = from_map ? "special_tokens_map.json" : "tokenizer_config.json";
    td_added token = { 0 };
    if (td_is_str(v)) {
        const td_class_named *n = td_merge_is_standard(key) ? class_named(m, key) : NULL;
        token = td_merge_with_flags(td_as_str(v), n != NULL ? n->given : TD_TOKEN_TEXT);
    } else if (v.tag == TD_V_DICT && (from_map || td_merge_key(v.as.dict, "__type") != NULL)) {
        TD_TRY(td_merge_read_object(v.as.dict, where, &token, m->err));
        if (from_map) {
            const td_value *normalized = td_merge_key(v.as.dict, "normalized");
            token.special = true;
            token.normalized =
                normalized != NULL && normalized->tag == TD_V_BOOL && normalized->as.boolean;
        }
    } else if (!td_is_none(v)) {
        return td_fail(m->err, TD_E_TOKENIZER, "%s: \"%.*s\" is neither a text nor a token object",
                       where, (int)key.len, key.ptr);
    }
    return td_merge_push_named(m->a, &m->named, key, token, /* configured */ true, m->err);
}

/* special_tokens_map.json, read only when the configuration has no added_tokens_decoder. */
static td_code named_from_map(td_merge *m)
{
    const td_dict *d = m->files->special_map;
    for (uint32_t i = 0; d != NULL && i < d->count; i++) {
        td_entry e = d->entries[i];
        if (!td_is_str(e.key) || !td_str_ends(td_as_str(e.key), TD_STR("_token")))
            continue;
        if (td_merge_is_standard(td_as_str(e.key)) || td_is_str(e.val) || e.val.tag == TD_V_DICT)
            TD_TRY(push_configured(m, td_as_str(e.key), e.val, /* from_map */ true));
    }
    return TD_OK;
}

/* The map's word on a standard token is the last, the configuration's on all others. */
static td_code named_from_config(td_merge *m, bool with_map)
{
    const td_dict *d = m->files->tok_config;
    for (uint32_t i = 0; d != NULL && i < d->count; i++) {
        td_entry e = d->entries[i];
        if (!td_is_str(e.key) || !td_str_ends(td_as_str(e.key), TD_STR("_token")))
            continue;
        bool standard = td_merge_is_standard(td_as_str(e.key));
        if (standard && with_map && m->files->special_map != NULL &&
            td_dict_find(m->files->special_map, td_as_str(e.key)) != NULL)
            continue;
        bool unset = td_is_none(e.val) && class_named(m, td_as_str(e.key)) != NULL;
        if (standard || unset || td_is_str(e.val)) /* else an option that ends like that */
            TD_TRY(push_configured(m, td_as_str(e.key), e.val, /* from_map */ false));
    }
    return TD_OK;
}

static bool parse_id(td_str text, int64_t *ret)
{
    int64_t id = 0;
    bool minus = text.len > 1 && text.ptr[0] == '-';
    if (minus)
        text = td_str_from_offset(text, 1);
    if (text.len == 0 || text.len > 10)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        id = id * 10 + (text.ptr[i] - '0');
    }
    *ret = minus ? -id : id;
    return true;
}

/* Sets the token of an id, replacing an earlier one. */
static td_code put_by_id(td_merge *m, td_added token)
{
    for (size_t i = 0; token.id <= m->highest_id && i < m->by_id.count; i++) {
        if (m->by_id.items[i].id == token.id) {
            m->by_id.items[i] = token;
            return TD_OK;
        }
    }
    if (token.id > m->highest_id)
        m->highest_id = token.id;
    return td_merge_push(m->a, &m->by_id, token, m->err);
}

static td_code by_id_from_decoder(td_merge *m, td_value decoder)
{
    const td_dict *d = decoder.as.dict;
    for (uint32_t i = 0; i < d->count; i++) {
        td_added token = { 0 };
        if (!td_is_str(d->entries[i].key) || d->entries[i].val.tag != TD_V_DICT ||
            !parse_id(td_as_str(d->entries[i].key), &token.id))
            return td_fail(m->err, TD_E_INPUT,
                           "tokenizer_config.json: added_tokens_decoder must map ids to tokens");
        TD_TRY(td_merge_read_object(d->entries[i].val.as.dict, "tokenizer_config.json", &token,
                                    m->err));
        TD_TRY(td_merge_push(m->a, &m->by_id, token, m->err)); /* keys of an object differ */
    }
    return TD_OK;
}

/* A tokenizer.json that pads names the padding token, unless a file of the directory does. */
static td_code named_from_padding(td_merge *m)
{
    const td_value *padding = td_merge_key(m->files->file, "padding");
    if ((m->files->rule != NULL && m->files->rule->rebuilds) || padding == NULL ||
        padding->tag != TD_V_DICT)
        return TD_OK;
    const td_value *text = td_merge_key(padding->as.dict, "pad_token");
    td_str key = TD_STR("pad_token");
    for (size_t i = 0; i < m->named.count; i++) {
        if (td_str_eq(m->named.items[i].name, key) &&
            (m->named.items[i].configured || m->named.items[i].token.text.ptr != NULL))
            return TD_OK;
    }
    if (text == NULL || !td_is_str(*text))
        return TD_OK;
    return td_merge_push_named(m->a, &m->named, key, td_merge_plain(td_as_str(*text)),
                               /* configured */ false, m->err);
}

/* Whether a file makes it a standard or extra token. */
static bool is_configured(const td_merge *m, td_str text)
{
    for (size_t i = 0; i < m->named.count; i++) {
        const td_named *n = &m->named.items[i];
        if (n->configured && n->token.text.ptr != NULL && td_merge_is_standard(n->name) &&
            td_str_eq(n->token.text, text))
            return true;
    }
    return td_merge_find(&m->extra, text) != NULL;
}

static td_code by_id_from_files(td_merge *m)
{
    const td_dict *d = m->files->added_json;
    for (uint32_t i = 0; d != NULL && i < d->count; i++) {
        td_entry e = d->entries[i];
        if (!td_is_str(e.key) || e.val.tag != TD_V_INT)
            return td_fail(m->err, TD_E_INPUT, "added_tokens.json must map texts to ids");
        bool special = is_configured(m, td_as_str(e.key));
        td_added token = { .text = td_as_str(e.key),
                           .id = e.val.as.integer,
                           .special = special,
                           .normalized = !special };
        TD_TRY(put_by_id(m, token));
    }
    td_token_list own = { 0 };
    TD_TRY(td_tokens_of_file(m->a, m->files->file, &own, m->err));
    for (size_t i = 0; i < own.count; i++)
        TD_TRY(put_by_id(m, own.items[i]));
    return TD_OK;
}

static void sort_by_id(td_token_list *list)
{
    /* files list them in order already, so insertion is linear */
    for (size_t i = 1; i < list->count; i++) {
        td_added token = list->items[i];
        size_t at = i;
        while (at > 0 && list->items[at - 1].id > token.id) {
            list->items[at] = list->items[at - 1];
            at--;
        }
        list->items[at] = token;
    }
}

static bool same_token(const td_added *x, const td_added *y)
{
    return td_str_eq(x->text, y->text) && x->special == y->special &&
           x->normalized == y->normalized && x->lstrip == y->lstrip && x->rstrip == y->rstrip &&
           x->single_word == y->single_word;
}

/* Adds one token to the backend, as add_tokens does. */
static td_code add_to_backend(td_merge *m, td_tokens *t, td_added token)
{
    const td_value *at = td_dict_find(m->index, token.text);
    if (at != NULL) {
        td_added *old = &t->added.items[at->as.integer];
        token.id = old->id;
        token.special |= old->special; /* the backend never forgets that */
        t->changed |= !same_token(old, &token);
        *old = token;
        return TD_OK;
    }
    t->changed = true;
    if (!td_dict_set(m->a, m->index, td_key(token.text), td_int((int64_t)t->added.count)))
        return td_arena_fail(m->a, m->err);
    return td_merge_push(m->a, &t->added, token, m->err);
}

/* What a class takes for the token at the beginning of texts where that is not set. */
static void settle_bos(td_merge *m)
{
    const char *other = m->files->rule != NULL ? m->files->rule->unset_bos : NULL;
    td_named *bos = NULL;
    for (size_t i = 0; other != NULL && i < m->named.count; i++) {
        td_named *n = &m->named.items[i];
        if (td_str_eq(n->name, TD_STR("bos_token")))
            bos = n->token.text.ptr == NULL ? n : NULL;
        else if (bos != NULL && td_str_eq(n->name, td_str_from(other)))
            *bos = (td_named){ bos->name, n->token, n->configured };
    }
}

/* Names that a class gives to its own tokens again, after all. */
static void keep_own(td_merge *m)
{
    for (size_t i = 0; i < m->named.count; i++) {
        const td_class_named *own = class_named(m, m->named.items[i].name);
        if (own != NULL && (own->flags & TD_TOKEN_KEPT) != 0)
            m->named.items[i].token = td_merge_with_flags(td_str_from(own->text), own->flags);
    }
}

/* Named tokens without text drop out; configured standard ones in the table take its flags. */
static void settle_named(td_merge *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->named.count; i++) {
        td_named n = m->named.items[i];
        if (n.token.text.ptr == NULL)
            continue;
        const td_added *known = n.configured && td_merge_is_standard(n.name)
                                    ? td_merge_find(&m->by_id, n.token.text)
                                    : NULL;
        if (known != NULL)
            n.token = *known;
        m->named.items[kept++] = n;
    }
    m->named.count = kept;
}

static bool is_named(const td_merge *m, td_str text)
{
    for (size_t i = 0; i < m->named.count; i++) {
        if (td_str_eq(m->named.items[i].token.text, text))
            return true;
    }
    return false;
}

/* The flags of a class's token before it is added, which makes it special and not normalized. */
static bool as_class_makes(const td_added *t)
{
    return !t->special && t->normalized;
}

/* Tokens with flags are the same if these are; a text and a token never are. */
static bool equal_tokens(const td_added *x, const td_added *y)
{
    if (x->is_text != y->is_text || !td_str_eq(x->text, y->text))
        return false;
    if (x->is_text)
        return true;
    if (!x->of_class && !y->of_class)
        return same_token(x, y);
    return (x->of_class || as_class_makes(x)) && (y->of_class || as_class_makes(y)) &&
           x->lstrip == y->lstrip && x->rstrip == y->rstrip && x->single_word == y->single_word;
}

/* Queues a named or extra token that the backend lacks. */
static td_code queue_token(td_merge *m, td_token_list *queue, td_added token)
{
    if (td_dict_find(m->index, token.text) != NULL)
        return TD_OK;
    for (size_t i = 0; i < queue->count; i++) {
        if (equal_tokens(&queue->items[i], &token))
            return TD_OK;
    }
    return td_merge_push(m->a, queue, token, m->err);
}

/* What some classes do at their end: add their tokens once more. */
static td_code add_again(td_merge *m, td_tokens *t)
{
    bool all = m->files->rule->resets == TD_RESET_ALL;
    for (size_t i = 0; i < m->named.count + m->extra.count; i++) {
        td_added token =
            i < m->named.count ? m->named.items[i].token : m->extra.items[i - m->named.count];
        if (all || token.is_text)
            token = td_merge_plain(token.text);
        token.special = true;
        TD_TRY(add_to_backend(m, t, token));
    }
    return TD_OK;
}

/* One that the backend does not have just so: special if it is a named one, whatever it says. */
static td_code add_by_id(td_merge *m, td_tokens *t, td_added token)
{
    const td_value *at = td_dict_find(m->index, token.text);
    if (at == NULL || !same_token(&t->added.items[at->as.integer], &token))
        token.special |= is_named(m, token.text);
    return add_to_backend(m, t, token);
}

static td_code build_backend(td_merge *m, td_tokens *t)
{
    if ((m->index = td_dict_new(m->a, 64)) == NULL)
        return td_arena_fail(m->a, m->err);
    if (m->files->rule == NULL || !m->files->rule->rebuilds) {
        td_token_list own = { 0 };
        TD_TRY(td_tokens_of_file(m->a, m->files->file, &own, m->err));
        for (size_t i = 0; i < own.count; i++)
            TD_TRY(add_to_backend(m, t, own.items[i]));
        t->changed = false;
    }
    for (size_t i = 0; i < m->by_id.count; i++)
        TD_TRY(add_by_id(m, t, m->by_id.items[i]));
    td_token_list queue = { 0 };
    for (size_t i = 0; i < m->named.count; i++)
        TD_TRY(queue_token(m, &queue, m->named.items[i].token));
    for (size_t i = 0; i < m->extra.count; i++)
        TD_TRY(queue_token(m, &queue, m->extra.items[i]));
    for (size_t i = 0; i < queue.count; i++) {
        queue.items[i].special |= is_named(m, queue.items[i].text);
        TD_TRY(add_to_backend(m, t, queue.items[i]));
    }
    if (m->files->rule != NULL && m->files->rule->resets != TD_RESET_NONE)
        TD_TRY(add_again(m, t));
    return TD_OK;
}

td_code td_tokens_merge(td_arena *a, const td_token_files *files, td_tokens *ret, td_error *err)
{
    td_merge m = { .a = a, .files = files, .highest_id = -1, .err = err };
    const td_value *decoder = td_merge_key(files->tok_config, "added_tokens_decoder");
    bool has_decoder = decoder != NULL;
    if (has_decoder && decoder->tag != TD_V_DICT)
        return td_fail(err, TD_E_TOKENIZER,
                       "tokenizer_config.json: added_tokens_decoder must be an object");
    TD_TRY(named_from_defaults(&m));
    if (!has_decoder)
        TD_TRY(named_from_map(&m));
    TD_TRY(named_from_config(&m, /* with_map */ !has_decoder));
    TD_TRY(td_merge_extra_of_files(&m, /* with_map */ !has_decoder));
    TD_TRY(has_decoder ? by_id_from_decoder(&m, *decoder) : by_id_from_files(&m));
    for (size_t i = 0; files->raw && i < m.by_id.count; i++)
        m.by_id.items[i].normalized = false;
    TD_TRY(td_merge_named_specific(&m));
    TD_TRY(named_from_padding(&m));
    TD_TRY(td_merge_extra_of_pieces(&m));
    TD_TRY(td_merge_extra_of_class(&m));
    sort_by_id(&m.by_id);
    settle_bos(&m);
    settle_named(&m);
    *ret = (td_tokens){ 0 };
    TD_TRY(build_backend(&m, ret));
    keep_own(&m);
    ret->named = m.named;
    return TD_OK;
}

td_code td_tokens_of_file(td_arena *a, const td_dict *file, td_token_list *ret, td_error *err)
{
    const td_value *list = td_merge_key(file, "added_tokens");
    if (list == NULL)
        return TD_OK;
    if (list->tag != TD_V_LIST)
        return td_fail(err, TD_E_TOKENIZER, "tokenizer.json: added_tokens must be a list");
    for (uint32_t i = 0; i < list->len; i++) {
        td_value v = list->as.items[i];
        td_added token = { 0 };
        if (v.tag != TD_V_DICT)
            return td_fail(err, TD_E_INPUT, "tokenizer.json: added_tokens[%u] is no object", i);
        TD_TRY(td_merge_read_object(v.as.dict, "tokenizer.json", &token, err));
        const td_value *id = td_merge_key(v.as.dict, "id");
        token.id = id != NULL && id->tag == TD_V_INT ? id->as.integer : 0;
        TD_TRY(td_merge_push(a, ret, token, err));
    }
    return TD_OK;
}

static bool set_flag(td_arena *a, td_dict *d, td_str key, bool value)
{
    return td_dict_set(a, d, td_key(key), td_bool(value));
}

td_code td_tokens_to_value(td_arena *a, const td_token_list *list, td_value *ret, td_error *err)
{
    td_value *items = td_arena_array(a, td_value, list->count + 1);
    if (items == NULL)
        return td_arena_fail(a, err);
    for (size_t i = 0; i < list->count; i++) {
        const td_added *t = &list->items[i];
        td_dict *d = td_dict_new(a, 7);
        bool ok = d != NULL && td_dict_set(a, d, td_key(TD_STR("id")), td_int((int64_t)i)) &&
                  td_dict_set(a, d, td_key(TD_STR("content")), td_string(t->text)) &&
                  set_flag(a, d, TD_STR("single_word"), t->single_word) &&
                  set_flag(a, d, TD_STR("lstrip"), t->lstrip) &&
                  set_flag(a, d, TD_STR("rstrip"), t->rstrip) &&
                  set_flag(a, d, TD_STR("normalized"), t->normalized) &&
                  set_flag(a, d, TD_STR("special"), t->special);
        if (!ok)
            return td_arena_fail(a, err);
        items[i] = td_dict_of(d);
    }
    *ret = td_list_of(items, (uint32_t)list->count);
    return TD_OK;
}
