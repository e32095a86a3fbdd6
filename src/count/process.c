/* process.c - one item, from its bytes to its result, on one worker.
 *
 * The item's values live in the worker's arena (or the request's own when it was decoded before),
 * its rendered text in the worker's buffer; both are reused for the next item. Whatever fails is
 * this item's result and leaves the worker as it was. */
#include "count/process.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "chat/model_decode.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "count/selfcheck.h"
#include "count/text_count.h"

enum { KEEP_TEXT_BYTES = 32 << 20 }; /* a larger output buffer is not kept for the next item */
static const size_t ITEM_MEMORY_MAX = (size_t)1 << 30;

bool td_scratch_init(td_worker_scratch *s, td_model *model, const td_limits *limits)
{
    *s = (td_worker_scratch){ 0 };
    s->chat.arena.limit =
        limits->memory_bytes_max != 0 ? limits->memory_bytes_max : ITEM_MEMORY_MAX;
    s->chat.limits = (jj_limits){ .steps_max = limits->steps_max,
                                  .output_bytes_max = limits->output_bytes_max,
                                  .memory_bytes_max = limits->memory_bytes_max };
    s->chat.jinja = jj_workspace_new();
    if (model != NULL)
        s->encoder = td_encoder_new(td_model_tokenizer(model));
    if (s->encoder != NULL) {
        td_encoder_set_memory(s->encoder, limits->memory_bytes_max);
        s->cutter = td_cutter_new(s->encoder);
    }
    if (s->chat.jinja != NULL && (model == NULL || s->cutter != NULL))
        return true;
    td_scratch_done(s);
    return false;
}

void td_scratch_done(td_worker_scratch *s)
{
    jj_workspace_free(s->chat.jinja);
    td_cutter_free(s->cutter);
    td_encoder_free(s->encoder);
    td_arena_done(&s->chat.arena);
    td_buf_done(&s->chat.text);
    td_buf_done(&s->json);
    td_free(s->chat.spans.items);
    td_free(s->marks.items);
    td_free(s->owned.items);
    *s = (td_worker_scratch){ 0 };
}

size_t td_scratch_bytes(const td_worker_scratch *s)
{
    return s->chat.arena.total + s->chat.text.cap + s->json.cap +
           jj_workspace_bytes(s->chat.jinja) +
           (s->encoder != NULL ? td_encoder_bytes(s->encoder) : 0);
}

/* One item on its way. */
typedef struct item {
    const td_shared *shared;
    td_worker_scratch *s;
    td_request *r;
    td_result_box *box;
    td_arena *arena;
} item;

static td_code check_time(const item *it, td_error *err)
{
    uint64_t deadline = it->s->chat.limits.deadline_ns;
    if (deadline != 0 && td_now_ns() > deadline)
        return td_fail(err, TD_E_TIMEOUT, "the time of the item is up");
    return TD_OK;
}

static td_code render(item *it, const td_chat_call *call, td_error *err)
{
    const td_shared *sh = it->shared;
    if (sh->probe != NULL)
        sh->probe(sh->probe_user, it->r->index, true);
    td_kept *kept = it->r->kept;
    jj_workspace_set_marks(it->s->chat.jinja, sh->owners ? &it->s->marks : NULL);
    jj_workspace_set_texts(it->s->chat.jinja, kept != NULL ? td_kept_texts(kept) : NULL,
                           sh->options.verify);
    td_code code = td_chat_render(&sh->env, call, &it->s->chat, err);
    if (sh->probe != NULL)
        sh->probe(sh->probe_user, it->r->index, false);
    return code == TD_OK ? check_time(it, err) : code;
}

/* ---- count ---- */

static td_code keep_text(item *it, td_str text, td_error *err);
static td_code keep_ids(item *it, td_str text, td_ids ids, bool places, td_error *err);

static td_code keep_answer(item *it, const td_worker_answer *a, td_operation operation,
                           td_error *err)
{
    if (operation == TD_DO_RENDER || operation == TD_DO_DECODE)
        return keep_text(it, a->text, err);
    if (operation == TD_DO_ENCODE) {
        td_ids ids = { .count = a->ids.len / 4 };
        td_id *own = td_arena_array(it->arena, td_id, ids.count + 1);
        if (own == NULL)
            return td_arena_fail(it->arena, err);
        td_worker_unpack_ids(a->ids, own);
        ids.ids = own;
        return keep_ids(it, (td_str){ NULL, 0 }, ids, false, err);
    }
    it->box->pub.tokens = a->tokens;
    it->box->pub.counted = true;
    return TD_OK;
}

/* Has the external worker do what the counter is for: with a text, ids, or a request as JSON. */
static td_code outside(item *it, td_via via, td_str text, bool special, td_error *err)
{
    td_operation operation = it->shared->options.operation;
    td_worker_item job = { .operation = operation,
                           .via = via,
                           .text = text,
                           .add_special_tokens = special,
                           .skip_special_tokens = it->shared->options.skip_special_tokens };
    td_worker_answer answer;
    td_code code = td_pool_ask(it->s->external, &job, &answer, err);
    if (code == TD_OK)
        code = keep_answer(it, &answer, operation, err);
    td_pool_rest(it->s->external);
    if (code == TD_OK && operation == TD_DO_COUNT)
        it->box->pub.text_bytes = via == TD_VIA_TEXT ? text.len : 0;
    return code;
}

static td_code request_outside(item *it, td_error *err)
{
    if (!it->r->made)
        return outside(it, it->r->via, it->r->json, false, err);
    it->s->json.len = 0;
    td_code code = td_request_write(it->r, &it->s->json, err);
    if (code == TD_E_TEMPLATE)
        err->code = TD_E_WORKER; /* the template is not to blame: no plain text instead */
    if (code != TD_OK)
        return td_while(err, "the request for the worker");
    return outside(it, it->r->via, td_buf_view(&it->s->json), false, err);
}

/* Messages for an external worker, which gives ids and texts, but nothing about them. */
static td_code messages_outside(item *it, const td_chat_call *call, td_error *err)
{
    if (call->mask)
        return td_fail(err, TD_E_INPUT, "external workers give no mask of assistant tokens");
    return request_outside(it, err);
}

static unsigned plain_flags(const item *it)
{
    return it->shared->model != NULL ? it->shared->model->encode_flags : 0;
}

static td_text_count_job count_job(const item *it, unsigned flags)
{
    return (td_text_count_job){
        .encoder = it->s->encoder,
        .cutter = it->s->cutter,
        .memo = it->shared->memo,
        .flags = flags,
        .verify = it->shared->options.verify,
        .deadline_ns = it->s->chat.limits.deadline_ns,
        .cancel = it->shared->interrupt,
    };
}

static td_code count_text(item *it, td_str text, unsigned flags, td_error *err)
{
    if (it->s->external != NULL)
        return outside(it, TD_VIA_TEXT, text, (flags & TD_ENCODE_ADD_SPECIAL) != 0, err);
    td_text_count_job job = count_job(it, flags);
    uint64_t tokens, reused;
    TD_TRY(td_text_count(&job, text, &tokens, &reused, err));
    it->box->pub.tokens = tokens;
    it->box->pub.reused = reused;
    it->box->pub.text_bytes = text.len;
    it->box->pub.counted = true;
    return TD_OK;
}

/* Copies the owners that were found, if that went well, into the result. */
static td_code keep_owned(item *it, td_code found, td_error *err)
{
    const td_owned_list *list = &it->s->owned;
    td_result_box *box = it->box;
    if (found != TD_OK)
        return found;
    box->owned = td_malloc((list->count + 1) * sizeof *box->owned);
    if (box->owned == NULL)
        return td_fail_nomem(err);
    if (list->count != 0)
        memcpy(box->owned, list->items, list->count * sizeof *box->owned);
    box->pub.owned = box->owned;
    box->pub.owned_count = list->count;
    return TD_OK;
}

static td_code count_owned(item *it, td_str text, td_error *err)
{
    td_text_count_job job = count_job(it, it->shared->model->encode_flags);
    td_owned_list *list = &it->s->owned;
    td_code code = td_owned_count(&job, &it->s->marks, text, it->arena, list, err);
    TD_TRY(keep_owned(it, code, err));
    it->box->pub.tokens = list->tokens;
    it->box->pub.reused = list->reused;
    it->box->pub.text_bytes = text.len;
    it->box->pub.counted = true;
    return TD_OK;
}

/* A rendered text with markers is encoded in pieces, without reuse. */
static td_code sanitized_ids(item *it, td_id **ret_ids, size_t *ret_count, td_error *err)
{
    return td_sanitize_encode(it->shared->model, it->s->encoder, td_buf_view(&it->s->chat.text),
                              it->arena, ret_ids, ret_count, err);
}

/* What truncation and padding leave of the count. */
static td_code settle_length(item *it, const td_chat_call *call, td_error *err)
{
    td_length length;
    td_result *pub = &it->box->pub;
    TD_TRY(td_length_of(&it->shared->model->length, &call->length, call->sanitize, &length, err));
    if (!td_length_matters(&length))
        return TD_OK;
    if (it->shared->owners)
        return td_fail(err, TD_E_INPUT, "prompts that are cut or filled up do not tell which "
                                        "message is whose");
    TD_TRY(td_length_count(&length, pub->tokens, &pub->tokens, err));
    pub->reused = pub->reused < pub->tokens ? pub->reused : pub->tokens;
    return TD_OK;
}

static td_code count_prompt_whole(item *it, td_chat_call *call, td_error *err)
{
    TD_TRY(td_chat_call_of(&it->shared->env, it->r, it->arena, call, err));
    TD_TRY(render(it, call, err));
    if (call->sanitize && it->shared->owners)
        return td_fail(err, TD_E_INPUT, "sanitized texts do not tell which message is whose");
    if (it->shared->owners)
        return count_owned(it, td_buf_view(&it->s->chat.text), err);
    if (!call->sanitize)
        return count_text(it, td_buf_view(&it->s->chat.text), it->shared->model->encode_flags, err);
    td_id *ids;
    size_t count;
    TD_TRY(sanitized_ids(it, &ids, &count, err));
    td_free(ids);
    it->box->pub.tokens = count;
    it->box->pub.text_bytes = it->s->chat.text.len;
    it->box->pub.counted = true;
    return TD_OK;
}

static td_code count_prompt(item *it, td_error *err)
{
    td_chat_call call;
    TD_TRY(count_prompt_whole(it, &call, err));
    return settle_length(it, &call, err);
}

static td_code count_message(item *it, td_error *err)
{
    td_chat_call with, without;
    td_result *pub = &it->box->pub;
    unsigned flags = it->shared->model->encode_flags;
    td_length length;
    TD_TRY(td_chat_message_calls(&it->shared->env, it->r, it->arena, &with, &without, err));
    TD_TRY(td_length_of(&it->shared->model->length, &with.length, false, &length, err));
    if (td_length_matters(&length))
        return td_fail(err, TD_E_INPUT, "a message alone is not cut or filled up");
    TD_TRY(render(it, &with, err));
    TD_TRY(count_text(it, td_buf_view(&it->s->chat.text), flags, err));
    td_result whole = *pub;
    /* a template that cannot render the empty pair has a baseline of 0 */
    td_error ignored = TD_ERROR_INIT;
    td_code code = render(it, &without, &ignored);
    if (code == TD_OK)
        code = count_text(it, td_buf_view(&it->s->chat.text), flags, &ignored);
    uint64_t baseline = code == TD_OK ? pub->tokens : 0;
    if (code == TD_E_TIMEOUT || code == TD_E_INTERNAL || code == TD_E_VERIFY) {
        td_error_move(err, &ignored);
        return code;
    }
    td_error_clear(&ignored);
    pub->tokens = whole.tokens > baseline ? whole.tokens - baseline : 0;
    pub->reused = whole.reused < pub->tokens ? whole.reused : pub->tokens;
    pub->text_bytes = whole.text_bytes;
    return TD_OK;
}

/* Counts the plain text that stands for the prompt; why it failed stays beside the number. */
static void fall_back(item *it, td_error *err)
{
    bool structured = it->r->via == TD_VIA_MESSAGES || it->r->via == TD_VIA_MESSAGE;
    bool failed_prompt = err->code == TD_E_TEMPLATE || err->code == TD_E_INPUT ||
                         err->code == TD_E_LIMIT || err->code == TD_E_TOKENIZER;
    if (!it->shared->options.fallback || !structured || !failed_prompt)
        return;
    td_error again = TD_ERROR_INIT;
    td_code code = it->r->via == TD_VIA_MESSAGES
                       ? td_chat_fallback_prompt(it->r, it->arena, &it->s->json, &again)
                       : td_chat_fallback_message(it->r, &it->s->json, &again);
    if (code == TD_OK)
        code = count_text(it, td_buf_view(&it->s->json), plain_flags(it), &again);
    if (code == TD_OK)
        it->box->pub.via = TD_VIA_FALLBACK;
    td_error_clear(&again);
}

static td_code check_ids(td_value list, td_error *err)
{
    for (uint32_t i = 0; i < list.len; i++) {
        td_value v = list.as.items[i];
        if (v.tag != TD_V_INT || v.as.integer < 0 || v.as.integer > UINT32_MAX)
            return td_fail(err, TD_E_INPUT, "token_ids[%u] is no token id", i);
    }
    return TD_OK;
}

static td_code do_count(item *it, td_error *err)
{
    const td_request *r = it->r;
    unsigned special = td_py_truthy(r->keys.add_special_tokens) ? TD_ENCODE_ADD_SPECIAL : 0;
    switch (r->via) {
    case TD_VIA_TOKEN_IDS:
        TD_TRY(check_ids(r->keys.token_ids, err));
        it->box->pub.tokens = r->keys.token_ids.len;
        it->box->pub.counted = true;
        return TD_OK;
    case TD_VIA_TEXT:
        return count_text(it, td_as_str(r->keys.text), plain_flags(it) | special, err);
    case TD_VIA_MESSAGE:
    case TD_VIA_MESSAGES:
        if (it->s->external != NULL)
            return request_outside(it, err);
        return r->via == TD_VIA_MESSAGE ? count_message(it, err) : count_prompt(it, err);
    case TD_VIA_NONE:
    case TD_VIA_FALLBACK:
        break;
    }
    return td_fail(err, TD_E_INPUT, "no input");
}

/* ---- render ---- */

static td_code keep_text(item *it, td_str text, td_error *err)
{
    td_code code = td_buf_put(&it->box->text, text);
    if (code != TD_OK)
        return td_buf_fail(&it->box->text, err, code, "text");
    if (it->box->text.ptr == NULL && td_buf_reserve(&it->box->text, 1) != TD_OK)
        return td_fail_nomem(err);
    it->box->pub.text = td_buf_view(&it->box->text);
    it->box->pub.text_bytes = text.len;
    return TD_OK;
}

static td_code keep_spans(item *it, td_error *err)
{
    const jj_spans *spans = &it->s->chat.spans;
    td_span *out = td_malloc((spans->count + 1) * sizeof *out);
    if (out == NULL)
        return td_fail_nomem(err);
    for (size_t i = 0; i < spans->count; i++)
        out[i] = (td_span){ spans->items[i].start_code_points, spans->items[i].end_code_points };
    it->box->spans = out;
    it->box->pub.generation = out;
    it->box->pub.generation_count = spans->count;
    it->box->pub.has_generation = true;
    return TD_OK;
}

static td_code do_render(item *it, td_error *err)
{
    it->box->form = TD_LINE_TEXT;
    if (it->r->via == TD_VIA_TEXT)
        return keep_text(it, td_as_str(it->r->keys.text), err);
    if (it->r->via != TD_VIA_MESSAGES)
        return td_fail(err, TD_E_INPUT, "only messages and text can be rendered, not %s",
                       td_via_name(it->r->via));
    td_chat_call call;
    TD_TRY(td_chat_call_of(&it->shared->env, it->r, it->arena, &call, err));
    if (call.sanitize)
        return td_fail(err, TD_E_INPUT, "sanitize_control_tokens concerns ids and counts only");
    if (it->s->external != NULL)
        return messages_outside(it, &call, err);
    TD_TRY(render(it, &call, err));
    TD_TRY(keep_text(it, td_buf_view(&it->s->chat.text), err));
    return call.mask ? keep_spans(it, err) : TD_OK;
}

/* ---- encode ---- */

static td_code keep_ids(item *it, td_str text, td_ids ids, bool places, td_error *err)
{
    td_result_box *box = it->box;
    size_t bytes = (ids.count + 1) * sizeof(td_id);
    box->ids = td_malloc(bytes);
    if (box->ids == NULL)
        return td_fail_nomem(err);
    if (ids.count != 0)
        memcpy(box->ids, ids.ids, ids.count * sizeof(td_id));
    if (places && ids.starts != NULL) {
        box->starts = td_malloc(bytes);
        box->ends = td_malloc(bytes);
        if (box->starts == NULL || box->ends == NULL)
            return td_fail_nomem(err);
        if (ids.count != 0) {
            memcpy(box->starts, ids.starts, ids.count * sizeof *ids.starts);
            memcpy(box->ends, ids.ends, ids.count * sizeof *ids.ends);
        }
    }
    box->pub.ids = box->ids;
    box->pub.starts = box->starts;
    box->pub.ends = box->ends;
    box->pub.ids_count = box->pub.tokens = ids.count;
    box->pub.text_bytes = text.len;
    box->pub.counted = true;
    return TD_OK;
}

/* A token is the assistant's when it overlaps one of the spans; both ascend. */
static td_code keep_mask(item *it, td_error *err)
{
    td_result_box *box = it->box;
    box->mask = td_calloc(box->pub.ids_count + 1, 1);
    if (box->mask == NULL)
        return td_fail_nomem(err);
    const jj_spans *spans = &it->s->chat.spans;
    size_t at = 0;
    for (size_t i = 0; i < box->pub.ids_count; i++) {
        while (at < spans->count && box->starts[i] >= spans->items[at].end_code_points)
            at++;
        if (at == spans->count)
            break;
        box->mask[i] = box->ends[i] > spans->items[at].start_code_points;
    }
    box->pub.mask = box->mask;
    return TD_OK;
}

static td_code encode_text(item *it, td_str text, unsigned flags, td_error *err)
{
    td_ids ids;
    TD_TRY(td_encode(it->s->encoder, text, flags | TD_ENCODE_CODE_POINTS, &ids, err));
    return keep_ids(it, text, ids, (flags & TD_ENCODE_OFFSETS) != 0, err);
}

/* Whose tokens are whose is told of the whole prompt only. */
static td_code keep_length(item *it, const td_chat_call *call, td_ids *ids, td_error *err)
{
    td_length length;
    TD_TRY(td_length_of(&it->shared->model->length, &call->length, call->sanitize, &length, err));
    if (!td_length_matters(&length))
        return TD_OK;
    if (it->shared->owners)
        return td_fail(err, TD_E_INPUT, "prompts that are cut or filled up do not tell which "
                                        "message is whose");
    return td_length_apply(&length, it->arena, ids, err);
}

static td_code encode_prompt(item *it, unsigned flags, td_error *err)
{
    td_chat_call call;
    TD_TRY(td_chat_call_of(&it->shared->env, it->r, it->arena, &call, err));
    if (it->s->external != NULL)
        return messages_outside(it, &call, err);
    TD_TRY(render(it, &call, err));
    td_str text = td_buf_view(&it->s->chat.text);
    if (call.sanitize && it->shared->owners)
        return td_fail(err, TD_E_INPUT, "sanitized texts do not tell which message is whose");
    if (call.sanitize) {
        td_ids ids = { 0 };
        td_id *own;
        TD_TRY(sanitized_ids(it, &own, &ids.count, err));
        ids.ids = own;
        td_code code = keep_length(it, &call, &ids, err);
        if (code == TD_OK)
            code = keep_ids(it, text, ids, false, err);
        td_free(own);
        return code;
    }
    bool places = call.mask || it->shared->owners;
    td_ids ids;
    flags |= TD_ENCODE_CODE_POINTS;
    TD_TRY(td_encode(it->s->encoder, text, places ? flags | TD_ENCODE_OFFSETS : flags, &ids, err));
    TD_TRY(keep_length(it, &call, &ids, err));
    if (it->shared->owners)
        TD_TRY(keep_owned(it, td_owned_of_ids(&it->s->marks, text, ids, &it->s->owned, err), err));
    TD_TRY(keep_ids(it, text, ids, call.mask || (flags & TD_ENCODE_OFFSETS) != 0, err));
    if (!call.mask)
        return TD_OK;
    TD_TRY(keep_mask(it, err));
    if ((flags & TD_ENCODE_OFFSETS) == 0)
        it->box->pub.starts = it->box->pub.ends = NULL; /* only the mask was asked for */
    return TD_OK;
}

static td_code list_to_ids(item *it, td_ids *ret, td_error *err)
{
    td_value list = it->r->keys.token_ids;
    TD_TRY(check_ids(list, err));
    td_id *ids = td_arena_array(it->arena, td_id, (size_t)list.len + 1);
    if (ids == NULL)
        return td_arena_fail(it->arena, err);
    for (uint32_t i = 0; i < list.len; i++)
        ids[i] = (td_id)list.as.items[i].as.integer;
    *ret = (td_ids){ .ids = ids, .count = list.len };
    return TD_OK;
}

static td_code do_encode(item *it, td_error *err)
{
    const td_shared *sh = it->shared;
    it->box->form = TD_LINE_IDS;
    if (sh->options.pieces)
        it->box->pieces = td_tokenizer_ref(td_model_tokenizer(sh->model));
    unsigned flags = plain_flags(it) | (sh->options.offsets ? TD_ENCODE_OFFSETS : 0);
    td_ids ids;
    switch (it->r->via) {
    case TD_VIA_TOKEN_IDS:
        TD_TRY(list_to_ids(it, &ids, err));
        return keep_ids(it, (td_str){ NULL, 0 }, ids, false, err);
    case TD_VIA_TEXT:
        if (td_py_truthy(it->r->keys.add_special_tokens))
            flags |= TD_ENCODE_ADD_SPECIAL;
        if (it->s->external != NULL)
            return outside(it, TD_VIA_TEXT, td_as_str(it->r->keys.text),
                           (flags & TD_ENCODE_ADD_SPECIAL) != 0, err);
        return encode_text(it, td_as_str(it->r->keys.text), flags, err);
    case TD_VIA_MESSAGES:
        return encode_prompt(it, flags, err);
    case TD_VIA_MESSAGE:
    case TD_VIA_NONE:
    case TD_VIA_FALLBACK:
        break;
    }
    return td_fail(err, TD_E_INPUT, "a message alone has no ids, only a count");
}

/* ---- decode ---- */

static td_code do_decode(item *it, td_error *err)
{
    it->box->form = TD_LINE_TEXT;
    if (it->r->via != TD_VIA_TOKEN_IDS)
        return td_fail(err, TD_E_INPUT, "decode needs ids or token_ids");
    td_ids ids;
    td_str text;
    TD_TRY(list_to_ids(it, &ids, err));
    it->box->pub.tokens = ids.count;
    if (it->s->external != NULL) {
        char *packed = td_arena_alloc_n(it->arena, ids.count + 1, 4, 1);
        if (packed == NULL)
            return td_arena_fail(it->arena, err);
        td_worker_pack_ids(ids.ids, ids.count, packed);
        return outside(it, TD_VIA_TOKEN_IDS, (td_str){ packed, 4 * ids.count }, false, err);
    }
    unsigned flags = it->shared->options.skip_special_tokens ? TD_DECODE_SKIP_SPECIAL : 0;
    TD_TRY(td_model_decode(it->shared->model, it->s->encoder, ids.ids, ids.count, flags,
                           &it->s->json, &text, err));
    return keep_text(it, text, err);
}

/* ---- all of it ---- */

static td_code run(item *it, td_error *err)
{
    const td_shared *sh = it->shared;
    td_request_read(it->r, it->arena, sh->owners ? NULL : sh->keep);
    td_check_kept(it->r->kept);
    it->box->pub.via = it->r->via;
    TD_TRY(td_result_set_id(it->box, it->r->keys.id, err));
    if (it->r->failure.code != TD_OK) {
        /* a request in a shape that has no input is none of the four */
        td_code code = it->r->failure.code;
        td_error_move(err, &it->r->failure);
        return code;
    }
    if (sh->options.verify && it->r->kept != NULL)
        TD_TRY(td_kept_check(it->r->kept, err));
    TD_TRY(check_time(it, err));
    td_code code = TD_E_INTERNAL;
    switch (sh->options.operation) {
    case TD_DO_COUNT:
        code = do_count(it, err);
        break;
    case TD_DO_RENDER:
        code = do_render(it, err);
        break;
    case TD_DO_ENCODE:
        code = do_encode(it, err);
        break;
    case TD_DO_DECODE:
        code = do_decode(it, err);
        break;
    }
    if (code == TD_E_INPUT && err->file == NULL)
        td_request_place(it->r, err);
    if (code != TD_OK && sh->options.operation == TD_DO_COUNT)
        fall_back(it, err);
    return code;
}

static td_line_form form_of(td_operation operation)
{
    switch (operation) {
    case TD_DO_RENDER:
    case TD_DO_DECODE:
        return TD_LINE_TEXT;
    case TD_DO_ENCODE:
        return TD_LINE_IDS;
    case TD_DO_COUNT:
        break;
    }
    return TD_LINE_COUNT;
}

bool td_process(const td_shared *shared, td_worker_scratch *s, td_request *r)
{
    item it = { shared, s, r, r->box, &s->chat.arena };
    uint64_t timeout = shared->options.limits.timeout_ns;
    s->chat.limits.deadline_ns = timeout != 0 ? td_now_ns() + timeout : 0;
    s->chat.limits.cancel = shared->interrupt;
    if (s->encoder != NULL)
        td_encoder_set_stop(s->encoder, shared->interrupt, s->chat.limits.deadline_ns);
    it.box->form = form_of(shared->options.operation);
    td_error err = TD_ERROR_INIT;
    bool kept = r->decoded; /* its values are its own; else they go with the worker's arena */
    td_code code = run(&it, &err);
    bool interrupted = code == TD_E_TIMEOUT && atomic_load(shared->interrupt);
    if (interrupted) {
        td_error_clear(&err);
        td_result_clear(r->box);
        if (!kept)
            td_request_forget(r);
    } else if (code != TD_OK) {
        if (it.box->pub.via != TD_VIA_FALLBACK)
            it.box->pub.counted = false;
        td_error_move(&it.box->pub.error, &err);
    }
    it.box->pub.index = r->index;
    td_str line;
    if (!interrupted && shared->options.lines)
        code = td_result_json(&it.box->pub, &line, NULL); /* fails again where it is wanted */
    td_arena_reset(&s->chat.arena);
    if (s->chat.text.cap > KEEP_TEXT_BYTES)
        td_buf_done(&s->chat.text);
    if (s->json.cap > KEEP_TEXT_BYTES)
        td_buf_done(&s->json);
    return !interrupted;
}
