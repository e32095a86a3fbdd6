/* compile_call.c - calls, filters and tests. Arguments of built-ins are bound to their parameters
 * here when that can be known; the rest is bound when it runs. */
#include <string.h>

#include "base/str.h"
#include "jinja/emit.h"

static bool is_python_keyword(td_str s)
{
    static const char *const words[] = {
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
        "try", "while", "with", "yield",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (td_str_eq(s, td_str_from(words[i])))
            return true;
    return false;
}

/* Keywords that are Python keywords are passed in a dict by the reference, where a repeated one
 * overrides; otherwise a repeated keyword does not compile. */
static td_code check_keywords(jj_compiler *c, const jj_node *n, bool with_caller, bool *ret_dict)
{
    const jj_nodes *kw = &n->list[1];
    *ret_dict = false;
    for (uint32_t i = 0; i < kw->count; i++)
        if (is_python_keyword(jj_name_text(c->names, kw->items[i]->name)))
            *ret_dict = true;
    for (uint32_t i = 0; !*ret_dict && i < kw->count; i++) {
        bool again = with_caller && kw->items[i]->name == c->name_caller;
        for (uint32_t j = 0; j < i; j++)
            again = again || kw->items[j]->name == kw->items[i]->name;
        td_str name = jj_name_text(c->names, kw->items[i]->name);
        if (again)
            return jj_compile_error(c, kw->items[i]->at, "keyword argument repeated: %.*s",
                                    (int)(name.len < 100 ? name.len : 100), name.ptr);
    }
    return TD_OK;
}

static td_code compile_all(jj_compiler *c, const jj_nodes *l, const jj_frame_info *f)
{
    for (uint32_t i = 0; i < l->count; i++)
        TD_TRY(jj_compile_expr(c, l->items[i], f));
    return TD_OK;
}

/* Pushes the list of positional and the dict of keyword arguments. func: the macro that is passed
 * as caller, or JJ_NO_SLOT. */
static td_code compile_dynamic(jj_compiler *c, jj_node *n, const jj_frame_info *f, uint32_t func)
{
    TD_TRY(compile_all(c, &n->list[0], f));
    TD_TRY(jj_emit(c, JJ_O_LIST, 0, 0, n->list[0].count));
    if (n->b != NULL) {
        TD_TRY(jj_compile_expr(c, n->b, f));
        TD_TRY(jj_emit(c, JJ_O_EXTEND, 0, 0, 0));
    }
    for (uint32_t i = 0; i < n->list[1].count; i++) {
        TD_TRY(jj_emit_const(c, jj_name_key(c->names, n->list[1].items[i]->name)));
        TD_TRY(jj_compile_expr(c, n->list[1].items[i]->a, f));
    }
    if (func != JJ_NO_SLOT) {
        TD_TRY(jj_emit_const(c, jj_name_key(c->names, c->name_caller)));
        TD_TRY(jj_emit(c, JJ_O_MACRO, 0, 0, func));
    }
    TD_TRY(jj_emit(c, JJ_O_DICT, 0, 0, n->list[1].count + (func != JJ_NO_SLOT)));
    if (n->c != NULL) {
        TD_TRY(jj_compile_expr(c, n->c, f));
        TD_TRY(jj_emit(c, JJ_O_MERGE, 0, 0, 0));
    }
    return TD_OK;
}

/* ---- filters and tests ---- */

/* The parameter that keyword name stands for; max when there is none. */
static uint32_t parameter_index(const jj_builtin *b, td_str name)
{
    const char *p = b->kw != NULL ? b->kw : "-";
    for (uint32_t i = 0; i < b->max && *p != '\0'; i++) {
        const char *end = strchr(p, ' ');
        size_t n = end != NULL ? (size_t)(end - p) : strlen(p);
        if (td_str_eq(name, (td_str){ p, n }))
            return i;
        p += n + (end != NULL);
    }
    return b->max;
}

/* Whether the arguments of n can be laid out by position without reordering their evaluation:
 * keywords, if any, name later and later parameters. */
static bool binds_in_order(const jj_compiler *c, const jj_node *n, const jj_builtin *b)
{
    uint32_t next = n->list[0].count;
    if (n->b != NULL || n->c != NULL || next > b->max)
        return false;
    for (uint32_t i = 0; i < n->list[1].count; i++) {
        uint32_t at = parameter_index(b, jj_name_text(c->names, n->list[1].items[i]->name));
        if (at == b->max || at < next)
            return false;
        next = at + 1;
    }
    return next >= b->min;
}

static td_code compile_bound(jj_compiler *c, jj_node *n, const jj_frame_info *f,
                             const jj_builtin *b, uint32_t *ret_count)
{
    uint32_t next = n->list[0].count;
    TD_TRY(compile_all(c, &n->list[0], f));
    for (uint32_t i = 0; i < n->list[1].count; i++) {
        jj_node *kw = n->list[1].items[i];
        uint32_t at = parameter_index(b, jj_name_text(c->names, kw->name));
        for (; next < at; next++)
            TD_TRY(jj_emit(c, JJ_O_ABSENT, 0, 0, 0));
        TD_TRY(jj_compile_expr(c, kw->a, f));
        next++;
    }
    *ret_count = next;
    return TD_OK;
}

/* A filter or test that does not exist: an error now, or where it is reached. */
static td_code compile_unknown(jj_compiler *c, jj_node *n, const jj_frame_info *f,
                               const char *what)
{
    td_str name = jj_name_text(c->names, n->name);
    int len = (int)(name.len < 100 ? name.len : 100);
    uint32_t depth = c->unit->depth - (n->a == NULL), k;
    if (!f->soft)
        return jj_compile_error(c, n->at, "there is no %s '%.*s'", what, len, name.ptr);
    TD_TRY(jj_add_warning(c, n->at, what, name));
    if (n->a != NULL)
        TD_TRY(jj_compile_expr(c, n->a, f));
    TD_TRY(compile_dynamic(c, n, f, JJ_NO_SLOT));
    td_str text = c->t->warnings[c->t->warning_count - 1].message;
    TD_TRY(jj_add_const(c, td_string(text), &k));
    c->at = n->at;
    TD_TRY(jj_emit(c, JJ_O_RAISE, JJ_RUNTIME_ERROR, 0, k));
    c->unit->depth = depth;
    return jj_emit_const(c, td_none());
}

static td_code compile_named(jj_compiler *c, jj_node *n, const jj_frame_info *f, bool is_test)
{
    td_str name = jj_name_text(c->names, n->name);
    const jj_builtin *b = is_test ? jj_find_test(name) : jj_find_filter(name);
    uint32_t index, count;
    bool dict;
    TD_TRY(check_keywords(c, n, false, &dict));
    if (b == NULL)
        return compile_unknown(c, n, f, is_test ? "test" : "filter");
    TD_TRY(jj_add_builtin(c, b, &index));
    if (n->a != NULL)
        TD_TRY(jj_compile_expr(c, n->a, f));
    if (!dict && binds_in_order(c, n, b)) {
        TD_TRY(compile_bound(c, n, f, b, &count));
        c->at = n->at;
        return jj_emit(c, is_test ? JJ_O_TEST : JJ_O_FILTER, 0, count, index);
    }
    TD_TRY(compile_dynamic(c, n, f, JJ_NO_SLOT));
    c->at = n->at;
    return jj_emit(c, JJ_O_FILTER_DYN, is_test, 0, index);
}

td_code jj_compile_filter(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    return compile_named(c, n, f, false);
}

td_code jj_compile_test(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    return compile_named(c, n, f, true);
}

/* ---- calls ---- */

static bool may_call(const jj_node *n)
{
    uint32_t i = 0;
    if (n->kind == JJ_N_CALL || n->kind == JJ_N_FILTER)
        return true;
    for (const jj_node *child; (child = jj_child(n, &i)) != NULL;)
        if (may_call(child))
            return true;
    return false;
}

/* x.name(arguments) without a bound method in between. The receiver's attribute is looked up
 * before the arguments are computed in the reference, so these must not be able to raise an
 * exception of their own making. */
static bool is_method_call(const jj_node *n)
{
    if (n->a->kind != JJ_N_GETATTR || n->list[1].count != 0 || n->b != NULL || n->c != NULL)
        return false;
    for (uint32_t i = 0; i < n->list[0].count; i++)
        if (may_call(n->list[0].items[i]))
            return false;
    return n->list[0].count < UINT8_MAX;
}

static td_code compile_method(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    uint32_t attr;
    TD_TRY(jj_compile_expr(c, n->a->a, f));
    TD_TRY(jj_add_attr(c, n->a->attr, &attr));
    TD_TRY(compile_all(c, &n->list[0], f));
    c->at = n->a->at;
    return jj_emit(c, JJ_O_METHOD, 0, n->list[0].count, attr);
}

static td_code keyword_names(jj_compiler *c, const jj_node *n, bool with_caller, uint32_t *ret)
{
    uint32_t count = n->list[1].count;
    td_value *names = td_arena_array(c->arena, td_value, count + 1);
    if (names == NULL)
        return jj_compile_nomem(c);
    for (uint32_t i = 0; i < count; i++)
        names[i] = jj_name_key(c->names, n->list[1].items[i]->name);
    if (with_caller)
        names[count++] = jj_name_key(c->names, c->name_caller);
    return jj_add_const(c, td_tuple_of(names, count), ret);
}

td_code jj_compile_call(jj_compiler *c, jj_node *n, const jj_frame_info *f, bool with_caller)
{
    /* with_caller: the macro of the call block is the last function that was compiled, see there */
    uint32_t func = with_caller ? c->caller_func : JJ_NO_SLOT, names = 0;
    uint32_t keywords = n->list[1].count + with_caller;
    bool dict;
    TD_TRY(check_keywords(c, n, with_caller, &dict));
    if (!with_caller && is_method_call(n))
        return compile_method(c, n, f);
    TD_TRY(jj_compile_expr(c, n->a, f));
    if (dict || n->b != NULL || n->c != NULL || keywords > UINT8_MAX) {
        TD_TRY(compile_dynamic(c, n, f, func));
        c->at = n->at;
        return jj_emit(c, JJ_O_CALL_DYN, 0, 0, 0);
    }
    TD_TRY(compile_all(c, &n->list[0], f));
    for (uint32_t i = 0; i < n->list[1].count; i++)
        TD_TRY(jj_compile_expr(c, n->list[1].items[i]->a, f));
    if (with_caller)
        TD_TRY(jj_emit(c, JJ_O_MACRO, 0, 0, func));
    if (keywords != 0)
        TD_TRY(keyword_names(c, n, with_caller, &names));
    c->at = n->at;
    return jj_emit(c, JJ_O_CALL, keywords, n->list[0].count, names);
}
