/* skim.c - nearly all bytes of a tokenizer.json are vocabulary and merges, which class rules pass
 * on untouched. They are found by walking over the text and never become values. */
#include "chat/skim.h"

#include "base/error.h"
#include "base/str.h"
#include "tokenizer/load/scan.h"
#include "value/json.h"

typedef struct skimmer {
    tk_scan scan;
    td_arena *a;
    td_skimmed *out;
    td_error *err;
} skimmer;

static td_code set(skimmer *s, td_dict *d, td_str key, td_value v)
{
    td_str copy = td_arena_copy(s->a, key); /* the scanner's text may be its scratch */
    if (copy.ptr == NULL || !td_dict_set(s->a, d, td_key(copy), v))
        return td_arena_fail(s->a, s->err);
    return TD_OK;
}

static td_code read_value(skimmer *s, td_value *ret)
{
    td_str text;
    TD_TRY(tk_scan_skip(&s->scan, &text));
    td_code code = td_json_read(s->a, text, ret, s->err);
    if (code != TD_OK && s->err->offset != TD_NO_OFFSET)
        s->err->offset += (uint64_t)(text.ptr - s->scan.start);
    return code;
}

/* One object, member by member. */
static td_code read_members(skimmer *s, td_dict *d,
                            td_code (*member)(skimmer *s, td_dict *d, td_str key))
{
    TD_TRY(tk_scan_take(&s->scan, '{'));
    if (tk_scan_is(&s->scan, '}'))
        return TD_OK;
    do {
        td_str key;
        TD_TRY(tk_scan_string(&s->scan, &key));
        if (key.ptr == s->scan.text.ptr && key.len != 0) { /* it had an escape: no known key */
            key = td_arena_copy(s->a, key);
            if (key.ptr == NULL)
                return td_arena_fail(s->a, s->err);
        }
        TD_TRY(tk_scan_take(&s->scan, ':'));
        TD_TRY(member(s, d, key));
    } while (tk_scan_is(&s->scan, ','));
    return tk_scan_take(&s->scan, '}');
}

static td_code model_member(skimmer *s, td_dict *d, td_str key)
{
    if (td_str_eq(key, TD_STR("vocab")))
        return tk_scan_skip_bulk(&s->scan, &s->out->vocab);
    if (td_str_eq(key, TD_STR("merges")))
        return tk_scan_skip_bulk(&s->scan, &s->out->merges);
    td_value v;
    TD_TRY(read_value(s, &v));
    return set(s, d, key, v);
}

static td_code root_member(skimmer *s, td_dict *d, td_str key)
{
    td_value v;
    tk_scan_space(&s->scan);
    bool object = s->scan.p < s->scan.end && *s->scan.p == '{';
    if (!td_str_eq(key, TD_STR("model")) || !object) {
        TD_TRY(read_value(s, &v));
        return set(s, d, key, v);
    }
    s->out->vocab = s->out->merges = (td_str){ NULL, 0 };
    td_dict *model = td_dict_new(s->a, 12);
    if (model == NULL)
        return td_arena_fail(s->a, s->err);
    TD_TRY(read_members(s, model, model_member));
    return set(s, d, key, td_dict_of(model));
}

td_code td_skim(td_arena *a, td_str json, td_skimmed *ret, td_error *err)
{
    skimmer s = { .scan = { .start = json.ptr, .p = json.ptr, .end = json.ptr + json.len,
                            .err = err },
                  .a = a, .out = ret, .err = err };
    *ret = (td_skimmed){ .root = td_dict_new(a, 12) };
    td_code code = ret->root != NULL ? TD_OK : td_arena_fail(a, err);
    tk_scan_space(&s.scan);
    if (code == TD_OK && (s.scan.p == s.scan.end || *s.scan.p != '{'))
        code = td_fail(err, TD_E_INPUT, "must hold a JSON object");
    if (code == TD_OK)
        code = read_members(&s, ret->root, root_member);
    tk_scan_space(&s.scan);
    if (code == TD_OK && s.scan.p != s.scan.end)
        code = tk_scan_fail(&s.scan, "unexpected text behind the object");
    td_buf_done(&s.scan.text);
    if (code != TD_OK)
        td_error_locate(err, json);
    return code;
}

/* ---- writing ---- */

static const td_json_style compact = {
    .has_separators = true,
    .item_separator = { ",", 1 },
    .key_separator = { ":", 1 },
};

static td_code bytes(td_buf *out, td_str s, td_error *err)
{
    td_code code = td_buf_put(out, s);
    return code == TD_OK ? TD_OK : td_buf_fail(out, err, code, "tokenizer.json");
}

static td_code write_member(td_buf *out, td_value key, td_value v, bool first, td_error *err)
{
    if (!first)
        TD_TRY(bytes(out, TD_STR(","), err));
    TD_TRY(td_json_write(out, key, &compact, err));
    TD_TRY(bytes(out, TD_STR(":"), err));
    return td_json_write(out, v, &compact, err);
}

static td_code write_model(td_buf *out, const td_dict *d, const td_skimmed *bulk, td_error *err)
{
    TD_TRY(bytes(out, TD_STR("{"), err));
    for (uint32_t i = 0; i < d->count; i++)
        TD_TRY(write_member(out, d->entries[i].key, d->entries[i].val, i == 0, err));
    const char *comma = d->count != 0 ? "," : "";
    if (bulk->vocab.ptr != NULL) {
        TD_TRY(bytes(out, td_str_from(comma), err));
        TD_TRY(bytes(out, TD_STR("\"vocab\":"), err));
        TD_TRY(bytes(out, bulk->vocab, err));
        comma = ",";
    }
    if (bulk->merges.ptr != NULL) {
        TD_TRY(bytes(out, td_str_from(comma), err));
        TD_TRY(bytes(out, TD_STR("\"merges\":"), err));
        TD_TRY(bytes(out, bulk->merges, err));
    }
    return bytes(out, TD_STR("}"), err);
}

td_code td_skim_write(td_buf *out, const td_dict *root, const td_skimmed *bulk, td_error *err)
{
    TD_TRY(bytes(out, TD_STR("{"), err));
    for (uint32_t i = 0; i < root->count; i++) {
        td_entry e = root->entries[i];
        if (!td_is_str(e.key) || !td_str_eq(td_as_str(e.key), TD_STR("model")) ||
            e.val.tag != TD_V_DICT) {
            TD_TRY(write_member(out, e.key, e.val, i == 0, err));
            continue;
        }
        TD_TRY(bytes(out, i == 0 ? TD_STR("\"model\":") : TD_STR(",\"model\":"), err));
        TD_TRY(write_model(out, e.val.as.dict, bulk, err));
    }
    return bytes(out, TD_STR("}"), err);
}
