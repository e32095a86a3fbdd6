/* class_build.c - builds what a tokenizer class would build from a tokenizer.json.
 *
 * In:    the class's rule, tokenizer_config.json, the skimmed file, the merged tokens.
 * Out:   sections of a new tokenizer.json; vocabulary and merges stay text.
 * Idea:  the rule's texts with @name@ replaced by what the model has under that name. */
#include "chat/class_build.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "chat/class_post.h"
#include "chat/vocab_text.h"
#include "unicode/unicode.h"
#include "value/json.h"

typedef struct builder {
    td_arena *a;
    td_buf *scratch;
    const td_class_input *in;
    td_str charsmap; /* ptr NULL: none */
    td_dict *root;
    td_skimmed bulk;
    bool own_post;
    td_error *err;
} builder;

static const td_value *key_of(const td_dict *d, const char *key)
{
    return d != NULL ? td_dict_find(d, td_str_from(key)) : NULL;
}

static td_str text_of(const td_dict *d, const char *key)
{
    const td_value *v = key_of(d, key);
    return v != NULL && td_is_str(*v) ? td_as_str(*v) : (td_str){ NULL, 0 };
}

/* ---- the file's character map ---- */

static bool take_charsmap(builder *b, td_value v)
{
    if (v.tag != TD_V_DICT || !td_str_eq(text_of(v.as.dict, "type"), TD_STR("Precompiled")))
        return false;
    b->charsmap = text_of(v.as.dict, "precompiled_charsmap");
    return b->charsmap.ptr != NULL;
}

/* That of a vocabulary file, or the first one of the normalizer or of its sequence; deeper ones do
 * not count. */
static void find_charsmap(builder *b)
{
    const td_value *v = b->in->file->root != NULL ? key_of(b->in->file->root, "normalizer") : NULL;
    b->charsmap = b->in->charsmap;
    if (v == NULL || v->tag != TD_V_DICT)
        return;
    const td_value *list = td_str_eq(text_of(v->as.dict, "type"), TD_STR("Sequence"))
                               ? key_of(v->as.dict, "normalizers")
                               : NULL;
    if (list == NULL)
        take_charsmap(b, *v);
    for (uint32_t i = 0; list != NULL && list->tag == TD_V_LIST && i < list->len; i++) {
        if (take_charsmap(b, list->as.items[i]))
            return;
    }
}

/* ---- texts of the rule ---- */

static td_code replaced(builder *b, td_str name, td_value *v)
{
    if (td_str_eq(name, TD_STR("charsmap"))) {
        *v = td_string(b->charsmap);
        return TD_OK;
    }
    td_str text = td_text_of_named(&b->in->tokens->named, name);
    bool unknown = td_str_eq(name, TD_STR("unk_token"));
    if (text.ptr == NULL && unknown && b->in->rule->unset_unknown != TD_UNSET_REFUSED) {
        *v = b->in->rule->unset_unknown == TD_UNSET_NULL ? td_none() : td_string(TD_STR("None"));
        return TD_OK;
    }
    if (text.ptr == NULL)
        return td_fail(b->err, TD_E_TOKENIZER, "%s needs %.*s", b->in->rule->name, (int)name.len,
                       name.ptr);
    *v = td_string(text);
    return TD_OK;
}

/* Replaces @name@ everywhere in a value that was just read; depth is that of the rule's texts. */
static td_code fill_in(builder *b, td_value *v)
{
    if (td_is_str(*v) && v->len > 2 && v->as.str[0] == '@' && v->as.str[v->len - 1] == '@')
        return replaced(b, (td_str){ v->as.str + 1, v->len - 2 }, v);
    for (uint32_t i = 0; v->tag == TD_V_LIST && i < v->len; i++)
        TD_TRY(fill_in(b, (td_value *)&v->as.items[i]));
    for (uint32_t i = 0; v->tag == TD_V_DICT && i < v->as.dict->count; i++)
        TD_TRY(fill_in(b, &v->as.dict->entries[i].val));
    return TD_OK;
}

static td_code set(builder *b, const char *key, td_value v)
{
    return td_dict_set(b->a, b->root, td_key(td_str_from(key)), v) ? TD_OK
                                                                   : td_arena_fail(b->a, b->err);
}

static td_code set_text(builder *b, const char *key, const char *json)
{
    td_value v;
    TD_TRY(td_json_read(b->a, td_str_from(json), &v, b->err));
    TD_TRY(fill_in(b, &v));
    return set(b, key, v);
}

/* ---- the model ---- */

static td_code unknown_place(builder *b, int64_t *ret)
{
    const td_class_rule *rule = b->in->rule;
    const td_value *option = key_of(b->in->tok_config, "unk_id");
    td_str unk = td_text_of_named(&b->in->tokens->named, TD_STR("unk_token"));
    *ret = rule->unknown_at;
    bool takes_option =
        rule->unknown == TD_UNKNOWN_OPTION || rule->unknown == TD_UNKNOWN_SCORED_OPTION;
    if (takes_option && option != NULL) {
        if (option->tag != TD_V_INT)
            return td_fail(b->err, TD_E_TOKENIZER, "tokenizer_config.json: unk_id is no number");
        *ret = option->as.integer;
    }
    if (rule->unknown == TD_UNKNOWN_FIXED || rule->unknown == TD_UNKNOWN_OPTION)
        return TD_OK;
    bool scored = rule->unknown != TD_UNKNOWN_TEXT;
    int64_t from = rule->unknown == TD_UNKNOWN_SCORED && rule->unknown_at < 0, found;
    if (unk.ptr == NULL)
        unk = TD_STR("None");
    TD_TRY(td_vocab_place(b->bulk.vocab, unk, from, scored, &found, b->err));
    if (found >= 0)
        *ret = found;
    if (*ret < 0)
        return td_fail(b->err, TD_E_TOKENIZER, "%s needs \"%.*s\" with score 0 in its vocabulary",
                       rule->name, (int)unk.len, unk.ptr);
    return TD_OK;
}

static bool put_piece(td_buf *out, td_str text)
{
    return td_buf_byte(out, out->len == 0 ? '[' : ',') == TD_OK && td_buf_byte(out, '[') == TD_OK &&
           td_json_write_string(out, text, false) == TD_OK &&
           td_buf_append(out, ",0.0]", 5) == TD_OK;
}

static td_str named_piece(builder *b, const char *name)
{
    td_str text = td_text_of_named(&b->in->tokens->named, td_str_from(name));
    return text.ptr != NULL ? text : TD_STR("None"); /* Python's spelling of an unset one */
}

/* A vocabulary in SentencePiece's order, without language codes, becomes one with them: the class's
 * first four pieces, the file's from the fourth on, the codes, the mask. */
static td_code rearrange(builder *b)
{
    static const char *const first[] = { "cls_token", "pad_token", "eos_token", "unk_token" };
    td_buf *out = b->scratch;
    td_str rest;
    int64_t place = -1;
    const td_class_extra *e = b->in->rule->extra;
    for (; e->text != NULL && place < 0; e++)
        TD_TRY(td_vocab_place(b->bulk.vocab, td_str_from(e->text), 0, false, &place, b->err));
    if (place >= 0)
        return TD_OK;
    TD_TRY(td_vocab_tail(b->bulk.vocab, 3, &rest, b->err));
    bool ok = td_buf_reserve(out, b->bulk.vocab.len) == TD_OK;
    for (size_t i = 0; ok && i < sizeof first / sizeof *first; i++)
        ok = put_piece(out, named_piece(b, first[i]));
    if (ok && rest.len != 0)
        ok = td_buf_byte(out, ',') == TD_OK && td_buf_put(out, rest) == TD_OK;
    for (e = b->in->rule->extra; ok && e->text != NULL; e++)
        ok = put_piece(out, td_str_from(e->text));
    if (!ok || !put_piece(out, named_piece(b, "mask_token")) || td_buf_byte(out, ']') != TD_OK)
        return td_fail_nomem(b->err);
    b->bulk.vocab = td_buf_view(out);
    return TD_OK;
}

/* The vocabulary in the form that the class's model takes. */
static td_code take_vocab(builder *b)
{
    const td_class_rule *rule = b->in->rule;
    td_str vocab = b->bulk.vocab;
    if (vocab.ptr == NULL)
        return td_fail(b->err, TD_E_TOKENIZER, "tokenizer.json: the model has no vocabulary");
    bool list = vocab.ptr[0] == '[';
    if (rule->kind == TD_KIND_UNIGRAM) {
        b->bulk.merges = (td_str){ NULL, 0 };
        if (!list)
            return td_fail(b->err, TD_E_TOKENIZER, "%s needs a Unigram vocabulary", rule->name);
        return rule->rearranges ? rearrange(b) : TD_OK;
    }
    if (list) {
        TD_TRY(td_vocab_as_object(vocab, b->scratch, b->err));
        b->bulk.vocab = td_buf_view(b->scratch);
    }
    if (rule->kind == TD_KIND_WORDPIECE)
        b->bulk.merges = (td_str){ NULL, 0 };
    else if (b->bulk.merges.ptr == NULL)
        b->bulk.merges = TD_STR("[]");
    return TD_OK;
}

static td_code set_model(builder *b)
{
    if (b->in->rule->vocabulary != NULL) {
        b->bulk.vocab = td_str_from(b->in->rule->vocabulary);
        b->bulk.merges = TD_STR("[]");
    } else {
        TD_TRY(take_vocab(b));
    }
    td_value model;
    TD_TRY(td_json_read(b->a, td_str_from(b->in->rule->model), &model, b->err));
    TD_TRY(fill_in(b, &model));
    if (b->in->rule->kind == TD_KIND_UNIGRAM) {
        int64_t place;
        TD_TRY(unknown_place(b, &place));
        if (!td_dict_set(b->a, model.as.dict, td_key(TD_STR("unk_id")), td_int(place)))
            return td_arena_fail(b->a, b->err);
    }
    return set(b, "model", model);
}

/* ---- all of it ---- */

/* A template that the class makes: neither the file's own, nor one of flags. */
static bool is_template(const char *words)
{
    return strcmp(words, "json") != 0 && strcmp(words, "A") != 0 && strchr(words, '?') == NULL;
}

/* Pairs need tokens that single texts do not; any will do where there is an unknown one. */
static td_code check_pair_words(builder *b)
{
    const char *words = b->in->rule->pair_words;
    td_dict *wanted = td_dict_new(b->a, 2);
    if (td_text_of_named(&b->in->tokens->named, TD_STR("unk_token")).ptr != NULL)
        return TD_OK;
    for (size_t len; wanted != NULL && *words != '\0'; words += len + (words[len] == ' ')) {
        len = strcspn(words, " ");
        if (!td_dict_set(b->a, wanted, td_key((td_str){ words, len }), td_int(-1)))
            wanted = NULL;
    }
    if (wanted == NULL)
        return td_arena_fail(b->a, b->err);
    int64_t count;
    TD_TRY(td_vocab_find(b->bulk.vocab, wanted, &count, b->err));
    const td_token_list *added = &b->in->tokens->added;
    for (size_t i = 0; i < added->count; i++) {
        td_value *id = (td_value *)td_dict_find(wanted, added->items[i].text);
        if (id != NULL)
            *id = td_int(count);
    }
    for (uint32_t i = 0; i < wanted->count; i++) {
        td_str text = td_as_str(wanted->entries[i].key);
        if (wanted->entries[i].val.as.integer < 0)
            return td_fail(b->err, TD_E_TOKENIZER, "%s needs unk_token or the token \"%.*s\"",
                           b->in->rule->name, (int)text.len, text.ptr);
    }
    return TD_OK;
}

/* The class's template. Where another one takes its place it is made all the same and may fail. */
static td_code own_template(builder *b, const char *words, td_value *ret)
{
    td_post_input in = { .rule = b->in->rule,
                         .tok_config = b->in->tok_config,
                         .vocab = b->bulk.vocab,
                         .early = b->in->rule->early_post || b->in->rule->vocabulary != NULL,
                         .tokens = b->in->tokens };
    TD_TRY(td_post_build(b->a, &in, words, ret, b->err));
    return b->in->rule->pair_words != NULL ? check_pair_words(b) : TD_OK;
}

static td_code set_post(builder *b, const td_class_parts *parts)
{
    const td_dict *file = b->in->file->root;
    const td_value *own = file != NULL ? key_of(file, "post_processor") : NULL;
    bool has_own = own != NULL && !td_is_none(*own);
    const char *words = td_class_text(has_own ? parts->post : parts->post_null);
    const char *made = td_class_text(parts->post);
    bool by_flags = strcmp(words, "A") == 0 || strchr(words, '?') != NULL;
    td_value post = td_none();
    if (!is_template(made))
        made = td_class_text(parts->post_null);
    if (td_post_is_files(b->in->tokens, words))
        return set(b, "post_processor", has_own ? *own : td_none());
    if (is_template(made))
        TD_TRY(own_template(b, made, &post));
    if (b->in->rule->early_post)
        by_flags = key_of(b->in->tok_config, "add_bos_token") != NULL ||
                   key_of(b->in->tok_config, "add_eos_token") != NULL;
    if (!b->in->has_json && by_flags)
        words = td_post_words_of_flags(b->in->tok_config, strchr(words, '?') != NULL);
    if (strcmp(words, "json") == 0)
        return set(b, "post_processor", has_own ? *own : td_none());
    b->own_post = true;
    if (words != made || !is_template(made)) {
        td_post_input in = { .rule = b->in->rule,
                             .tok_config = b->in->tok_config,
                             .vocab = b->bulk.vocab,
                             .tokens = b->in->tokens };
        TD_TRY(td_post_build(b->a, &in, words, &post, b->err));
    }
    return set(b, "post_processor", post);
}

static td_code rebuild(builder *b, const td_class_parts *parts)
{
    if ((b->root = td_dict_new(b->a, 12)) == NULL)
        return td_arena_fail(b->a, b->err);
    TD_TRY(set(b, "version", td_string(TD_STR("1.0"))));
    TD_TRY(set_text(b, "normalizer", td_class_text(parts->normalizer)));
    TD_TRY(set_text(b, "pre_tokenizer", td_class_text(parts->pre_tokenizer)));
    TD_TRY(set_text(b, "decoder", td_class_text(parts->decoder)));
    TD_TRY(set_model(b));
    return set_post(b, parts);
}

static bool is_number(const td_value *v)
{
    return v == NULL || v->tag == TD_V_INT || v->tag == TD_V_BOOL;
}

/* Options that change no token, but without which texts are refused. */
static td_code check_tags(const td_class_input *in, td_error *err)
{
    const td_value *tags = key_of(in->tok_config, "tags_dict");
    if (tags == NULL || tags->tag != TD_V_DICT)
        return td_fail(err, TD_E_TOKENIZER,
                       "%s needs the object tags_dict in tokenizer_config.json", in->rule->name);
    if (!is_number(key_of(in->tok_config, "max_depth")) ||
        !is_number(key_of(in->tok_config, "max_width")))
        return td_fail(err, TD_E_TOKENIZER,
                       "tokenizer_config.json: max_depth and max_width must be numbers");
    return TD_OK;
}

/* An added token with white space is found in no text where texts are cut at it first. */
static td_code check_cut_tokens(const td_class_input *in, td_error *err)
{
    const td_token_list *added = &in->tokens->added;
    for (size_t i = 0; in->rule->needs_tags && i < added->count; i++) {
        const char *p = added->items[i].text.ptr, *end = p + added->items[i].text.len;
        while (p < end)
            if (td_py_isspace(td_utf8_next(&p, end)))
                return td_fail(err, TD_E_TOKENIZER,
                               "%s with an added token that holds white space is not read",
                               in->rule->name);
    }
    return TD_OK;
}

static td_code check_named(const td_class_input *in, td_error *err)
{
    for (int i = 0; i < TD_STANDARD_TOKENS; i++) {
        td_str text = td_text_of_named(&in->tokens->named, td_str_from(td_standard_tokens[i]));
        if ((in->rule->needed >> i & 1) != 0 && text.ptr == NULL)
            return td_fail(err, TD_E_TOKENIZER, "%s needs %s", in->rule->name,
                           td_standard_tokens[i]);
    }
    for (const td_class_named *n = in->rule->named; n->name != NULL; n++) {
        if ((n->flags & TD_TOKEN_NEEDED) != 0 &&
            td_text_of_named(&in->tokens->named, td_str_from(n->name)).ptr == NULL)
            return td_fail(err, TD_E_TOKENIZER, "%s needs %s", in->rule->name, n->name);
    }
    return TD_OK;
}

td_code td_class_build(td_arena *a, td_buf *scratch, const td_class_input *in, td_dict **ret,
                       td_skimmed *ret_bulk, bool *ret_own_post, td_error *err)
{
    builder b = { .a = a, .scratch = scratch, .in = in, .bulk = *in->file, .err = err };
    const td_class_parts *parts;
    TD_TRY(check_named(in, err));
    TD_TRY(check_cut_tokens(in, err));
    if (in->rule->needs_tags)
        TD_TRY(check_tags(in, err));
    find_charsmap(&b);
    TD_TRY(td_class_parts_for(in->rule, in->tok_config, b.charsmap.ptr != NULL, &parts, err));
    const td_value *model = in->file->root != NULL ? key_of(in->file->root, "model") : NULL;
    const td_value *type =
        model != NULL && model->tag == TD_V_DICT ? key_of(model->as.dict, "type") : NULL;
    if (type != NULL && !td_is_str(*type))
        return td_fail(err, TD_E_TOKENIZER, "tokenizer.json: the model's type must be a text");
    if (in->rule->rebuilds) {
        TD_TRY(rebuild(&b, parts));
    } else {
        if (in->file->root == NULL)
            return td_fail(err, TD_E_TOKENIZER, "%s needs a tokenizer.json", in->rule->name);
        if ((b.root = td_dict_copy(a, in->file->root, 3)) == NULL)
            return td_arena_fail(a, err);
        TD_TRY(set_post(&b, parts));
    }
    *ret = b.root;
    *ret_bulk = b.bulk;
    *ret_own_post = b.own_post;
    return TD_OK;
}
