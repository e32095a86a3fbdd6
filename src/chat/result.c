/* result.c - results as JSON lines.
 *
 * A line is always strict UTF-8: text may hold lone surrogates, which are written as \udXXX. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "chat/request.h"
#include "value/json.h"

static const char *const via_names[] = {
    [TD_VIA_NONE] = "null",       [TD_VIA_TOKEN_IDS] = "token_ids", [TD_VIA_TEXT] = "text",
    [TD_VIA_MESSAGE] = "message", [TD_VIA_MESSAGES] = "messages",   [TD_VIA_FALLBACK] = "fallback",
};

const char *td_via_name(td_via via)
{
    return (unsigned)via <= TD_VIA_FALLBACK ? via_names[via] : "null";
}

td_result_box *td_result_new(void)
{
    td_result_box *box = td_calloc(1, sizeof *box);
    if (box != NULL)
        td_result_clear(box);
    return box;
}

void td_result_clear(td_result_box *box)
{
    td_error_clear(&box->pub.error);
    td_buf_done(&box->id);
    td_buf_done(&box->text);
    td_buf_done(&box->line);
    td_free(box->ids);
    td_free(box->starts);
    td_free(box->ends);
    td_free(box->mask);
    td_free(box->spans);
    td_free(box->owned);
    td_tokenizer_free(box->pieces);
    *box = (td_result_box){ .pub = { .id = TD_STR("null"), .error = TD_ERROR_INIT } };
}

void td_result_free(td_result *result)
{
    if (result == NULL)
        return;
    td_result_box *box = (td_result_box *)(void *)result;
    td_result_clear(box);
    td_free(box);
}

td_code td_result_set_id(td_result_box *box, td_value id, td_error *err)
{
    if (id.tag == TD_V_UNDEFINED || id.tag == TD_V_NONE)
        return TD_OK;
    td_json_style style = { 0 };
    TD_TRY(td_json_write(&box->id, id, &style, err));
    if (td_utf8_check_strict(td_buf_view(&box->id)) != box->id.len) {
        box->id.len = 0;
        style.ensure_ascii = true;
        TD_TRY(td_json_write(&box->id, id, &style, err));
    }
    box->pub.id = td_buf_view(&box->id);
    return TD_OK;
}

/* ---- the line ---- */

static td_code put(td_buf *b, const char *text)
{
    return td_buf_append(b, text, strlen(text));
}

static td_code put_number(td_buf *b, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    return td_buf_append(b, digits + at, sizeof digits - at);
}

static td_code put_member(td_buf *b, const char *key, uint64_t n)
{
    TD_TRY(put(b, ", \""));
    TD_TRY(put(b, key));
    TD_TRY(put(b, "\": "));
    return put_number(b, n);
}

static td_code put_error(td_buf *b, const td_error *e)
{
    TD_TRY(put(b, ", \"error\": {\"kind\": \""));
    TD_TRY(put(b, td_code_name(e->code)));
    TD_TRY(put(b, "\", \"message\": "));
    TD_TRY(td_json_write_strict(b, (td_str){ e->message, e->message_len }));
    if (e->file != NULL) {
        TD_TRY(put(b, ", \"file\": "));
        TD_TRY(td_json_write_strict(b, td_str_from(e->file)));
    }
    if (e->line != 0)
        TD_TRY(put_member(b, "line", e->line));
    if (e->column != 0)
        TD_TRY(put_member(b, "column", e->column));
    if (e->code == TD_E_INPUT && e->offset != TD_NO_OFFSET)
        TD_TRY(put_member(b, "offset", e->offset));
    if (e->message_index >= 0)
        TD_TRY(put_member(b, "message_index", (uint64_t)e->message_index));
    return td_buf_byte(b, '}');
}

static td_code put_count(td_buf *b, const td_result *r)
{
    TD_TRY(put(b, ", \"tokens\": "));
    TD_TRY(r->counted ? put_number(b, r->tokens) : put(b, "null"));
    TD_TRY(put(b, ", \"via\": "));
    if (r->via == TD_VIA_NONE)
        TD_TRY(put(b, "null"));
    else
        TD_TRY(td_buf_printf(b, "\"%s\"", td_via_name(r->via)));
    return r->counted ? put_member(b, "reused", r->reused) : TD_OK;
}

static td_code put_rendered(td_buf *b, const td_result *r)
{
    TD_TRY(put(b, ", \"text\": "));
    if (r->text.ptr == NULL)
        return put(b, "null");
    TD_TRY(td_json_write_strict(b, r->text));
    if (!r->has_generation)
        return TD_OK;
    TD_TRY(put(b, ", \"generation\": ["));
    for (size_t i = 0; i < r->generation_count; i++) {
        TD_TRY(put(b, i == 0 ? "[" : ", ["));
        TD_TRY(put_number(b, r->generation[i].start));
        TD_TRY(put(b, ", "));
        TD_TRY(put_number(b, r->generation[i].end));
        TD_TRY(td_buf_byte(b, ']'));
    }
    return td_buf_byte(b, ']');
}

static td_code put_list(td_buf *b, const td_result_box *box,
                        td_code (*item)(td_buf *b, const td_result_box *box, size_t i))
{
    TD_TRY(td_buf_byte(b, '['));
    for (size_t i = 0; i < box->pub.ids_count; i++) {
        if (i != 0)
            TD_TRY(td_buf_append(b, ", ", 2));
        TD_TRY(item(b, box, i));
    }
    return td_buf_byte(b, ']');
}

static td_code put_id_item(td_buf *b, const td_result_box *box, size_t i)
{
    return put_number(b, box->ids[i]);
}

static td_code put_piece_item(td_buf *b, const td_result_box *box, size_t i)
{
    return td_json_write_strict(b, td_token_text(box->pieces, box->ids[i]));
}

static td_code put_offsets_item(td_buf *b, const td_result_box *box, size_t i)
{
    return td_buf_printf(b, "[%u, %u]", box->starts[i], box->ends[i]);
}

static td_code put_mask_item(td_buf *b, const td_result_box *box, size_t i)
{
    return td_buf_byte(b, (char)('0' + box->mask[i]));
}

static td_code put_ids(td_buf *b, const td_result_box *box)
{
    TD_TRY(put(b, ", \"ids\": "));
    if (!box->pub.counted)
        return put(b, "null");
    TD_TRY(put_list(b, box, put_id_item));
    if (box->pieces != NULL) {
        TD_TRY(put(b, ", \"tokens\": "));
        TD_TRY(put_list(b, box, put_piece_item));
    }
    if (box->pub.starts != NULL && box->pub.ends != NULL) {
        TD_TRY(put(b, ", \"offsets\": "));
        TD_TRY(put_list(b, box, put_offsets_item));
    }
    if (box->mask != NULL) {
        TD_TRY(put(b, ", \"assistant_masks\": "));
        TD_TRY(put_list(b, box, put_mask_item));
    }
    return TD_OK;
}

static td_code put_line(td_result_box *box)
{
    td_buf *b = &box->line;
    const td_result *r = &box->pub;
    b->len = 0;
    TD_TRY(put(b, "{\"index\": "));
    TD_TRY(put_number(b, r->index));
    TD_TRY(put(b, ", \"id\": "));
    TD_TRY(td_buf_put(b, r->id));
    switch (box->form) {
    case TD_LINE_COUNT:
        TD_TRY(put_count(b, r));
        break;
    case TD_LINE_TEXT:
        TD_TRY(put_rendered(b, r));
        break;
    case TD_LINE_IDS:
        TD_TRY(put_ids(b, box));
        break;
    }
    if (r->error.code != TD_OK)
        TD_TRY(put_error(b, &r->error));
    return td_buf_byte(b, '}');
}

td_code td_result_json(td_result *result, td_str *ret_json, td_error *err)
{
    td_result_box *box = (td_result_box *)(void *)result;
    td_code code = box->line.len == 0 ? put_line(box) : TD_OK;
    if (code != TD_OK) {
        box->line.len = 0;
        if (err != NULL)
            td_fail_nomem(err);
        return TD_E_INTERNAL;
    }
    *ret_json = td_buf_view(&box->line);
    return TD_OK;
}
