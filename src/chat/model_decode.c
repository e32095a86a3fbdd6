/* model_decode.c - what some classes do around decoding: cleaning up spaces, joining words that end
 * with a mark, dropping timestamps and prompts, taking repeated ids once. */
#include "chat/model_decode.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "unicode/unicode.h"

static bool is_true(const td_dict *d, const char *key, bool missing)
{
    const td_value *v = d != NULL ? td_dict_find(d, td_str_from(key)) : NULL;
    return v != NULL && v->tag == TD_V_BOOL ? v->as.boolean : missing;
}

/* The id of a token, or of the unknown one where there is no such token. */
static bool id_or_unknown(const td_model *m, td_str text, td_id *ret)
{
    if (td_token_id(m->tokenizer, text, ret))
        return true;
    for (size_t i = 0; i < m->named.count; i++)
        if (td_str_eq(m->named.items[i].name, TD_STR("unk_token")))
            return td_token_id(m->tokenizer, m->named.items[i].token.text, ret);
    return false;
}

void td_model_decode_setup(td_model *m, const td_dict *tok_config, td_str kind)
{
    td_str class = m->class_used;
    bool is_bpe = td_str_eq(kind, TD_STR("BPE"));
    bool for_bpe = is_true(
        tok_config, "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output",
        td_str_eq(class, TD_STR("MLukeTokenizer")));
    m->decode = (td_decode_rules){
        .cleans_up =
            is_true(tok_config, "clean_up_tokenization_spaces", false) && (!is_bpe || for_bpe),
        .joins_words = td_str_eq(class, TD_STR("CLIPTokenizer")),
        .drops_times = td_str_eq(class, TD_STR("WhisperTokenizer")),
        .groups = td_str_eq(class, TD_STR("LasrTokenizer")) ||
                  td_str_eq(class, TD_STR("ParakeetTokenizer")),
    };
    for (size_t i = 0; i < m->named.count; i++) {
        if (td_str_eq(m->named.items[i].name, TD_STR("pad_token")))
            m->decode.has_pad =
                td_token_id(m->tokenizer, m->named.items[i].token.text, &m->decode.pad);
    }
    if (!m->decode.drops_times)
        return;
    m->decode.has_prompt = id_or_unknown(m, TD_STR("<|startofprev|>"), &m->decode.prompt);
    m->decode.has_start = id_or_unknown(m, TD_STR("<|startoftranscript|>"), &m->decode.start);
}

/* Replaces all of one text by a shorter or equal one, in place. */
static void replace_all(td_buf *b, td_str from, td_str to)
{
    size_t kept = 0, at = 0;
    for (;;) {
        size_t hit = td_str_find(td_buf_view(b), from, at);
        size_t end = hit == TD_NOT_FOUND ? b->len : hit;
        memmove(b->ptr + kept, b->ptr + at, end - at);
        kept += end - at;
        if (hit == TD_NOT_FOUND)
            break;
        memcpy(b->ptr + kept, to.ptr, to.len);
        kept += to.len;
        at = hit + from.len;
    }
    b->len = kept;
}

static void clean_up(td_buf *b)
{
    static const char *const pairs[][2] = {
        { " .", "." },     { " ?", "?" },   { " !", "!" },   { " ,", "," },     { " ' ", "'" },
        { " n't", "n't" }, { " 'm", "'m" }, { " 's", "'s" }, { " 've", "'ve" }, { " 're", "'re" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        replace_all(b, td_str_from(pairs[i][0]), td_str_from(pairs[i][1]));
}

/* The end of "<|1.25|>" at at, or 0. */
static size_t time_end(td_str s, size_t at)
{
    const char *p = s.ptr + at + 2, *end = s.ptr + s.len;
    int digits[2] = { 0, 0 };
    for (int part = 0; part < 2; part++) {
        while (p < end) {
            const char *next = p;
            if (td_py_decimal_value(td_utf8_next(&next, end)) < 0)
                break;
            digits[part]++;
            p = next;
        }
        if (part == 0 && (p == end || *p++ != '.'))
            return 0;
    }
    bool closed = end - p >= 2 && p[0] == '|' && p[1] == '>';
    return digits[0] != 0 && digits[1] != 0 && closed ? (size_t)(p + 2 - s.ptr) : 0;
}

static void drop_times(td_buf *b)
{
    size_t kept = 0, at = 0;
    while (at < b->len) {
        size_t hit = td_str_find(td_buf_view(b), TD_STR("<|"), at);
        size_t stop = hit == TD_NOT_FOUND ? b->len : hit;
        size_t end = hit == TD_NOT_FOUND ? 0 : time_end(td_buf_view(b), hit);
        if (hit != TD_NOT_FOUND && end == 0)
            stop = hit + 1;
        memmove(b->ptr + kept, b->ptr + at, stop - at);
        kept += stop - at;
        at = end != 0 ? end : stop;
    }
    b->len = kept;
}

/* Repeated ids once, padding not at all; *ids moves into scratch. */
static td_code group(const td_decode_rules *rules, td_buf *scratch, const td_id **ids,
                     size_t *count, td_error *err)
{
    scratch->len = 0;
    td_code code = td_buf_reserve(scratch, *count * sizeof **ids);
    if (code != TD_OK)
        return td_buf_fail(scratch, err, code, "ids");
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        td_id id = (*ids)[i];
        if ((i != 0 && id == (*ids)[i - 1]) || (rules->has_pad && id == rules->pad))
            continue;
        memcpy(scratch->ptr + kept++ * sizeof id, &id, sizeof id);
    }
    *ids = (const td_id *)(const void *)scratch->ptr;
    *count = kept;
    return TD_OK;
}

/* Without the prompt that ids begin with: all of them, where no transcript follows. */
static void skip_prompt(const td_decode_rules *rules, const td_id **ids, size_t *count)
{
    if (!rules->has_prompt || *count == 0 || (*ids)[0] != rules->prompt)
        return;
    size_t at = 0;
    while (at < *count && !(rules->has_start && (*ids)[at] == rules->start))
        at++;
    *ids += at;
    *count -= at;
}

td_code td_model_decode(const td_model *m, td_encoder *enc, const td_id *ids, size_t count,
                        unsigned flags, td_buf *scratch, td_str *ret, td_error *err)
{
    const td_decode_rules *rules = &m->decode;
    if (rules->groups)
        TD_TRY(group(rules, scratch, &ids, &count, err));
    if ((flags & TD_DECODE_SKIP_SPECIAL) != 0)
        skip_prompt(rules, &ids, &count);
    TD_TRY(td_decode(enc, ids, count, flags, ret, err));
    if (!rules->cleans_up && !rules->joins_words && !rules->drops_times)
        return TD_OK;
    scratch->len = 0;
    td_code code = td_buf_put(scratch, *ret);
    if (code != TD_OK)
        return td_buf_fail(scratch, err, code, "decoded text");
    if (rules->joins_words)
        replace_all(scratch, TD_STR("</w>"), TD_STR(" "));
    *ret = td_buf_view(scratch);
    if (rules->joins_words)
        *ret = td_py_strip(*ret);
    if (rules->cleans_up || rules->drops_times) {
        memmove(scratch->ptr, ret->ptr, ret->len);
        scratch->len = ret->len;
        if (rules->cleans_up)
            clean_up(scratch);
        if (rules->drops_times)
            drop_times(scratch);
        *ret = td_buf_view(scratch);
    }
    return TD_OK;
}
