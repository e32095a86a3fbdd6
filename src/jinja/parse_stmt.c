/* parse_stmt.c - statements: one function per tag, found by a table, and what the parser's two
 * files share. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "jinja/parser.h"
#include "unicode/unicode.h"

typedef td_code (*parse_fn)(jj_parser *p, jj_node **ret);

/* ---- shared ---- */

td_code jj_syntax(jj_parser *p, uint32_t at, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return td_fail_at(p->err, TD_E_TEMPLATE, at, "%s", text);
}

td_code jj_node_new(jj_parser *p, jj_kind kind, uint32_t at, jj_node **ret)
{
    jj_node *n = td_arena_new(p->arena, jj_node);
    if (n == NULL)
        return td_arena_fail(p->arena, p->err);
    *n = (jj_node){ .kind = (uint8_t)kind, .at = at };
    *ret = n;
    return TD_OK;
}

td_code jj_push(jj_parser *p, jj_nodes *l, jj_node *n)
{
    return jj_nodes_push(p->arena, l, n) ? TD_OK : td_arena_fail(p->arena, p->err);
}

td_code jj_enter_depth(jj_parser *p)
{
    if (++p->depth > JJ_PARSE_DEPTH_MAX)
        return td_fail_at(p->err, TD_E_LIMIT, p->cur->at, "more than %d levels of nesting",
                          JJ_PARSE_DEPTH_MAX);
    return TD_OK;
}

td_str jj_token_text(const jj_parser *p, const jj_token *t)
{
    return (td_str){ p->source.ptr + t->at, t->end - t->at };
}

td_code jj_advance(jj_parser *p)
{
    if (p->cur->kind != JJ_T_EOF)
        p->cur++;
    if (p->cur->kind == JJ_T_ERROR)
        return jj_syntax(p, p->cur->at, "%s", p->tokens->error);
    return TD_OK;
}

td_code jj_expected(jj_parser *p, const char *what)
{
    const jj_token *t = p->cur;
    if (t->kind != JJ_T_NAME)
        return jj_syntax(p, t->at, "expected %s, got %s%s%s", what,
                         t->kind > JJ_T_FLOAT ? "'" : "", jj_token_name(t->kind),
                         t->kind > JJ_T_FLOAT ? "'" : "");
    td_str text = jj_token_text(p, t);
    return jj_syntax(p, t->at, "expected %s, got '%.*s'", what,
                     (int)(text.len < 60 ? text.len : 60), text.ptr);
}

static bool token_is(const jj_parser *p, const jj_token *t, const char *name)
{
    return t->kind == JJ_T_NAME && td_str_eq(jj_token_text(p, t), td_str_from(name));
}

bool jj_at_name(const jj_parser *p, const char *name)
{
    return token_is(p, p->cur, name);
}

bool jj_next_is_name(const jj_parser *p, const char *name)
{
    return p->cur->kind != JJ_T_EOF && token_is(p, p->cur + 1, name);
}

td_code jj_skip_name(jj_parser *p, const char *name, bool *ret)
{
    *ret = jj_at_name(p, name);
    return *ret ? jj_advance(p) : TD_OK;
}

td_code jj_expect(jj_parser *p, jj_token_kind kind)
{
    if (p->cur->kind == kind)
        return jj_advance(p);
    char what[64];
    snprintf(what, sizeof what, kind > JJ_T_FLOAT ? "'%s'" : "%s", jj_token_name(kind));
    return jj_expected(p, what);
}

td_code jj_expect_name(jj_parser *p, uint32_t *ret_id)
{
    if (p->cur->kind != JJ_T_NAME)
        return jj_expected(p, "a name");
    *ret_id = jj_intern(p->names, jj_token_text(p, p->cur));
    if (*ret_id == 0)
        return td_arena_fail(p->arena, p->err);
    return jj_advance(p);
}

static td_code expect_word(jj_parser *p, const char *word)
{
    bool found;
    TD_TRY(jj_skip_name(p, word, &found));
    char what[32];
    snprintf(what, sizeof what, "'%s'", word);
    return found ? TD_OK : jj_expected(p, what);
}

/* ---- assignment targets ---- */

/* Marks all names below n; false when something in it cannot be assigned to. */
static bool make_target(jj_node *n, jj_use use)
{
    n->use = (uint8_t)use;
    if (n->kind == JJ_N_NAME || n->kind == JJ_N_NS_REF)
        return true;
    if (n->kind != JJ_N_TUPLE)
        return false;
    for (uint32_t i = 0; i < n->list[0].count; i++)
        if (!make_target(n->list[0].items[i], use))
            return false;
    return true;
}

td_code jj_parse_target(jj_parser *p, jj_target_mode mode, jj_use use, jj_node **ret)
{
    if (mode == JJ_TARGET_NAME) {
        td_str text = jj_token_text(p, p->cur);
        static const char *const reserved[] = { "true", "false", "none",
                                                "True", "False", "None" };
        for (size_t i = 0; p->cur->kind == JJ_T_NAME && i < 6; i++)
            if (td_str_eq(text, td_str_from(reserved[i])))
                return jj_syntax(p, p->cur->at, "cannot assign to '%s'", reserved[i]);
        TD_TRY(jj_node_new(p, JJ_N_NAME, p->cur->at, ret));
        (*ret)->use = (uint8_t)use;
        return jj_expect_name(p, &(*ret)->name);
    }
    uint32_t at = p->cur->at;
    jj_tuple_mode tuple = { .simplified = true, .with_namespace = mode == JJ_TARGET_NAMESPACE };
    TD_TRY(jj_parse_tuple(p, tuple, ret));
    if (!make_target(*ret, use))
        return jj_syntax(p, at, "cannot assign to this %s", jj_kind_name((*ret)->kind));
    return TD_OK;
}

/* ---- bodies ---- */

static td_code parse_body(jj_parser *p, const char *const *end_tags, jj_nodes *ret);

/* Of the tags that may follow, the one that ends the statement. */
static const char *closing_tag(const char *const *tags)
{
    while (strncmp(*tags, "end", 3) != 0)
        tags++;
    return *tags;
}

/* ":" (tolerated), the end of the tag, statements up to one of the end tags; the current token is
 * then the name of that tag. */
static td_code parse_statements(jj_parser *p, const char *const *end_tags, jj_nodes *ret)
{
    if (p->cur->kind == JJ_T_COLON)
        TD_TRY(jj_advance(p));
    TD_TRY(jj_expect(p, JJ_T_BLOCK_END));
    const char *const *outer = p->end_tags;
    p->end_tags = end_tags;
    TD_TRY(jj_enter_depth(p));
    TD_TRY(parse_body(p, end_tags, ret));
    p->depth--;
    p->end_tags = outer;
    if (p->cur->kind == JJ_T_EOF)
        return jj_syntax(p, p->cur->at, "unexpected end of template, '%s' is missing",
                         closing_tag(end_tags));
    return TD_OK;
}

/* The same for a statement with one end tag, which is skipped. */
static td_code parse_until(jj_parser *p, const char *end_tag, jj_nodes *ret)
{
    const char *const tags[] = { end_tag, NULL };
    TD_TRY(parse_statements(p, tags, ret));
    return jj_advance(p);
}

/* ---- statements ---- */

static td_code parse_set(jj_parser *p, jj_node **ret)
{
    uint32_t at = p->cur->at;
    jj_node *target;
    TD_TRY(jj_advance(p));
    TD_TRY(jj_parse_target(p, JJ_TARGET_NAMESPACE, JJ_STORE, &target));
    bool assign = p->cur->kind == JJ_T_ASSIGN;
    TD_TRY(jj_node_new(p, assign ? JJ_N_ASSIGN : JJ_N_ASSIGN_BLOCK, at, ret));
    (*ret)->a = target;
    if (assign) {
        TD_TRY(jj_advance(p));
        return jj_parse_tuple(p, (jj_tuple_mode){ 0 }, &(*ret)->b);
    }
    TD_TRY(jj_parse_filters(p, NULL, false, &(*ret)->b));
    return parse_until(p, "endset", &(*ret)->list[0]);
}

static td_code parse_for(jj_parser *p, jj_node **ret)
{
    static const char *const body_ends[] = { "endfor", "else", NULL };
    bool found;
    TD_TRY(jj_node_new(p, JJ_N_FOR, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    TD_TRY(jj_parse_target(p, JJ_TARGET_ANY, JJ_STORE, &(*ret)->a));
    TD_TRY(expect_word(p, "in"));
    TD_TRY(jj_parse_tuple(p, (jj_tuple_mode){ .no_cond = true }, &(*ret)->b));
    TD_TRY(jj_skip_name(p, "if", &found));
    if (found)
        TD_TRY(jj_parse_expression(p, true, &(*ret)->c));
    TD_TRY(jj_skip_name(p, "recursive", &found));
    if (found)
        (*ret)->flags |= JJ_F_RECURSIVE;
    TD_TRY(parse_statements(p, body_ends, &(*ret)->list[0]));
    TD_TRY(jj_skip_name(p, "endfor", &found));
    if (found)
        return TD_OK;
    TD_TRY(jj_advance(p));
    return parse_until(p, "endfor", &(*ret)->list[1]);
}

static td_code parse_if(jj_parser *p, jj_node **ret)
{
    static const char *const ends[] = { "elif", "else", "endif", NULL };
    TD_TRY(jj_node_new(p, JJ_N_IF, p->cur->at, ret));
    jj_node *node = *ret;
    TD_TRY(jj_advance(p));
    for (;;) {
        TD_TRY(jj_parse_tuple(p, (jj_tuple_mode){ .no_cond = true }, &node->a));
        TD_TRY(parse_statements(p, ends, &node->list[0]));
        bool elif = jj_at_name(p, "elif"), otherwise = jj_at_name(p, "else");
        TD_TRY(jj_advance(p));
        if (otherwise)
            return parse_until(p, "endif", &(*ret)->list[2]);
        if (!elif)
            return TD_OK;
        TD_TRY(jj_node_new(p, JJ_N_IF, p->cur->at, &node));
        TD_TRY(jj_push(p, &(*ret)->list[1], node));
    }
}

static td_code parse_with(jj_parser *p, jj_node **ret)
{
    TD_TRY(jj_node_new(p, JJ_N_WITH, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    while (p->cur->kind != JJ_T_BLOCK_END) {
        jj_node *target, *value;
        if ((*ret)->list[0].count != 0)
            TD_TRY(jj_expect(p, JJ_T_COMMA));
        TD_TRY(jj_parse_target(p, JJ_TARGET_ANY, JJ_PARAM, &target));
        TD_TRY(jj_expect(p, JJ_T_ASSIGN));
        TD_TRY(jj_parse_expression(p, true, &value));
        TD_TRY(jj_push(p, &(*ret)->list[0], target));
        TD_TRY(jj_push(p, &(*ret)->list[1], value));
    }
    return parse_until(p, "endwith", &(*ret)->list[2]);
}

static td_code parse_autoescape(jj_parser *p, jj_node **ret)
{
    jj_node *modifier = NULL;
    TD_TRY(jj_node_new(p, JJ_N_SCOPE, p->cur->at, ret));
    TD_TRY(jj_node_new(p, JJ_N_AUTOESCAPE, p->cur->at, &modifier));
    TD_TRY(jj_push(p, &(*ret)->list[0], modifier));
    TD_TRY(jj_advance(p));
    TD_TRY(jj_parse_expression(p, true, &modifier->a));
    return parse_until(p, "endautoescape", &modifier->list[0]);
}

static bool is_blank(const jj_node *n)
{
    for (uint32_t i = 0; i < n->list[0].count; i++) {
        const jj_node *item = n->list[0].items[i];
        if (item->kind != JJ_N_DATA || td_py_lstrip(td_as_str(item->value)).len != 0)
            return false;
    }
    return n->kind == JJ_N_OUTPUT;
}

static td_code parse_block(jj_parser *p, jj_node **ret)
{
    bool found;
    TD_TRY(jj_node_new(p, JJ_N_BLOCK, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    TD_TRY(jj_expect_name(p, &(*ret)->name));
    TD_TRY(jj_skip_name(p, "scoped", &found));
    if (found)
        (*ret)->flags |= JJ_F_SCOPED;
    TD_TRY(jj_skip_name(p, "required", &found));
    if (found)
        (*ret)->flags |= JJ_F_REQUIRED;
    if (p->cur->kind == JJ_T_SUB)
        return jj_syntax(p, p->cur->at, "a block name may not contain '-'");
    uint32_t at = p->cur->at;
    TD_TRY(parse_until(p, "endblock", &(*ret)->list[0]));
    for (uint32_t i = 0; ((*ret)->flags & JJ_F_REQUIRED) && i < (*ret)->list[0].count; i++)
        if (!is_blank((*ret)->list[0].items[i]))
            return jj_syntax(p, at, "a required block may hold comments and white space only");
    if (p->cur->kind == JJ_T_NAME &&
        td_str_eq(jj_token_text(p, p->cur), jj_name_text(p->names, (*ret)->name)))
        return jj_advance(p);
    return TD_OK;
}

static td_code parse_extends(jj_parser *p, jj_node **ret)
{
    TD_TRY(jj_node_new(p, JJ_N_EXTENDS, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    return jj_parse_expression(p, true, &(*ret)->a);
}

/* "with context" or "without context", which change nothing as nothing can be loaded. */
static td_code skip_context(jj_parser *p, bool *ret)
{
    *ret = (jj_at_name(p, "with") || jj_at_name(p, "without")) && jj_next_is_name(p, "context");
    if (!*ret)
        return TD_OK;
    TD_TRY(jj_advance(p));
    return jj_advance(p);
}

static td_code parse_include(jj_parser *p, jj_node **ret)
{
    bool found;
    TD_TRY(jj_node_new(p, JJ_N_INCLUDE, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    TD_TRY(jj_parse_expression(p, true, &(*ret)->a));
    if (jj_at_name(p, "ignore") && jj_next_is_name(p, "missing")) {
        (*ret)->flags |= JJ_F_MISSING;
        TD_TRY(jj_advance(p));
        TD_TRY(jj_advance(p));
    }
    return skip_context(p, &found);
}

static td_code parse_import(jj_parser *p, jj_node **ret)
{
    bool found;
    jj_node *target;
    TD_TRY(jj_node_new(p, JJ_N_IMPORT, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    TD_TRY(jj_parse_expression(p, true, &(*ret)->a));
    TD_TRY(expect_word(p, "as"));
    TD_TRY(jj_parse_target(p, JJ_TARGET_NAME, JJ_STORE, &target));
    TD_TRY(jj_push(p, &(*ret)->list[0], target));
    return skip_context(p, &found);
}

static td_code parse_from(jj_parser *p, jj_node **ret)
{
    bool done = false;
    TD_TRY(jj_node_new(p, JJ_N_FROM_IMPORT, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    TD_TRY(jj_parse_expression(p, true, &(*ret)->a));
    TD_TRY(expect_word(p, "import"));
    for (;;) {
        jj_node *target;
        if ((*ret)->list[0].count != 0)
            TD_TRY(jj_expect(p, JJ_T_COMMA));
        TD_TRY(skip_context(p, &done));
        if (done)
            return TD_OK;
        uint32_t at = p->cur->at;
        TD_TRY(jj_parse_target(p, JJ_TARGET_NAME, JJ_STORE, &target));
        if (jj_name_text(p->names, target->name).ptr[0] == '_')
            return jj_syntax(p, at, "names that begin with '_' cannot be imported");
        TD_TRY(jj_skip_name(p, "as", &done));
        if (done)
            TD_TRY(jj_parse_target(p, JJ_TARGET_NAME, JJ_STORE, &target));
        TD_TRY(jj_push(p, &(*ret)->list[0], target));
        TD_TRY(skip_context(p, &done));
        if (done || p->cur->kind != JJ_T_COMMA)
            return TD_OK;
    }
}

static td_code parse_signature(jj_parser *p, jj_node *n, jj_nodes *args, jj_nodes *defaults)
{
    (void)n;
    TD_TRY(jj_expect(p, JJ_T_LPAREN));
    while (p->cur->kind != JJ_T_RPAREN) {
        jj_node *arg, *value;
        if (args->count != 0)
            TD_TRY(jj_expect(p, JJ_T_COMMA));
        TD_TRY(jj_parse_target(p, JJ_TARGET_NAME, JJ_PARAM, &arg));
        if (p->cur->kind == JJ_T_ASSIGN) {
            TD_TRY(jj_advance(p));
            TD_TRY(jj_parse_expression(p, true, &value));
            TD_TRY(jj_push(p, defaults, value));
        } else if (defaults->count != 0) {
            return jj_syntax(p, p->cur->at, "a parameter without default follows one with");
        }
        TD_TRY(jj_push(p, args, arg));
    }
    return jj_advance(p);
}

static td_code parse_call_block(jj_parser *p, jj_node **ret)
{
    uint32_t at = p->cur->at;
    TD_TRY(jj_node_new(p, JJ_N_CALL_BLOCK, at, ret));
    TD_TRY(jj_advance(p));
    if (p->cur->kind == JJ_T_LPAREN)
        TD_TRY(parse_signature(p, *ret, &(*ret)->list[0], &(*ret)->list[1]));
    TD_TRY(jj_parse_expression(p, true, &(*ret)->a));
    if ((*ret)->a->kind != JJ_N_CALL)
        return jj_syntax(p, at, "expected a call");
    return parse_until(p, "endcall", &(*ret)->list[2]);
}

static td_code parse_filter_block(jj_parser *p, jj_node **ret)
{
    TD_TRY(jj_node_new(p, JJ_N_FILTER_BLOCK, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    TD_TRY(jj_parse_filters(p, NULL, true, &(*ret)->a));
    return parse_until(p, "endfilter", &(*ret)->list[0]);
}

static td_code parse_macro(jj_parser *p, jj_node **ret)
{
    jj_node *name;
    TD_TRY(jj_node_new(p, JJ_N_MACRO, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    TD_TRY(jj_parse_target(p, JJ_TARGET_NAME, JJ_STORE, &name));
    (*ret)->name = name->name;
    TD_TRY(parse_signature(p, *ret, &(*ret)->list[0], &(*ret)->list[1]));
    return parse_until(p, "endmacro", &(*ret)->list[2]);
}

static td_code parse_print(jj_parser *p, jj_node **ret)
{
    TD_TRY(jj_node_new(p, JJ_N_OUTPUT, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    while (p->cur->kind != JJ_T_BLOCK_END) {
        jj_node *item;
        if ((*ret)->list[0].count != 0)
            TD_TRY(jj_expect(p, JJ_T_COMMA));
        TD_TRY(jj_parse_expression(p, true, &item));
        TD_TRY(jj_push(p, &(*ret)->list[0], item));
    }
    return TD_OK;
}

static td_code parse_generation(jj_parser *p, jj_node **ret)
{
    TD_TRY(jj_node_new(p, JJ_N_GENERATION, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    return parse_until(p, "endgeneration", &(*ret)->list[2]);
}

static td_code parse_break(jj_parser *p, jj_node **ret)
{
    TD_TRY(jj_node_new(p, JJ_N_BREAK, p->cur->at, ret));
    return jj_advance(p);
}

static td_code parse_continue(jj_parser *p, jj_node **ret)
{
    TD_TRY(jj_node_new(p, JJ_N_CONTINUE, p->cur->at, ret));
    return jj_advance(p);
}

static const struct tag {
    const char *name;
    parse_fn parse;
} tags[] = {
    { "if", parse_if },
    { "for", parse_for },
    { "set", parse_set },
    { "macro", parse_macro },
    { "generation", parse_generation },
    { "break", parse_break },
    { "continue", parse_continue },
    { "call", parse_call_block },
    { "filter", parse_filter_block },
    { "with", parse_with },
    { "block", parse_block },
    { "print", parse_print },
    { "autoescape", parse_autoescape },
    { "extends", parse_extends },
    { "include", parse_include },
    { "import", parse_import },
    { "from", parse_from },
};

static td_code unknown_tag(jj_parser *p)
{
    td_str text = jj_token_text(p, p->cur);
    int n = (int)(text.len < 60 ? text.len : 60);
    if (p->end_tags == NULL)
        return jj_syntax(p, p->cur->at, "unknown tag '%.*s'", n, text.ptr);
    return jj_syntax(p, p->cur->at, "unknown tag '%.*s', expected '%s'", n, text.ptr,
                     closing_tag(p->end_tags));
}

static td_code parse_statement(jj_parser *p, jj_node **ret)
{
    if (p->cur->kind != JJ_T_NAME)
        return jj_expected(p, "a tag name");
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (jj_at_name(p, tags[i].name))
            return tags[i].parse(p, ret);
    return unknown_tag(p);
}

static bool at_end_tag(const jj_parser *p, const char *const *end_tags)
{
    for (; end_tags != NULL && *end_tags != NULL; end_tags++)
        if (jj_at_name(p, *end_tags))
            return true;
    return false;
}

/* Adds a piece of output to the output statement that body ends with, or to a new one. */
static td_code add_output(jj_parser *p, jj_nodes *body, bool *open, jj_node *piece)
{
    if (!*open) {
        jj_node *output = NULL;
        TD_TRY(jj_node_new(p, JJ_N_OUTPUT, piece->at, &output));
        TD_TRY(jj_push(p, body, output));
        *open = true;
    }
    return jj_push(p, &body->items[body->count - 1]->list[0], piece);
}

static td_code parse_body(jj_parser *p, const char *const *end_tags, jj_nodes *ret)
{
    bool open = false;
    jj_node *node;
    while (p->cur->kind != JJ_T_EOF) {
        switch (p->cur->kind) {
        case JJ_T_DATA:
            TD_TRY(jj_node_new(p, JJ_N_DATA, p->cur->at, &node));
            node->value = td_string(jj_token_text(p, p->cur));
            TD_TRY(add_output(p, ret, &open, node));
            TD_TRY(jj_advance(p));
            break;
        case JJ_T_VAR_BEGIN:
            TD_TRY(jj_advance(p));
            TD_TRY(jj_parse_tuple(p, (jj_tuple_mode){ 0 }, &node));
            TD_TRY(add_output(p, ret, &open, node));
            TD_TRY(jj_expect(p, JJ_T_VAR_END));
            break;
        case JJ_T_BLOCK_BEGIN:
            open = false;
            TD_TRY(jj_advance(p));
            if (at_end_tag(p, end_tags))
                return TD_OK;
            TD_TRY(parse_statement(p, &node));
            TD_TRY(jj_push(p, ret, node));
            TD_TRY(jj_expect(p, JJ_T_BLOCK_END));
            break;
        default:
            return jj_expected(p, "template text or a tag");
        }
    }
    return TD_OK;
}

/* Chains such as a + b + c + ... make deep trees without deep parsing. What walks the tree later is
 * recursive, so the height is bounded here, by a walk that is not. */
static td_code check_height(jj_parser *p, const jj_node *root)
{
    enum { HEIGHT_MAX = 1000 };
    const jj_node *path[HEIGHT_MAX];
    uint32_t next[HEIGHT_MAX], n = 1;
    path[0] = root;
    next[0] = 0;
    while (n != 0) {
        const jj_node *child = jj_child(path[n - 1], &next[n - 1]);
        if (child == NULL) {
            n--;
            continue;
        }
        if (n == HEIGHT_MAX)
            return td_fail_at(p->err, TD_E_LIMIT, child->at, "more than %d levels of nesting",
                              HEIGHT_MAX);
        path[n] = child;
        next[n++] = 0;
    }
    return TD_OK;
}

td_code jj_parse(td_arena *a, jj_names *names, td_str source, const jj_tokens *tokens,
                 jj_node **ret, td_error *err)
{
    jj_parser p = { .arena = a, .names = names, .source = source, .tokens = tokens,
                    .cur = tokens->items, .err = err };
    if (p.cur->kind == JJ_T_ERROR)
        return jj_syntax(&p, p.cur->at, "%s", tokens->error);
    TD_TRY(jj_node_new(&p, JJ_N_TEMPLATE, 0, ret));
    TD_TRY(parse_body(&p, NULL, &(*ret)->list[0]));
    return check_height(&p, *ret);
}
