/* vocab_convert.c - finding the file, and the special tokens that tokenizer_config.json adds to
 * tiktoken ranks: ids behind the ranks are filled up, also with placeholders, then extra tokens
 * follow. */
#include "chat/vocab_convert.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "chat/files.h"
#include "chat/spm_convert.h"
#include "tokenizer/formats/convert.h"
#include "tokenizer/formats/formats.h"

static const char *const names[] = { "tekken.json", "tokenizer.model", "tiktoken.model" };
enum { TEKKEN, MODEL, TIKTOKEN, NAMES };

/* What the directory's entries say: how many hold one of the names, and which it is. */
typedef struct found {
    bool hidden; /* some name holds "tokenizer.json": the others are not searched for */
    uint32_t matches;
    bool exact[NAMES];
} found;

static td_code look(const char *dir, found *ret, td_error *err)
{
    DIR *d = opendir(dir);
    if (d == NULL)
        return td_fail(err, TD_E_INPUT, "%s cannot be read", dir);
    *ret = (found){ 0 };
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        ret->hidden |= strstr(e->d_name, "tokenizer.json") != NULL;
        for (int i = 0; i < NAMES; i++) {
            ret->matches += strstr(e->d_name, names[i]) != NULL;
            ret->exact[i] |= strcmp(e->d_name, names[i]) == 0;
        }
    }
    closedir(d);
    return TD_OK;
}

/* The file that counts; NULL: none. own: the class's own name for one; NULL: it has none. */
static td_code choose(td_arena *a, const char *dir, const char *own, const char **ret,
                      td_error *err)
{
    found f = { 0 };
    TD_TRY(look(dir, &f, err));
    *ret = NULL;
    if (!f.hidden && f.matches > 1)
        return td_fail(err, TD_E_TOKENIZER,
                       "%s holds several vocabulary files and no tokenizer.json: which one counts "
                       "depends on the order of its entries",
                       dir);
    for (int i = 0; i < NAMES && !f.hidden; i++)
        if (f.exact[i])
            *ret = names[i];
    if (*ret != NULL || own == NULL || (!f.hidden && f.matches != 0))
        return TD_OK;
    const char *path = td_path_join(a, dir, own);
    if (path == NULL)
        return td_arena_fail(a, err);
    *ret = td_path_is_file(path) ? own : NULL;
    return TD_OK;
}

/* ---- special tokens of tiktoken files ---- */

typedef struct specials {
    td_arena *a;
    td_str *items;
    size_t count, cap;
    td_error *err;
} specials;

static td_code push(specials *s, td_str text)
{
    if (s->count == s->cap) {
        size_t cap = s->cap * 2 + 64;
        td_str *to = td_arena_array(s->a, td_str, cap);
        if (to == NULL)
            return td_arena_fail(s->a, s->err);
        if (s->count != 0)
            memcpy(to, s->items, s->count * sizeof *to);
        s->items = to;
        s->cap = cap;
    }
    s->items[s->count++] = text;
    return TD_OK;
}

static bool has(const specials *s, td_str text)
{
    for (size_t i = 0; i < s->count; i++)
        if (td_str_eq(s->items[i], text))
            return true;
    return false;
}

static const td_value *key_of(const td_dict *d, const char *key)
{
    const td_value *v = d != NULL ? td_dict_find(d, td_str_from(key)) : NULL;
    return v != NULL && !td_is_none(*v) ? v : NULL;
}

/* "content" of a token object, or a text. */
static td_code text_of(specials *s, td_value v, td_str *ret)
{
    const td_value *content = v.tag == TD_V_DICT ? key_of(v.as.dict, "content") : &v;
    if (content == NULL || !td_is_str(*content))
        return td_fail(
            s->err, TD_E_TOKENIZER,
            "tokenizer_config.json: a special token of a tiktoken vocabulary is no text");
    *ret = td_as_str(*content);
    return TD_OK;
}

static bool id_of(td_value key, int64_t *ret)
{
    if (!td_is_str(key))
        return false;
    td_str s = td_as_str(key);
    int64_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9' || n > 1 << 24)
            return false;
        n = n * 10 + (s.ptr[i] - '0');
    }
    *ret = n;
    return s.len != 0 && n <= 1 << 24;
}

/* Ids from the first behind the ranks to the highest of added_tokens_decoder. */
static td_code fill_ids(specials *s, const td_dict *decoder, uint32_t ranks)
{
    enum { TEXT_MAX = 48, FILLED_MAX = 1 << 18 };
    int64_t highest = 0, id;
    for (uint32_t i = 0; i < decoder->count; i++) {
        if (!id_of(decoder->entries[i].key, &id))
            return td_fail(s->err, TD_E_TOKENIZER,
                           "tokenizer_config.json: a key of added_tokens_decoder is no id");
        highest = id > highest ? id : highest;
    }
    if (highest < ranks)
        return TD_OK;
    size_t count = (size_t)(highest - ranks) + 1;
    if (count > FILLED_MAX)
        return td_fail(s->err, TD_E_LIMIT,
                       "tokenizer_config.json: added_tokens_decoder has ids of more than %d tokens "
                       "behind the vocabulary",
                       FILLED_MAX);
    const td_value **known = td_arena_array(s->a, const td_value *, count);
    if (known == NULL)
        return td_arena_fail(s->a, s->err);
    memset(known, 0, count * sizeof *known);
    for (uint32_t i = 0; i < decoder->count; i++)
        if (id_of(decoder->entries[i].key, &id) && id >= ranks)
            known[id - ranks] = &decoder->entries[i].val;
    for (size_t i = 0; i < count; i++) {
        td_str text = { NULL, 0 };
        if (known[i] != NULL) {
            TD_TRY(text_of(s, *known[i], &text));
        } else {
            char *name = td_arena_array(s->a, char, TEXT_MAX);
            if (name == NULL)
                return td_arena_fail(s->a, s->err);
            snprintf(name, TEXT_MAX, "<|reserved_token_%zu|>", ranks + i);
            text = td_str_from(name);
        }
        TD_TRY(push(s, text));
    }
    return TD_OK;
}

static bool is_filled(const td_value *v)
{
    return v != NULL && ((v->tag == TD_V_LIST && v->len != 0) ||
                         (v->tag == TD_V_DICT && v->as.dict->count != 0));
}

static td_code add_extra(specials *s, const td_dict *config, bool filled)
{
    const td_value *extra = key_of(config, "extra_special_tokens");
    if (!is_filled(extra))
        extra = key_of(config, "additional_special_tokens");
    if (!is_filled(extra))
        return TD_OK;
    bool is_list = extra->tag == TD_V_LIST;
    uint32_t count = is_list ? extra->len : extra->as.dict->count;
    for (uint32_t i = 0; i < count; i++) {
        td_str text = { NULL, 0 };
        TD_TRY(text_of(s, is_list ? extra->as.items[i] : extra->as.dict->entries[i].key, &text));
        if (!filled || !has(s, text))
            TD_TRY(push(s, text));
    }
    return TD_OK;
}

static td_code convert_ranks(td_arena *a, td_str bytes, const td_dict *config, td_buf *out,
                             td_error *err)
{
    specials s = { .a = a, .err = err };
    uint32_t ranks = 0;
    const td_value *decoder = key_of(config, "added_tokens_decoder");
    TD_TRY(tk_count_ranks(a, bytes, &ranks, err));
    if (decoder != NULL && decoder->tag == TD_V_DICT)
        TD_TRY(fill_ids(&s, decoder->as.dict, ranks));
    TD_TRY(add_extra(&s, config, s.count != 0));
    return tk_convert_tiktoken(a, bytes, s.items, s.count, out, err);
}

static td_code convert(td_arena *a, td_str bytes, td_token_files *files, td_buf *out,
                       td_converted *ret, td_error *err)
{
    bool tekken = strcmp(ret->name, names[TEKKEN]) == 0;
    bool ranks = strcmp(ret->name, names[TIKTOKEN]) == 0 ||
                 (!tekken && tk_format_of(bytes) == TK_FORMAT_TIKTOKEN);
    if (!tekken && !ranks)
        return td_spm_convert(a, bytes, files, out, ret, err);
    if (files->rule != NULL)
        return td_fail(err, TD_E_TOKENIZER, "not read for this class of tokenizer");
    return tekken ? tk_convert_tekken(a, bytes, out, err)
                  : convert_ranks(a, bytes, files->tok_config, out, err);
}

td_code td_vocab_convert(td_arena *a, const char *dir, td_token_files *files, td_converted *ret,
                         td_error *err)
{
    const char *own = files->rule != NULL ? files->rule->pieces_file : names[MODEL];
    td_str bytes;
    *ret = (td_converted){ 0 };
    TD_TRY(choose(a, dir, own, &ret->name, err));
    if (ret->name == NULL)
        return TD_OK;
    TD_TRY(td_file_read(a, dir, ret->name, &bytes, err));
    td_buf out = { 0 };
    td_code code = convert(a, bytes, files, &out, ret, err);
    if (code == TD_OK) {
        ret->json = td_arena_copy(a, td_buf_view(&out));
        if (ret->json.ptr == NULL)
            code = td_arena_fail(a, err);
    } else {
        code = td_error_in_file(err, ret->name);
    }
    td_buf_done(&out);
    return code;
}
