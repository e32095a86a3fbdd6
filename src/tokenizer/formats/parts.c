/* parts.c - what several formats are put together from. */
#include "base/base64.h"
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/dec/dec.h"
#include "tokenizer/formats/formats.h"
#include "tokenizer/post/post.h"
#include "value/json.h"

td_code tk_read_base64(tk_load *load, td_arena *a, td_str text, td_str *ret, bool *ret_good)
{
    size_t len = 0;
    unsigned char *bytes = td_arena_alloc(a, td_base64_room(text.len), 1);
    if (bytes == NULL)
        return tk_load_nomem(load);
    *ret_good = text.len % 4 == 0 && td_base64_read(text, bytes, &len);
    *ret = (td_str){ (const char *)bytes, len };
    return TD_OK;
}

td_code tk_make_words(tk_load *load, td_str pattern, const tk_pretok **ret)
{
    const td_str head = TD_STR("{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": "
                               "\"Split\", \"pattern\": {\"Regex\": ");
    const td_str tail =
        TD_STR("}, \"behavior\": \"Removed\", \"invert\": true}, {\"type\": \"ByteLevel\", "
               "\"add_prefix_space\": false, \"trim_offsets\": false, \"use_regex\": false}]}");
    td_buf json = { 0 };
    td_code code = td_buf_put(&json, head);
    if (code == TD_OK)
        code = td_json_write_string(&json, pattern, false);
    if (code == TD_OK)
        code = td_buf_put(&json, tail);
    td_str text = td_arena_copy(&load->temp, td_buf_view(&json));
    if (code != TD_OK)
        code = td_buf_fail(&json, load->err, code, "pattern");
    else if (text.ptr == NULL)
        code = tk_load_nomem(load);
    td_buf_done(&json);
    TD_TRY(code);
    tk_at root = { .load = load };
    TD_TRY(td_json_read(&load->temp, text, &root.value, load->err));
    return tk_make_pretok(&root, ret);
}

/* ---- one token in front ---- */

typedef struct bos {
    tk_post base;
    td_str text;
    td_id id;
    bool missing;
} bos;

static td_code put_bos(const tk_post *self, tk_ctx *ctx, tk_encoding *enc, bool add_special,
                       td_error *err)
{
    const bos *b = (const bos *)self;
    if (!add_special)
        return TD_OK;
    if (b->missing)
        return td_fail(err, TD_E_TOKENIZER, "the vocabulary has no %.*s to put in front",
                       (int)b->text.len, b->text.ptr);
    tk_encoding out;
    TD_TRY(tk_parts_begin(ctx, 1, &out, err));
    TD_TRY(tk_put_special(ctx, &out, b->id, b->text, err));
    TD_TRY(tk_put_part(ctx, &out, enc, 0, err));
    tk_end_part(&out);
    *enc = out;
    return TD_OK;
}

td_code tk_make_bos(tk_load *load, td_str text, td_id id, bool missing, const tk_post **ret)
{
    bos *b = TK_NEW(load, bos);
    if (b == NULL)
        return TD_E_INTERNAL;
    *b = (bos){ .base = { .type = "BeginOfText", .apply = put_bos, .copies = 1 },
                .text = text,
                .id = id,
                .missing = missing };
    *ret = &b->base;
    return TD_OK;
}

/* ---- bytes to text ---- */

typedef struct bytes_detok {
    tk_detok base;
    bool apart;
} bytes_detok;

/* Appends the bytes that a vocabulary's text spells. */
static td_code put_bytes(td_buf *bytes, td_str s)
{
    const char *p = s.ptr, *end = s.ptr + s.len;
    TD_TRY(td_buf_reserve(bytes, s.len));
    while (p < end)
        bytes->ptr[bytes->len++] = (char)tk_char_to_byte(td_utf8_next(&p, end));
    return TD_OK;
}

static td_code flush(td_buf *bytes, td_buf *out)
{
    td_code code = tk_put_lossy(out, td_buf_view(bytes));
    bytes->len = 0;
    return code;
}

static td_code put_ids(const bytes_detok *d, const td_tokenizer *tok, const td_id *ids,
                       size_t count, bool skip_special, td_buf *bytes, td_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        const tk_added_token *t = tk_added_by_id(&tok->added, ids[i]);
        if (t == NULL) {
            TD_TRY(put_bytes(bytes, tok->model->id_to_token(tok->model, ids[i])));
            continue;
        }
        if (d->apart)
            TD_TRY(flush(bytes, out));
        if (!skip_special)
            TD_TRY(td_buf_put(bytes, t->content));
        if (d->apart)
            TD_TRY(flush(bytes, out));
    }
    return flush(bytes, out);
}

static td_code bytes_apply(const tk_detok *self, const td_tokenizer *tok, const td_id *ids,
                           size_t count, bool skip_special, td_buf *out, td_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (tk_added_by_id(&tok->added, ids[i]) == NULL &&
            tok->model->id_to_token(tok->model, ids[i]).ptr == NULL)
            return td_fail(err, TD_E_TOKENIZER, "id %u is not in the vocabulary", ids[i]);
    td_buf bytes = { 0 };
    td_code code = put_ids((const bytes_detok *)self, tok, ids, count, skip_special, &bytes, out);
    td_buf_done(&bytes);
    return code == TD_OK ? TD_OK : td_buf_fail(out, err, code, "decoded text");
}

td_code tk_make_bytes_detok(tk_load *load, bool apart, const tk_detok **ret)
{
    bytes_detok *d = TK_NEW(load, bytes_detok);
    if (d == NULL)
        return TD_E_INTERNAL;
    *d = (bytes_detok){ .base = { .type = "Bytes", .apply = bytes_apply }, .apart = apart };
    *ret = &d->base;
    return TD_OK;
}
