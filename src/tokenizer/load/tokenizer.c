/* tokenizer.c - tokenizer.json as a whole.
 *
 * The file is walked once. Vocabulary and merges, nearly all of its bytes, are read in place; every
 * other section is small and goes through the general JSON reader. Sections may come in any order,
 * so components are made after the walk, in the order in which they need each other. */
#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/internal.h"
#include "tokenizer/load/scan.h"
#include "tokenizer/tiles.h"
#include "tokenizer/vocab/vocab.h"
#include "value/json.h"

typedef struct sections {
    td_value version, truncation, padding, added_tokens, normalizer, pre_tokenizer, post_processor,
        decoder, model;
} sections;

typedef struct walker {
    tk_load load;
    tk_scan scan;
    sections s;
    const tk_bulk *bulk; /* NULL: vocabulary and merges are in the text */
} walker;

/* The general reader for the value at the scanner. */
static td_code read_small(walker *w, td_value *ret)
{
    td_str text;
    TD_TRY(tk_scan_skip(&w->scan, &text));
    td_code code = td_json_read(&w->load.temp, text, ret, w->load.err);
    if (code != TD_OK && w->load.err->offset != TD_NO_OFFSET)
        w->load.err->offset += (uint64_t)(text.ptr - w->scan.start);
    return code;
}

static td_code read_vocab(walker *w)
{
    tk_scan *s = &w->scan;
    tk_scan_space(s);
    w->load.vocab_at = (uint64_t)(s->p - s->start);
    if (s->p == s->end || *s->p != '{')
        return tk_scan_skip_bulk(s, &w->load.vocab_json);
    tk_vocab_free(w->load.vocab);
    size_t an_entry = w->bulk != NULL ? 12 : 64; /* bytes, by experience */
    tk_vocab *v = w->load.vocab = tk_vocab_new((size_t)(s->end - s->p) / an_entry + 16);
    if (v == NULL)
        return tk_load_nomem(&w->load);
    TD_TRY(tk_scan_take(s, '{'));
    if (!tk_scan_is(s, '}')) {
        do {
            td_str text;
            td_id id;
            TD_TRY(tk_scan_string(s, &text));
            TD_TRY(tk_scan_take(s, ':'));
            TD_TRY(tk_scan_uint(s, &id));
            if (!tk_vocab_add(v, text, id))
                return tk_load_nomem(&w->load);
        } while (tk_scan_is(s, ','));
        TD_TRY(tk_scan_take(s, '}'));
    }
    if (!tk_vocab_seal(v))
        return v->id_end > 1u << 28 ? tk_scan_fail(s, "vocabulary ids reach beyond 2^28")
                                    : tk_load_nomem(&w->load);
    return TD_OK;
}

static td_code read_merges(walker *w)
{
    tk_scan_space(&w->scan);
    tk_scan *s = &w->scan;
    w->load.merges_at = (uint64_t)(s->p - s->start);
    return tk_scan_skip_bulk(s, &w->load.merges_json);
}

/* What lies elsewhere. */
static td_code read_bulk(walker *w)
{
    tk_scan *s = &w->scan, here = *s;
    td_str json = w->bulk->vocab;
    if (json.ptr != NULL) {
        s->start = s->p = json.ptr;
        s->end = json.ptr + json.len;
        TD_TRY(read_vocab(w));
        s->start = here.start;
        s->p = here.p;
        s->end = here.end;
    }
    w->load.merges_json = w->bulk->merges;
    w->load.nearest = w->bulk->nearest;
    return TD_OK;
}

/* The model object without its big parts. */
static td_code read_model(walker *w)
{
    tk_scan *s = &w->scan;
    tk_scan_space(s);
    if (s->p == s->end || *s->p != '{')
        return read_small(w, &w->s.model);
    td_dict *d = td_dict_new(&w->load.temp, 16);
    if (d == NULL)
        return tk_load_nomem(&w->load);
    TD_TRY(tk_scan_take(s, '{'));
    if (!tk_scan_is(s, '}')) {
        do {
            td_str view, key;
            td_value value = td_none();
            TD_TRY(tk_scan_string(s, &view));
            key = td_arena_copy(&w->load.temp, view);
            if (key.ptr == NULL)
                return tk_load_nomem(&w->load);
            TD_TRY(tk_scan_take(s, ':'));
            if (td_str_eq(key, TD_STR("vocab")))
                TD_TRY(read_vocab(w));
            else if (td_str_eq(key, TD_STR("merges")))
                TD_TRY(read_merges(w));
            else
                TD_TRY(read_small(w, &value));
            if (!td_dict_set(&w->load.temp, d, td_key(key), value))
                return tk_load_nomem(&w->load);
        } while (tk_scan_is(s, ','));
        TD_TRY(tk_scan_take(s, '}'));
    }
    if (w->bulk != NULL)
        TD_TRY(read_bulk(w));
    w->s.model = td_dict_of(d);
    return TD_OK;
}

static td_value *section(sections *s, td_str key)
{
    const struct {
        const char *name;
        td_value *value;
    } all[] = {
        { "version", &s->version },         { "truncation", &s->truncation },
        { "padding", &s->padding },         { "added_tokens", &s->added_tokens },
        { "normalizer", &s->normalizer },   { "pre_tokenizer", &s->pre_tokenizer },
        { "decoder", &s->decoder },         { "post_processor", &s->post_processor },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (td_str_eq(key, td_str_from(all[i].name)))
            return all[i].value;
    return NULL;
}

static td_code walk(walker *w)
{
    tk_scan *s = &w->scan;
    TD_TRY(tk_scan_take(s, '{'));
    if (!tk_scan_is(s, '}')) {
        do {
            td_str key, unused;
            TD_TRY(tk_scan_string(s, &key));
            td_value *to = section(&w->s, key);
            bool is_model = td_str_eq(key, TD_STR("model"));
            TD_TRY(tk_scan_take(s, ':'));
            if (is_model)
                TD_TRY(read_model(w));
            else if (to != NULL)
                TD_TRY(read_small(w, to));
            else
                TD_TRY(tk_scan_skip(s, &unused));
        } while (tk_scan_is(s, ','));
        TD_TRY(tk_scan_take(s, '}'));
    }
    tk_scan_space(s);
    return s->p == s->end ? TD_OK : tk_scan_fail(s, "text behind the end of the JSON value");
}

static td_code check_version(const tk_at *at)
{
    if (at->value.tag == TD_V_UNDEFINED)
        return TD_OK;
    if (at->value.tag != TD_V_STR || !td_str_eq(td_as_str(at->value), TD_STR("1.0")))
        return tk_at_fail(at, NULL, "unsupported version");
    return TD_OK;
}

static tk_at at_section(const tk_at *root, const char *key, td_value value)
{
    if (value.tag == TD_V_UNDEFINED)
        value = td_none();
    return (tk_at){ .load = root->load, .up = root, .key = key, .value = value };
}

static td_code make_all(walker *w, td_tokenizer *tok)
{
    tk_at root = { .load = &w->load };
    const sections *s = &w->s;
    tk_at version = { .load = &w->load, .up = &root, .key = "version", .value = s->version };
    TD_TRY(check_version(&version));
    tk_at part = at_section(&root, "truncation", s->truncation);
    TD_TRY(tk_truncation_load(&part, &tok->truncation));
    part = at_section(&root, "padding", s->padding);
    TD_TRY(tk_padding_load(&part, &tok->padding));
    part = at_section(&root, "model", s->model);
    if (part.value.tag == TD_V_NONE)
        return tk_at_fail(&root, "model", "missing");
    TD_TRY(tk_make_model(&part, &tok->model));
    part = at_section(&root, "normalizer", s->normalizer);
    if (part.value.tag != TD_V_NONE)
        TD_TRY(tk_make_norm(&part, &tok->norm));
    part = at_section(&root, "pre_tokenizer", s->pre_tokenizer);
    if (part.value.tag != TD_V_NONE)
        TD_TRY(tk_make_pretok(&part, &tok->pretok));
    part = at_section(&root, "post_processor", s->post_processor);
    if (part.value.tag != TD_V_NONE)
        TD_TRY(tk_make_post(&part, &tok->post));
    part = at_section(&root, "decoder", s->decoder);
    if (part.value.tag != TD_V_NONE)
        TD_TRY(tk_make_dec(&part, &tok->dec));
    part = at_section(&root, "added_tokens", s->added_tokens);
    TD_TRY(tk_added_load(&part, tok->model, tok->norm, &tok->added));
    /* Where the text was changed only its alignment tells what stands at the start of the input. */
    tok->always_track = (tok->norm != NULL && tok->norm->zero_width) ||
                        (tok->pretok != NULL && tok->pretok->positional &&
                         (tok->norm != NULL || tok->pretok->parts != NULL));
    TD_TRY(tk_fast_new(&w->load, tok->norm, tok->pretok, tok->model, &tok->fast));
    tok->tiles = tk_tiles_of(tok);
    return TD_OK;
}

static td_code check_utf8(td_tokenizer *tok, td_str text, td_error *err)
{
    size_t good = td_utf8_check_strict(text);
    tok->source_bytes += text.len;
    return good == text.len ? TD_OK
                            : td_fail_at(err, TD_E_INPUT, good, "tokenizer.json is not UTF-8");
}

td_code tk_load_tokenizer(td_tokenizer *tok, td_str json, const tk_bulk *bulk, td_error *err)
{
    tok->source_bytes = 0;
    TD_TRY(check_utf8(tok, json, err));
    if (bulk != NULL) {
        TD_TRY(check_utf8(tok, bulk->vocab, err));
        TD_TRY(check_utf8(tok, bulk->merges, err));
    }
    walker w = { .bulk = bulk };
    w.load = (tk_load){ .arena = &tok->arena, .cleanup = &tok->cleanup, .err = err };
    w.scan = (tk_scan){ .start = json.ptr, .p = json.ptr, .end = json.ptr + json.len, .err = err };
    td_code code = walk(&w);
    if (code == TD_OK)
        code = make_all(&w, tok);
    tk_vocab_free(w.load.vocab);
    td_buf_done(&w.scan.text);
    td_arena_done(&w.load.temp);
    return code;
}
