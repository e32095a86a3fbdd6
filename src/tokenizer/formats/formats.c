/* formats.c - which format bytes are in, and its loader. */
#include "tokenizer/formats/formats.h"

#include "base/str.h"
#include "tokenizer/load/scan.h"

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_base64(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/' || c == '=';
}

/* The first line that is not empty is base64, white space and digits. */
static bool starts_with_rank(td_str s)
{
    size_t at = 0;
    while (at < s.len && is_space(s.ptr[at]))
        at++;
    size_t token = at;
    while (at < s.len && is_base64(s.ptr[at]))
        at++;
    size_t gap = at;
    while (at < s.len && (s.ptr[at] == ' ' || s.ptr[at] == '\t'))
        at++;
    size_t rank = at;
    while (at < s.len && s.ptr[at] >= '0' && s.ptr[at] <= '9')
        at++;
    return token < gap && gap < rank && rank < at && (at == s.len || is_space(s.ptr[at]));
}

/* The keys of an object tell: a tokenizer.json has a model, a tekken file a config and no model
 * before it. */
static tk_format json_format(td_str s)
{
    td_error ignored = TD_ERROR_INIT;
    tk_scan scan = { .start = s.ptr, .p = s.ptr, .end = s.ptr + s.len, .err = &ignored };
    tk_format format = TK_FORMAT_JSON;
    bool more = tk_scan_take(&scan, '{') == TD_OK;
    while (more) {
        td_str key, value;
        more = tk_scan_string(&scan, &key) == TD_OK;
        if (more && td_str_eq(key, TD_STR("model")))
            break;
        if (more && td_str_eq(key, TD_STR("config"))) {
            format = TK_FORMAT_TEKKEN;
            break;
        }
        more = more && tk_scan_take(&scan, ':') == TD_OK && tk_scan_skip(&scan, &value) == TD_OK &&
               tk_scan_is(&scan, ',');
    }
    td_buf_done(&scan.text);
    td_error_clear(&ignored);
    return format;
}

tk_format tk_format_of(td_str bytes)
{
    size_t at = 0;
    while (at < bytes.len && is_space(bytes.ptr[at]))
        at++;
    if (starts_with_rank(bytes))
        return TK_FORMAT_TIKTOKEN;
    /* The first field of a SentencePiece model is a list of pieces: 0x0A, which is white space,
     * then a length, which may be '{' or '['. Then the text of a piece: 0x0A again. */
    bool piece = bytes.len > 2 && bytes.ptr[0] == '\n' && at == 1 && bytes.ptr[2] == '\n';
    if (at == bytes.len || (!piece && (bytes.ptr[at] == '{' || bytes.ptr[at] == '[')))
        return json_format(bytes);
    return TK_FORMAT_SENTENCEPIECE;
}

td_code tk_load_format(td_tokenizer *tok, td_str bytes, const char *encoding, td_error *err)
{
    tk_format format = tk_format_of(bytes);
    if (format != TK_FORMAT_TIKTOKEN && encoding != NULL)
        return td_fail(err, TD_E_TOKENIZER,
                       "an encoding (\"%.60s\") can be named for files of tiktoken ranks only",
                       encoding);
    if (format == TK_FORMAT_JSON)
        return tk_load_tokenizer(tok, bytes, NULL, err);
    tk_load load = { .arena = &tok->arena, .cleanup = &tok->cleanup, .err = err };
    tok->source_bytes = bytes.len;
    td_code code;
    if (format == TK_FORMAT_TIKTOKEN)
        code = tk_load_tiktoken(tok, &load, bytes, encoding);
    else if (format == TK_FORMAT_TEKKEN)
        code = tk_load_tekken(tok, &load, bytes);
    else
        code = tk_load_sentencepiece(tok, &load, bytes);
    td_arena_done(&load.temp);
    return code;
}
