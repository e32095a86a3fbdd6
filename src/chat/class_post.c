/* class_post.c - a class's template of special tokens, with the ids they will get.
 *
 * Ids are known before the tokenizer is made: a token has that of the vocabulary entry of the same
 * text, else the next free one in the order of the list. */
#include "chat/class_post.h"

#include <string.h>

#include "base/error.h"
#include "base/buf.h"
#include "base/str.h"
#include "chat/vocab_text.h"
#include "unicode/unicode.h"

enum { WORDS_MAX = 8 };

typedef struct post {
    td_arena *a;
    const td_post_input *in;
    td_str texts[WORDS_MAX]; /* of the tokens; ptr NULL: the text itself */
    int64_t ids[WORDS_MAX];  /* -1: to be found */
    int64_t speech;          /* the number of Whisper's language; -1: none */
    size_t count;
    td_error *err;
} post;

td_str td_text_of_named(const td_named_list *named, td_str name)
{
    for (size_t i = 0; i < named->count; i++) {
        if (td_str_eq(named->items[i].name, name))
            return named->items[i].token.text;
    }
    return (td_str){ NULL, 0 };
}

static bool flag_of(const td_dict *d, const char *key, bool missing)
{
    const td_value *v = d != NULL ? td_dict_find(d, td_str_from(key)) : NULL;
    return v != NULL && v->tag == TD_V_BOOL ? v->as.boolean : missing;
}

const char *td_post_words_of_flags(const td_dict *tok_config, bool bos_default)
{
    static const char *const words[] = { "A", "A eos_token?", "bos_token? A",
                                         "bos_token? A eos_token?" };
    bool bos = flag_of(tok_config, "add_bos_token", bos_default);
    bool eos = flag_of(tok_config, "add_eos_token", false);
    return words[bos * 2 + eos];
}

static td_code language(post *p, td_str *ret)
{
    const td_class_rule *rule = p->in->rule;
    const td_value *v = p->in->tok_config != NULL
                            ? td_dict_find(p->in->tok_config, td_str_from(rule->language))
                            : NULL;
    td_str name = td_str_from(rule->language_default), wrap = td_str_from(rule->language_wrap);
    if (v != NULL && td_is_str(*v))
        name = td_as_str(*v);
    else if (v != NULL && !td_is_none(*v))
        return td_fail(p->err, TD_E_TOKENIZER, "tokenizer_config.json: %s is no text",
                       rule->language);
    bool known = !rule->strict_language;
    for (const td_class_extra *e = rule->extra; !known && e->text != NULL; e++)
        known = td_str_eq(name, td_str_from(e->text));
    if (!known)
        return td_fail(p->err, TD_E_TOKENIZER, "%s knows no language \"%.*s\"", rule->name,
                       (int)name.len, name.ptr);
    if (td_str_find(name, wrap, 0) != TD_NOT_FOUND) /* spelled as a token already */
        wrap.len = 0;
    char *text = td_arena_array(p->a, char, name.len + 2 * wrap.len + 1);
    if (text == NULL)
        return td_arena_fail(p->a, p->err);
    memcpy(text, wrap.ptr, wrap.len);
    memcpy(text + wrap.len, name.ptr, name.len);
    memcpy(text + wrap.len + name.len, wrap.ptr, wrap.len);
    *ret = (td_str){ text, name.len + 2 * wrap.len };
    return TD_OK;
}

/* ---- Whisper ---- */

static const struct {
    const char *name;
    int number; /* behind the first special token */
} speech_languages[] = {
#define LANGUAGE(name, number) { name, number },
#include "chat/whisper_languages.def"
#undef LANGUAGE
};

static td_code speech_language(post *p, td_str name)
{
    td_buf lower = { 0 };
    td_code code = td_py_lower(&lower, name);
    for (size_t i = 0; code == TD_OK && i < sizeof speech_languages / sizeof *speech_languages; i++)
        if (td_str_eq(td_buf_view(&lower), td_str_from(speech_languages[i].name)))
            p->speech = speech_languages[i].number;
    if (code != TD_OK)
        code = td_buf_fail(&lower, p->err, code, "language");
    td_buf_done(&lower);
    if (code == TD_OK && p->speech < 0)
        return td_fail(p->err, TD_E_TOKENIZER, "%s knows no language \"%.*s\"", p->in->rule->name,
                       (int)name.len, name.ptr);
    return code;
}

static td_code put_word(post *p, td_str text)
{
    p->texts[p->count] = text;
    p->ids[p->count++] = -1;
    return TD_OK;
}

static const td_value *option(const post *p, const char *key)
{
    const td_value *v =
        p->in->tok_config != NULL ? td_dict_find(p->in->tok_config, td_str_from(key)) : NULL;
    return v != NULL && !td_is_none(*v) ? v : NULL;
}

/* Language and task, behind the first word. */
static td_code take_speech(post *p)
{
    const td_value *lang = option(p, "language"), *task = option(p, "task");
    if ((lang != NULL && !td_is_str(*lang)) || (task != NULL && !td_is_str(*task)))
        return td_fail(p->err, TD_E_TOKENIZER,
                       "tokenizer_config.json: language and task of %s must be texts",
                       p->in->rule->name);
    if (lang != NULL) {
        TD_TRY(speech_language(p, td_as_str(*lang)));
        TD_TRY(put_word(p, TD_STR("language")));
    }
    if (task == NULL)
        return TD_OK;
    if (td_str_eq(td_as_str(*task), TD_STR("transcribe")))
        return put_word(p, TD_STR("<|transcribe|>"));
    if (td_str_eq(td_as_str(*task), TD_STR("translate")))
        return put_word(p, TD_STR("<|translate|>"));
    return td_fail(p->err, TD_E_TOKENIZER, "%s knows no task \"%.*s\"", p->in->rule->name,
                   (int)td_as_str(*task).len, td_as_str(*task).ptr);
}

/* The token of the language is told by its number; there must be one. */
static td_code settle_speech(post *p, int64_t id_end)
{
    if (p->speech < 0)
        return TD_OK;
    p->ids[1] = p->ids[0] + 1 + p->speech;
    return p->ids[1] < id_end ? TD_OK
                              : td_fail(p->err, TD_E_TOKENIZER, "%s has no token for its language",
                                        p->in->rule->name);
}

/* ---- words ---- */

/* Cuts "=..." off a word; ptr NULL: there is none. */
static td_str cut_unset(td_str *word)
{
    size_t at = td_str_find(*word, TD_STR("="), 0);
    if (at == TD_NOT_FOUND)
        return (td_str){ NULL, 0 };
    td_str unset = { word->ptr + at + 1, word->len - at - 1 };
    word->len = at;
    return unset;
}

bool td_post_is_files(const td_tokens *tokens, const char *words)
{
    while (*words != '\0') {
        size_t len = strcspn(words, " ");
        td_str word = { words, len };
        td_str unset = cut_unset(&word);
        if (unset.ptr != NULL && td_str_eq(unset, TD_STR("file")) &&
            td_text_of_named(&tokens->named, word).ptr == NULL)
            return true;
        words += len + (words[len] == ' ');
    }
    return false;
}

/* What stands for a token that is not set. */
static td_code take_unset(post *p, td_str word, td_str unset, td_str *ret_text, int64_t *ret_id)
{
    if (unset.ptr == NULL)
        return td_fail(p->err, TD_E_TOKENIZER, "%s needs %.*s", p->in->rule->name, (int)word.len,
                       word.ptr);
    bool by_id = unset.ptr[0] == '#';
    *ret_text = by_id ? unset : TD_STR("None");
    if (!td_str_eq(unset, TD_STR("unk")))
        *ret_id = unset.ptr[by_id] - '0';
    return TD_OK;
}

static td_code take_word(post *p, td_str word)
{
    int64_t id = -1;
    td_str text = word;
    td_str unset = cut_unset(&word);
    if (td_str_eq(word, TD_STR("A"))) {
        text = (td_str){ NULL, 0 };
    } else if (word.ptr[0] == '#') {
        id = word.ptr[1] - '0';
    } else if (td_str_eq(word, TD_STR("language"))) {
        TD_TRY(language(p, &text));
    } else if (word.ptr[0] != '<') {
        bool optional = word.ptr[word.len - 1] == '?';
        word.len -= optional;
        text = td_text_of_named(&p->in->tokens->named, word);
        if (text.ptr == NULL && optional)
            return TD_OK;
        if (text.ptr == NULL)
            TD_TRY(take_unset(p, word, unset, &text, &id));
    }
    p->texts[p->count] = text;
    p->ids[p->count++] = id;
    return TD_OK;
}

static td_code take_words(post *p, const char *words)
{
    while (*words != '\0' && p->count < WORDS_MAX) {
        size_t len = strcspn(words, " ");
        TD_TRY(take_word(p, (td_str){ words, len }));
        if (p->count == 1 && p->in->rule != NULL &&
            strcmp(p->in->rule->name, "WhisperTokenizer") == 0)
            TD_TRY(take_speech(p));
        words += len + (words[len] == ' ');
    }
    return TD_OK;
}

static bool want(post *p, td_dict *wanted, td_str text)
{
    return td_dict_set(p->a, wanted, td_key(text), td_int(-1));
}

/* Ids of all added tokens and of the words. */
static td_code find_ids(post *p)
{
    const td_token_list *added = &p->in->tokens->added;
    td_dict *wanted = td_dict_new(p->a, (uint32_t)added->count + WORDS_MAX);
    bool ok = wanted != NULL;
    for (size_t i = 0; ok && i < added->count; i++)
        ok = want(p, wanted, added->items[i].text);
    td_str unk = td_text_of_named(&p->in->tokens->named, TD_STR("unk_token"));
    ok = ok && (unk.ptr == NULL || want(p, wanted, unk));
    for (size_t i = 0; ok && i < p->count; i++)
        ok = p->texts[i].ptr == NULL || want(p, wanted, p->texts[i]);
    if (!ok)
        return td_arena_fail(p->a, p->err);
    int64_t next = 0;
    TD_TRY(td_vocab_find(p->in->vocab, wanted, &next, p->err));
    for (size_t i = 0; p->in->early && i < p->count; i++) {
        if (p->texts[i].ptr != NULL && td_dict_find(wanted, p->texts[i])->as.integer < 0)
            return td_fail(p->err, TD_E_TOKENIZER, "%s needs \"%.*s\" in the vocabulary",
                           p->in->rule->name, (int)p->texts[i].len, p->texts[i].ptr);
    }
    for (size_t i = 0; i < added->count; i++) {
        td_value *id = (td_value *)td_dict_find(wanted, added->items[i].text);
        if (id->as.integer < 0)
            *id = td_int(next++);
        else if (id->as.integer >= next)
            next = id->as.integer + 1;
    }
    const td_value *unknown = unk.ptr != NULL ? td_dict_find(wanted, unk) : NULL;
    for (size_t i = 0; i < p->count; i++) {
        if (p->texts[i].ptr == NULL || p->ids[i] >= 0 || (i == 1 && p->speech >= 0))
            continue;
        p->ids[i] = td_dict_find(wanted, p->texts[i])->as.integer;
        if (p->ids[i] < 0 && unknown != NULL)
            p->ids[i] = unknown->as.integer;
        if (p->ids[i] < 0)
            return td_fail(p->err, TD_E_TOKENIZER,
                           "the post-processor needs \"%.*s\", which is no token",
                           (int)p->texts[i].len, p->texts[i].ptr);
    }
    return settle_speech(p, next);
}

/* {"SpecialToken": {"id": text, "type_id": 0}} or {"Sequence": {"id": "A", "type_id": 0}} */
static bool put_item(post *p, td_str kind, td_str id, td_value *ret)
{
    td_dict *outer = td_dict_new(p->a, 1), *inner = td_dict_new(p->a, 2);
    *ret = td_dict_of(outer);
    return outer != NULL && inner != NULL &&
           td_dict_set(p->a, inner, td_key(TD_STR("id")), td_string(id)) &&
           td_dict_set(p->a, inner, td_key(TD_STR("type_id")), td_int(0)) &&
           td_dict_set(p->a, outer, td_key(kind), td_dict_of(inner));
}

static bool put_special(post *p, td_dict *specials, td_str text, int64_t id)
{
    td_dict *d = td_dict_new(p->a, 3);
    td_value *ids = td_arena_array(p->a, td_value, 2);
    if (d == NULL || ids == NULL)
        return false;
    ids[0] = td_int(id);
    ids[1] = td_string(text);
    return td_dict_set(p->a, d, td_key(TD_STR("id")), td_string(text)) &&
           td_dict_set(p->a, d, td_key(TD_STR("ids")), td_list_of(ids, 1)) &&
           td_dict_set(p->a, d, td_key(TD_STR("tokens")), td_list_of(ids + 1, 1)) &&
           td_dict_set(p->a, specials, td_key(text), td_dict_of(d));
}

static bool put_all(post *p, td_dict *root)
{
    td_value *single = td_arena_array(p->a, td_value, WORDS_MAX);
    td_value *pair = td_arena_array(p->a, td_value, 2);
    td_dict *specials = td_dict_new(p->a, WORDS_MAX);
    bool ok = single != NULL && pair != NULL && specials != NULL &&
              put_item(p, TD_STR("Sequence"), TD_STR("A"), &pair[0]) &&
              put_item(p, TD_STR("Sequence"), TD_STR("B"), &pair[1]);
    for (size_t i = 0; ok && i < p->count; i++) {
        bool text = p->texts[i].ptr == NULL;
        ok = put_item(p, text ? TD_STR("Sequence") : TD_STR("SpecialToken"),
                      text ? TD_STR("A") : p->texts[i], &single[i]) &&
             (text || put_special(p, specials, p->texts[i], p->ids[i]));
    }
    return ok &&
           td_dict_set(p->a, root, td_key(TD_STR("type")),
                       td_string(TD_STR("TemplateProcessing"))) &&
           td_dict_set(p->a, root, td_key(TD_STR("single")),
                       td_list_of(single, (uint32_t)p->count)) &&
           td_dict_set(p->a, root, td_key(TD_STR("pair")), td_list_of(pair, 2)) &&
           td_dict_set(p->a, root, td_key(TD_STR("special_tokens")), td_dict_of(specials));
}

td_code td_post_build(td_arena *a, const td_post_input *in, const char *words, td_value *ret,
                      td_error *err)
{
    if (strcmp(words, "A") == 0) {
        *ret = td_none();
        return TD_OK;
    }
    post p = { .a = a, .in = in, .speech = -1, .err = err };
    TD_TRY(take_words(&p, words));
    bool open = false; /* some id is not known yet */
    for (size_t i = 0; i < p.count; i++)
        open |= p.texts[i].ptr != NULL && p.ids[i] < 0;
    if (open)
        TD_TRY(find_ids(&p));
    td_dict *root = td_dict_new(a, 4);
    if (root == NULL || !put_all(&p, root))
        return td_arena_fail(a, err);
    *ret = td_dict_of(root);
    return TD_OK;
}
