/* vocab_text.c - walking over the text of a vocabulary without making values of it. */
#include "chat/vocab_text.h"

#include "base/error.h"
#include "base/str.h"
#include "tokenizer/load/scan.h"
#include "value/json.h"

typedef struct walker walker;
struct walker {
    tk_scan scan;
    td_error *err;
    /* One entry; score is the text of its score, empty when it has none. */
    td_code (*entry)(walker *w, td_str text, int64_t id, td_str score);
    td_dict *wanted;
    int64_t count;
    td_str text;
    int64_t at, found;
    bool scored;
    td_buf *out;
};

static td_code walk_object(walker *w)
{
    TD_TRY(tk_scan_take(&w->scan, '{'));
    if (tk_scan_is(&w->scan, '}'))
        return TD_OK;
    do {
        td_str text;
        uint32_t id;
        TD_TRY(tk_scan_string(&w->scan, &text));
        TD_TRY(tk_scan_take(&w->scan, ':'));
        TD_TRY(tk_scan_uint(&w->scan, &id));
        TD_TRY(w->entry(w, text, id, (td_str){ NULL, 0 }));
    } while (tk_scan_is(&w->scan, ','));
    return tk_scan_take(&w->scan, '}');
}

static td_code walk_item(walker *w, int64_t place)
{
    td_str text, score = { NULL, 0 };
    if (!tk_scan_is(&w->scan, '[')) {
        TD_TRY(tk_scan_string(&w->scan, &text));
        return w->entry(w, text, place, score);
    }
    TD_TRY(tk_scan_string(&w->scan, &text));
    if (tk_scan_is(&w->scan, ','))
        TD_TRY(tk_scan_skip(&w->scan, &score));
    TD_TRY(w->entry(w, text, place, score));
    return tk_scan_take(&w->scan, ']');
}

static td_code walk_list(walker *w)
{
    TD_TRY(tk_scan_take(&w->scan, '['));
    if (tk_scan_is(&w->scan, ']'))
        return TD_OK;
    int64_t place = 0;
    do {
        TD_TRY(walk_item(w, place++));
    } while (tk_scan_is(&w->scan, ','));
    return tk_scan_take(&w->scan, ']');
}

static td_code walk(walker *w, td_str vocab, td_error *err)
{
    w->scan =
        (tk_scan){ .start = vocab.ptr, .p = vocab.ptr, .end = vocab.ptr + vocab.len, .err = err };
    w->err = err;
    td_code code = vocab.len != 0 && vocab.ptr[0] == '{' ? walk_object(w) : walk_list(w);
    td_buf_done(&w->scan.text);
    return code;
}

static td_code find_entry(walker *w, td_str text, int64_t id, td_str score)
{
    (void)score;
    w->count++;
    td_value *v = (td_value *)td_dict_find(w->wanted, text);
    if (v != NULL)
        *v = td_int(id);
    return TD_OK;
}

td_code td_vocab_find(td_str vocab, td_dict *wanted, int64_t *ret_count, td_error *err)
{
    walker w = { .entry = find_entry, .wanted = wanted };
    TD_TRY(walk(&w, vocab, err));
    *ret_count = w.count;
    return TD_OK;
}

/* Zero, however it is written: no digit but 0 before an exponent. */
static bool is_zero(td_str number)
{
    for (size_t i = 0; i < number.len; i++) {
        char c = number.ptr[i];
        if (c == 'e' || c == 'E')
            break;
        if (c >= '1' && c <= '9')
            return false;
    }
    return number.len != 0;
}

static td_code place_entry(walker *w, td_str text, int64_t id, td_str score)
{
    if (w->found < 0 && id >= w->at && td_str_eq(text, w->text) && (!w->scored || is_zero(score)))
        w->found = id;
    return TD_OK;
}

td_code td_vocab_place(td_str vocab, td_str text, int64_t at, bool scored, int64_t *ret,
                       td_error *err)
{
    walker w = { .entry = place_entry, .text = text, .at = at, .found = -1, .scored = scored };
    TD_TRY(walk(&w, vocab, err));
    *ret = w.found;
    return TD_OK;
}

td_code td_vocab_tail(td_str vocab, int64_t at, td_str *ret, td_error *err)
{
    tk_scan scan = { .start = vocab.ptr, .p = vocab.ptr, .end = vocab.ptr + vocab.len, .err = err };
    const char *start = NULL, *end = NULL;
    td_str item;
    TD_TRY(tk_scan_take(&scan, '['));
    for (int64_t place = 0; !tk_scan_is(&scan, ']'); place++) {
        if (place != 0)
            TD_TRY(tk_scan_take(&scan, ','));
        TD_TRY(tk_scan_skip(&scan, &item));
        end = item.ptr + item.len;
        if (place == at)
            start = item.ptr;
    }
    *ret = start != NULL ? (td_str){ start, (size_t)(end - start) } : (td_str){ NULL, 0 };
    return TD_OK;
}

static td_code object_entry(walker *w, td_str text, int64_t id, td_str score)
{
    (void)score;
    td_code code = td_buf_byte(w->out, id == 0 ? '{' : ',');
    if (code == TD_OK)
        code = td_json_write_string(w->out, text, false);
    if (code == TD_OK)
        code = td_buf_printf(w->out, ":%lld", (long long)id);
    return code == TD_OK ? TD_OK : td_buf_fail(w->out, w->err, code, "vocabulary");
}

td_code td_vocab_as_object(td_str vocab, td_buf *out, td_error *err)
{
    walker w = { .entry = object_entry, .out = out };
    td_code code = td_buf_reserve(out, vocab.len);
    if (code != TD_OK)
        return td_buf_fail(out, err, code, "vocabulary");
    TD_TRY(walk(&w, vocab, err));
    code = out->len == 0 ? td_buf_append(out, "{}", 2) : td_buf_byte(out, '}');
    return code == TD_OK ? TD_OK : td_buf_fail(out, err, code, "vocabulary");
}
