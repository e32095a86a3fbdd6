/* model_describe.c - what was loaded, as JSON. */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/str.h"
#include "chat/model.h"
#include "value/json.h"

typedef struct writer {
    td_buf out;
    td_code code;
    bool comma;
} writer;

static void raw(writer *w, const char *text)
{
    if (w->code == TD_OK)
        w->code = td_buf_append(&w->out, text, strlen(text));
}

static void text(writer *w, td_str s)
{
    if (w->code == TD_OK)
        w->code = td_json_write_strict(&w->out, s);
}

static void key_text(writer *w, td_str name)
{
    if (w->comma)
        raw(w, ", ");
    w->comma = true;
    text(w, name);
    raw(w, ": ");
}

static void key(writer *w, const char *name)
{
    key_text(w, td_str_from(name));
}

static void member(writer *w, const char *name, td_str value)
{
    key(w, name);
    text(w, value);
}

static void flag(writer *w, const char *name, bool value)
{
    key(w, name);
    raw(w, value ? "true" : "false");
}

static void put_special(writer *w, const td_model *m)
{
    key(w, "special_tokens");
    raw(w, "{");
    w->comma = false;
    for (size_t i = 0; i < m->named.count; i++) {
        key_text(w, m->named.items[i].name);
        text(w, m->named.items[i].token.text);
    }
    raw(w, "}");
    w->comma = true;
}

static void put_templates(writer *w, const td_model *m)
{
    key(w, "chat_templates");
    raw(w, "[");
    for (size_t i = 0; i < m->template_count; i++) {
        const td_model_template *t = &m->templates[i];
        raw(w, i == 0 ? "{" : ", {");
        w->comma = false;
        member(w, "name", t->name);
        member(w, "file", td_str_from(t->file));
        key(w, "bytes");
        if (w->code == TD_OK)
            w->code = td_buf_printf(&w->out, "%zu", t->source.len);
        flag(w, "compiles", t->compiled != NULL);
        raw(w, "}");
        w->comma = true;
    }
    raw(w, "]");
}

static void put_rules(writer *w, unsigned rules)
{
    static const char *const names[] = {
        "pipeline of the class",        "post-processor of the class",
        "added tokens of all files",    "vocabulary files",
        "versioned tokenizer file",     "regex of fix_mistral_regex",
        "no truncation and no padding", "special tokens are split",
    };
    key(w, "rules");
    raw(w, "[");
    bool first = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if ((rules >> i & 1) == 0)
            continue;
        raw(w, first ? "" : ", ");
        text(w, td_str_from(names[i]));
        first = false;
    }
    raw(w, "]");
}

char *td_model_describe(const td_model *m)
{
    writer w = { 0 };
    raw(&w, "{");
    member(&w, "model", td_str_from(m->name));
    member(&w, "kind", td_str_from(m->kind));
    member(&w, "compat",
           m->compat == TD_COMPAT_TRANSFORMERS ? TD_STR("transformers") : TD_STR("tokenizer.json"));
    key(&w, "class");
    raw(&w, "{");
    w.comma = false;
    member(&w, "used", m->class_used);
    member(&w, "configured", m->class_asked);
    member(&w, "why", td_str_from(m->class_why != NULL ? m->class_why : ""));
    flag(&w, "rebuilt", (m->rules & TD_RULE_PIPELINE) != 0);
    flag(&w, "added_tokens_changed", (m->rules & TD_RULE_TOKENS) != 0);
    put_rules(&w, m->rules);
    raw(&w, "}");
    w.comma = true;
    char *tokenizer = td_tokenizer_describe(m->tokenizer);
    key(&w, "tokenizer");
    raw(&w, tokenizer != NULL ? tokenizer : "null");
    td_text_free(tokenizer);
    key(&w, "vocabulary");
    if (w.code == TD_OK)
        w.code = td_buf_printf(&w.out, "%zu", td_tokenizer_vocab_size(m->tokenizer));
    key(&w, "added_tokens");
    if (w.code == TD_OK)
        w.code = td_buf_printf(&w.out, "%zu", m->added.count);
    put_special(&w, m);
    put_templates(&w, m);
    key(&w, "load_ms");
    if (w.code == TD_OK)
        w.code = td_buf_printf(&w.out, "%.1f", (double)m->load_ns / 1e6);
    raw(&w, "}");
    if (w.code != TD_OK) {
        td_buf_done(&w.out);
        return NULL;
    }
    return td_buf_detach(&w.out);
}
