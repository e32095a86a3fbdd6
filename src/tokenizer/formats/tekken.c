/* tekken.c - Mistral's tekken JSON, as mistral-common reads it.
 *
 * Special tokens have the first ids, token ranks are counted on behind them; of the vocabulary only
 * as many entries are used as the configuration says. Special tokens are never found in texts, and
 * decoding keeps the text on their two sides apart. */
#include "base/str.h"
#include "tokenizer/formats/formats.h"
#include "tokenizer/formats/pattern.h"
#include "tokenizer/formats/ranks.h"
#include "tokenizer/formats/read.h"
#include "tokenizer/load/scan.h"
#include "value/json.h"

typedef struct reader {
    tk_load *load;
    tk_scan scan;
    td_value config, special_tokens, multimodal, model_settings;
    td_str vocab; /* its JSON text */
    td_str pattern;
    uint32_t version;
    uint32_t vocab_size, special_count;
    tk_rank *items;
    uint32_t count; /* of items */
} reader;

static td_code read_small(reader *r, td_value *ret)
{
    td_str text;
    TD_TRY(tk_scan_skip(&r->scan, &text));
    td_code code = td_json_read(&r->load->temp, text, ret, r->load->err);
    if (code != TD_OK && r->load->err->offset != TD_NO_OFFSET)
        r->load->err->offset += (uint64_t)(text.ptr - r->scan.start);
    return code;
}

/* The sections; of a key that comes again the last one counts. */
static td_code read_sections(reader *r)
{
    tk_scan *s = &r->scan;
    TD_TRY(tk_scan_take(s, '{'));
    do {
        td_str key, ignored;
        TD_TRY(tk_scan_string(s, &key));
        td_value *small = td_str_eq(key, TD_STR("config"))                   ? &r->config
                          : td_str_eq(key, TD_STR("special_tokens"))         ? &r->special_tokens
                          : td_str_eq(key, TD_STR("multimodal"))             ? &r->multimodal
                          : td_str_eq(key, TD_STR("model_settings_builder")) ? &r->model_settings
                                                                             : NULL;
        bool vocab = td_str_eq(key, TD_STR("vocab"));
        TD_TRY(tk_scan_take(s, ':'));
        TD_TRY(small != NULL ? read_small(r, small)
                             : tk_scan_skip(s, vocab ? &r->vocab : &ignored));
    } while (tk_scan_is(s, ','));
    TD_TRY(tk_scan_take(s, '}'));
    tk_scan_space(s);
    return s->p == s->end ? TD_OK : tk_scan_fail(s, "text behind the end of the JSON");
}

static td_code read_version(reader *r, const tk_at *config)
{
    static const uint8_t known[] = { 1, 2, 3, 7, 11, 13, 15 };
    td_str text;
    TD_TRY(tk_get_str(config, "version", &text));
    for (size_t i = 0; i < sizeof known; i++) {
        char name[8];
        size_t n = 0;
        name[n++] = 'v';
        if (known[i] > 9)
            name[n++] = '1';
        name[n++] = (char)('0' + known[i] % 10);
        if (td_str_eq(text, (td_str){ name, n }))
            r->version = known[i];
    }
    if (r->version == 0)
        return tk_at_fail(config, "version",
                          "unknown version \"%.*s\" (known: v1, v2, v3, v7, v11, v13, v15)",
                          text.len < 40 ? (int)text.len : 40, text.ptr);
    return TD_OK;
}

static bool is_set(td_value v)
{
    return v.tag != TD_V_NONE;
}

/* What is not false to Python. */
static bool is_filled(td_value v)
{
    return !(v.tag == TD_V_NONE || (v.tag == TD_V_BOOL && !v.as.boolean) ||
             (v.tag == TD_V_INT && v.as.integer == 0) || (v.tag == TD_V_FLOAT && v.as.real == 0) ||
             (v.tag == TD_V_DICT && v.as.dict->count == 0) ||
             ((v.tag == TD_V_LIST || v.tag == TD_V_STR) && v.len == 0));
}

static td_code read_config(reader *r, const tk_at *root)
{
    tk_at config = { .load = r->load, .up = root, .key = "config", .value = r->config };
    TD_TRY(read_version(r, &config));
    TD_TRY(tk_get_str(&config, "pattern", &r->pattern));
    TD_TRY(tk_get_uint(&config, "default_vocab_size", &r->vocab_size));
    TD_TRY(tk_get_uint(&config, "default_num_special_tokens", &r->special_count));
    if (r->vocab_size > TK_RANKS_MAX)
        return tk_at_fail(&config, "default_vocab_size", "larger than %d", TK_RANKS_MAX);
    if (r->special_count > r->vocab_size || r->vocab_size - r->special_count < 256)
        return tk_at_fail(&config, "default_vocab_size",
                          "no room for the 256 bytes beside the special tokens");
    const char *wrong = tk_pattern_portable(r->pattern);
    if (wrong != NULL)
        return tk_at_fail(&config, "pattern", "unsupported in a pattern of tekken: %s", wrong);
    if (is_filled(r->multimodal) && r->version > 11)
        return tk_at_fail(root, "multimodal", "must be called image in version v%u", r->version);
    if (is_set(r->model_settings) && r->version < 15)
        return tk_at_fail(root, "model_settings_builder", "not known to version v%u", r->version);
    return TD_OK;
}

/* ---- vocabulary ---- */

static td_code fail_entry(reader *r, const tk_at *list, const char *key, const char *what)
{
    tk_at entry = { .load = r->load, .up = list, .index = r->count };
    return tk_at_fail(&entry, key, "%s", what);
}

typedef struct entry {
    bool has_rank, has_bytes, has_str;
    uint32_t rank;
    td_str bytes;
} entry;

static td_code read_field(reader *r, const tk_at *list, entry *e)
{
    tk_scan *s = &r->scan;
    td_str key, value;
    TD_TRY(tk_scan_string(s, &key));
    bool rank = td_str_eq(key, TD_STR("rank")), bytes = td_str_eq(key, TD_STR("token_bytes"));
    bool str = td_str_eq(key, TD_STR("token_str"));
    TD_TRY(tk_scan_take(s, ':'));
    if (!rank && !bytes && !str)
        return fail_entry(r, list, NULL, "has another key than rank, token_bytes and token_str");
    if (rank) {
        e->has_rank = true;
        return tk_scan_uint(s, &e->rank);
    }
    if (str) {
        e->has_str = true;
        return tk_scan_skip(s, &value);
    }
    bool good = false;
    TD_TRY(tk_scan_string(s, &value));
    TD_TRY(tk_read_base64(r->load, &r->load->temp, value, &e->bytes, &good));
    e->has_bytes = true;
    return good ? TD_OK : fail_entry(r, list, "token_bytes", "not base64");
}

static td_code read_entry(reader *r, const tk_at *list)
{
    tk_scan *s = &r->scan;
    entry e = { 0 };
    TD_TRY(tk_scan_take(s, '{'));
    if (!tk_scan_is(s, '}')) {
        do {
            TD_TRY(read_field(r, list, &e));
        } while (tk_scan_is(s, ','));
        TD_TRY(tk_scan_take(s, '}'));
    }
    if (!e.has_rank || !e.has_bytes || !e.has_str)
        return fail_entry(r, list, NULL, "needs rank, token_bytes and token_str");
    if (e.rank != r->count)
        return fail_entry(r, list, "rank", "is not the entry's place");
    if (e.bytes.len == 0 || e.bytes.len > TK_RANK_BYTES_MAX)
        return fail_entry(r, list, "token_bytes", "empty, or longer than 1024 bytes");
    if (e.rank < 256 && (e.bytes.len != 1 || (uint8_t)e.bytes.ptr[0] != e.rank))
        return fail_entry(r, list, "token_bytes", "the first 256 entries are the single bytes");
    r->items[r->count++] = (tk_rank){ e.bytes, e.rank };
    return TD_OK;
}

/* Entries beyond those that are used are not looked at. */
static td_code read_vocab(reader *r, const tk_at *root)
{
    tk_scan *s = &r->scan;
    tk_at list = { .load = r->load, .up = root, .key = "vocab" };
    uint32_t want = r->vocab_size - r->special_count;
    if (r->vocab.ptr == NULL || r->vocab.len == 0 || r->vocab.ptr[0] != '[')
        return tk_at_fail(&list, NULL, "expected a list");
    r->items = td_arena_array(&r->load->temp, tk_rank, want);
    if (r->items == NULL)
        return tk_load_nomem(r->load);
    s->p = r->vocab.ptr;
    s->end = r->vocab.ptr + r->vocab.len;
    TD_TRY(tk_scan_take(s, '['));
    if (!tk_scan_is(s, ']')) {
        do {
            td_str rest;
            TD_TRY(r->count < want ? read_entry(r, &list) : tk_scan_skip(s, &rest));
        } while (tk_scan_is(s, ','));
        TD_TRY(tk_scan_take(s, ']'));
    }
    if (r->count < want)
        return tk_at_fail(&list, NULL, "has %u entries, config.default_vocab_size asks for %u",
                          r->count, want);
    return TD_OK;
}

/* ---- special tokens ---- */

/* Those of files that name none, up to version v7. */
static const char *const old_specials[] = {
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
};
enum { OLD_SPECIALS = sizeof old_specials / sizeof *old_specials };

static td_code read_special(const tk_at *item, uint32_t place, tk_added_token *t)
{
    uint32_t rank = 0;
    bool control = false;
    TD_TRY(tk_get_uint(item, "rank", &rank));
    TD_TRY(tk_get_str(item, "token_str", &t->content));
    TD_TRY(tk_opt_bool(item, "is_control", &control));
    if (rank != place)
        return tk_at_fail(item, "rank", "is not the token's place");
    return t->content.len != 0 ? TD_OK : tk_at_fail(item, "token_str", "empty");
}

static td_code filler(tk_load *load, uint32_t place, td_str *ret)
{
    char text[32] = "<SPECIAL_";
    size_t n = 9, digits = 1;
    for (uint32_t rest = place; rest >= 10; rest /= 10)
        digits++;
    for (size_t i = digits; i-- > 0; place /= 10)
        text[n + i] = (char)('0' + place % 10);
    n += digits;
    text[n++] = '>';
    *ret = tk_keep(load, (td_str){ text, n });
    return ret->ptr != NULL ? TD_OK : TD_E_INTERNAL;
}

static td_code refuse_twins(reader *r, const tk_at *list, const tk_added_token *tokens)
{
    td_dict *seen = td_dict_new(&r->load->temp, r->special_count);
    if (seen == NULL)
        return tk_load_nomem(r->load);
    for (uint32_t i = 0; i < r->special_count; i++) {
        if (td_dict_find(seen, tokens[i].content) != NULL)
            return tk_at_fail(list, NULL, "'%.*s' is there twice",
                              tokens[i].content.len < 100 ? (int)tokens[i].content.len : 100,
                              tokens[i].content.ptr);
        if (!td_dict_set(&r->load->temp, seen, td_key(tokens[i].content), td_none()))
            return tk_load_nomem(r->load);
    }
    return TD_OK;
}

static td_code read_specials(reader *r, const tk_at *root, tk_added_token **ret)
{
    tk_load *load = r->load;
    tk_at list = { .load = load, .up = root, .key = "special_tokens", .value = r->special_tokens };
    bool named = is_set(list.value);
    uint32_t given = named ? list.value.len : OLD_SPECIALS;
    if (named && list.value.tag != TD_V_LIST)
        return tk_at_fail(&list, NULL, "expected a list");
    if (!named && r->version > 7)
        return tk_at_fail(&list, NULL, "missing, which version v%u does not allow", r->version);
    if (given > r->special_count)
        return tk_at_fail(&list, NULL, "more than config.default_num_special_tokens");
    tk_added_token *tokens = td_arena_array(&load->temp, tk_added_token, r->special_count + 1);
    if (tokens == NULL)
        return tk_load_nomem(load);
    for (uint32_t i = 0; i < r->special_count; i++) {
        tokens[i] = (tk_added_token){ .id = i, .special = true };
        if (i >= given) {
            TD_TRY(filler(load, i, &tokens[i].content));
        } else if (!named) {
            tokens[i].content = td_str_from(old_specials[i]);
        } else {
            tk_at item = tk_at_item(&list, i);
            TD_TRY(read_special(&item, i, &tokens[i]));
        }
    }
    *ret = tokens;
    return refuse_twins(r, &list, tokens);
}

static td_code read_all(reader *r, tk_tekken *ret)
{
    tk_at root = { .load = r->load };
    tk_added_token *specials = NULL;
    TD_TRY(read_sections(r));
    TD_TRY(read_config(r, &root));
    TD_TRY(read_vocab(r, &root));
    TD_TRY(read_specials(r, &root, &specials));
    *ret = (tk_tekken){ .pattern = r->pattern,
                        .items = r->items,
                        .count = r->count,
                        .specials = specials,
                        .special_count = r->special_count,
                        .names_specials = is_set(r->special_tokens) };
    return TD_OK;
}

td_code tk_tekken_read(tk_load *load, td_str bytes, tk_tekken *ret)
{
    reader r = { .load = load,
                 .config = td_none(),
                 .special_tokens = td_none(),
                 .multimodal = td_none(),
                 .model_settings = td_none() };
    r.scan = (tk_scan){
        .start = bytes.ptr, .p = bytes.ptr, .end = bytes.ptr + bytes.len, .err = load->err
    };
    td_code code = read_all(&r, ret);
    td_buf_done(&r.scan.text);
    return code;
}

td_code tk_load_tekken(td_tokenizer *tok, tk_load *load, td_str bytes)
{
    tk_tekken t;
    const tk_bpe *bpe = NULL;
    TD_TRY(tk_tekken_read(load, bytes, &t));
    tok->format = "tekken";
    TD_TRY(tk_make_ranked_bpe(load, t.items, t.count, t.special_count, &bpe));
    tok->model = &bpe->base;
    TD_TRY(tk_added_make(load, t.specials, t.special_count, false, tok->model, &tok->added));
    const tk_added_token *bos = tk_added_by_content(&tok->added, TD_STR("<s>"));
    TD_TRY(tk_make_bos(load, TD_STR("<s>"), bos != NULL ? bos->id : 0, bos == NULL, &tok->post));
    TD_TRY(tk_make_words(load, t.pattern, &tok->pretok));
    TD_TRY(tk_make_bytes_detok(load, true, &tok->detok));
    return tk_fast_new(load, NULL, tok->pretok, tok->model, &tok->fast);
}
