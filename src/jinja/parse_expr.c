/* parse_expr.c - expressions, by recursive descent with one function per level of precedence.
 *
 * The order of levels is the reference's, with its surprises: "~" between "+" and "*", "**" left
 * associative and looser than a sign, filters and tests applied to the signed operand. Depth is
 * bounded, so hostile nesting is an error. */
#include <string.h>

#include "base/str.h"
#include "jinja/parser.h"
#include "jinja/vm.h"
#include "value/bigint.h"
#include "value/number.h"

static td_code parse_or(jj_parser *p, jj_node **ret);
static td_code parse_unary(jj_parser *p, bool with_filter, jj_node **ret);

static bool at(const jj_parser *p, jj_token_kind kind)
{
    return p->cur->kind == kind;
}

static td_code binary(jj_parser *p, jj_kind kind, uint8_t op, uint32_t where, jj_node *left,
                      jj_node *right, jj_node **ret)
{
    TD_TRY(jj_node_new(p, kind, where, ret));
    (*ret)->op = op;
    (*ret)->a = left;
    (*ret)->b = right;
    return TD_OK;
}

/* ---- literals ---- */

enum { INT_DIGITS_MAX = 4300 }; /* what the reference's int() accepts in base 10 */

static td_code parse_number(jj_parser *p, jj_node **ret)
{
    jj_token t = *p->cur;
    td_str text = jj_token_text(p, &t);
    char *plain = td_arena_alloc(p->arena, text.len + 1, 1);
    if (plain == NULL)
        return td_arena_fail(p->arena, p->err);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != '_')
            plain[n++] = text.ptr[i];
    td_str digits = { plain, n };
    TD_TRY(jj_node_new(p, JJ_N_CONST, t.at, ret));
    if (t.kind == JJ_T_FLOAT) {
        double d = 0;
        if (!td_float_parse(digits, &d))
            return jj_syntax(p, t.at, "malformed number");
        (*ret)->value = td_float(d);
        return jj_advance(p);
    }
    unsigned base = 10;
    if (n > 2 && plain[0] == '0') {
        char x = (char)(plain[1] | 0x20);
        base = x == 'x' ? 16 : x == 'o' ? 8 : x == 'b' ? 2 : 10;
        if (base != 10)
            digits = td_str_from_offset(digits, 2);
    }
    if (base == 10 && n > INT_DIGITS_MAX)
        return jj_syntax(p, t.at, "integer literal with more than %d digits", INT_DIGITS_MAX);
    if (!td_bigint_parse(p->arena, digits, base, &(*ret)->value))
        return td_arena_fail(p->arena, p->err);
    return jj_advance(p);
}

static td_code parse_string(jj_parser *p, jj_node **ret)
{
    TD_TRY(jj_node_new(p, JJ_N_CONST, p->cur->at, ret));
    td_str text;
    TD_TRY(jj_unescape(p->arena, p->source, *p->cur, &text, p->err));
    TD_TRY(jj_advance(p));
    while (at(p, JJ_T_STRING)) {
        td_str more;
        TD_TRY(jj_unescape(p->arena, p->source, *p->cur, &more, p->err));
        char *both = td_arena_alloc(p->arena, text.len + more.len + 1, 1);
        if (both == NULL)
            return td_arena_fail(p->arena, p->err);
        memcpy(both, text.ptr, text.len);
        memcpy(both + text.len, more.ptr, more.len);
        text = (td_str){ both, text.len + more.len };
        TD_TRY(jj_advance(p));
    }
    (*ret)->value = td_string(text);
    return TD_OK;
}

static td_code parse_list(jj_parser *p, jj_node **ret)
{
    TD_TRY(jj_node_new(p, JJ_N_LIST, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    while (!at(p, JJ_T_RBRACKET)) {
        if ((*ret)->list[0].count != 0) {
            TD_TRY(jj_expect(p, JJ_T_COMMA));
            if (at(p, JJ_T_RBRACKET))
                break;
        }
        jj_node *item;
        TD_TRY(jj_parse_expression(p, true, &item));
        TD_TRY(jj_push(p, &(*ret)->list[0], item));
    }
    return jj_expect(p, JJ_T_RBRACKET);
}

static td_code parse_dict(jj_parser *p, jj_node **ret)
{
    TD_TRY(jj_node_new(p, JJ_N_DICT, p->cur->at, ret));
    TD_TRY(jj_advance(p));
    while (!at(p, JJ_T_RBRACE)) {
        if ((*ret)->list[0].count != 0) {
            TD_TRY(jj_expect(p, JJ_T_COMMA));
            if (at(p, JJ_T_RBRACE))
                break;
        }
        jj_node *pair;
        TD_TRY(jj_node_new(p, JJ_N_PAIR, p->cur->at, &pair));
        TD_TRY(jj_parse_expression(p, true, &pair->a));
        TD_TRY(jj_expect(p, JJ_T_COLON));
        TD_TRY(jj_parse_expression(p, true, &pair->b));
        TD_TRY(jj_push(p, &(*ret)->list[0], pair));
    }
    return jj_expect(p, JJ_T_RBRACE);
}

static bool is_text(td_str s, const char *text)
{
    return td_str_eq(s, td_str_from(text));
}

static td_code parse_name(jj_parser *p, bool with_namespace, jj_node **ret)
{
    jj_token t = *p->cur;
    td_str text = jj_token_text(p, &t);
    TD_TRY(jj_advance(p));
    bool yes = is_text(text, "true") || is_text(text, "True");
    if (yes || is_text(text, "false") || is_text(text, "False") || is_text(text, "none") ||
        is_text(text, "None")) {
        TD_TRY(jj_node_new(p, JJ_N_CONST, t.at, ret));
        bool none = text.ptr[0] == 'n' || text.ptr[0] == 'N';
        (*ret)->value = none ? td_none() : td_bool(yes);
        return TD_OK;
    }
    uint32_t id = jj_intern(p->names, text);
    if (id == 0)
        return td_arena_fail(p->arena, p->err);
    bool ns = with_namespace && at(p, JJ_T_DOT);
    TD_TRY(jj_node_new(p, ns ? JJ_N_NS_REF : JJ_N_NAME, t.at, ret));
    (*ret)->name = id;
    if (!ns)
        return TD_OK;
    TD_TRY(jj_advance(p));
    return jj_expect_name(p, &(*ret)->attr);
}

static td_code parse_primary(jj_parser *p, bool with_namespace, jj_node **ret)
{
    switch (p->cur->kind) {
    case JJ_T_NAME:
        return parse_name(p, with_namespace, ret);
    case JJ_T_STRING:
        return parse_string(p, ret);
    case JJ_T_INTEGER:
    case JJ_T_FLOAT:
        return parse_number(p, ret);
    case JJ_T_LPAREN:
        TD_TRY(jj_advance(p));
        TD_TRY(jj_parse_tuple(p, (jj_tuple_mode){ .explicit_parens = true }, ret));
        return jj_expect(p, JJ_T_RPAREN);
    case JJ_T_LBRACKET:
        return parse_list(p, ret);
    case JJ_T_LBRACE:
        return parse_dict(p, ret);
    default:
        return jj_expected(p, "an expression");
    }
}

/* ---- postfix: attributes, items, calls, filters, tests ---- */

static td_code parse_subscribed(jj_parser *p, jj_node **ret)
{
    uint32_t where = p->cur->at;
    jj_node *part[3] = { NULL, NULL, NULL };
    if (!at(p, JJ_T_COLON)) {
        TD_TRY(jj_parse_expression(p, true, &part[0]));
        if (!at(p, JJ_T_COLON)) {
            *ret = part[0];
            return TD_OK;
        }
    }
    TD_TRY(jj_advance(p));
    if (!at(p, JJ_T_COLON) && !at(p, JJ_T_RBRACKET) && !at(p, JJ_T_COMMA))
        TD_TRY(jj_parse_expression(p, true, &part[1]));
    if (at(p, JJ_T_COLON)) {
        TD_TRY(jj_advance(p));
        if (!at(p, JJ_T_RBRACKET) && !at(p, JJ_T_COMMA))
            TD_TRY(jj_parse_expression(p, true, &part[2]));
    }
    TD_TRY(jj_node_new(p, JJ_N_SLICE, where, ret));
    (*ret)->a = part[0];
    (*ret)->b = part[1];
    (*ret)->c = part[2];
    return TD_OK;
}

static td_code parse_subscript(jj_parser *p, jj_node *node, jj_node **ret)
{
    uint32_t where = p->cur->at;
    bool dot = at(p, JJ_T_DOT);
    TD_TRY(jj_advance(p));
    if (dot && at(p, JJ_T_NAME)) {
        TD_TRY(jj_node_new(p, JJ_N_GETATTR, where, ret));
        (*ret)->a = node;
        return jj_expect_name(p, &(*ret)->attr);
    }
    TD_TRY(jj_node_new(p, JJ_N_GETITEM, where, ret));
    (*ret)->a = node;
    if (dot) {
        if (!at(p, JJ_T_INTEGER))
            return jj_expected(p, "a name or number");
        return parse_number(p, &(*ret)->b);
    }
    jj_nodes args = { 0 };
    while (!at(p, JJ_T_RBRACKET)) {
        if (args.count != 0)
            TD_TRY(jj_expect(p, JJ_T_COMMA));
        jj_node *arg;
        TD_TRY(parse_subscribed(p, &arg));
        TD_TRY(jj_push(p, &args, arg));
    }
    TD_TRY(jj_advance(p));
    if (args.count == 1) {
        (*ret)->b = args.items[0];
        return TD_OK;
    }
    TD_TRY(jj_node_new(p, JJ_N_TUPLE, where, &(*ret)->b));
    (*ret)->b->list[0] = args;
    return TD_OK;
}

td_code jj_parse_call_args(jj_parser *p, jj_node *call)
{
    uint32_t where = p->cur->at;
    TD_TRY(jj_expect(p, JJ_T_LPAREN));
    bool comma = false, ok = true;
    while (!at(p, JJ_T_RPAREN)) {
        if (comma) {
            TD_TRY(jj_expect(p, JJ_T_COMMA));
            if (at(p, JJ_T_RPAREN))
                break;
        }
        if (at(p, JJ_T_MUL)) {
            ok = call->b == NULL && call->c == NULL;
            TD_TRY(jj_advance(p));
            TD_TRY(jj_parse_expression(p, true, &call->b));
        } else if (at(p, JJ_T_POW)) {
            ok = call->c == NULL;
            TD_TRY(jj_advance(p));
            TD_TRY(jj_parse_expression(p, true, &call->c));
        } else if (at(p, JJ_T_NAME) && p->cur[1].kind == JJ_T_ASSIGN) {
            ok = call->c == NULL;
            jj_node *kw;
            TD_TRY(jj_node_new(p, JJ_N_KEYWORD, p->cur->at, &kw));
            TD_TRY(jj_expect_name(p, &kw->name));
            TD_TRY(jj_advance(p));
            TD_TRY(jj_parse_expression(p, true, &kw->a));
            TD_TRY(jj_push(p, &call->list[1], kw));
        } else {
            ok = call->b == NULL && call->c == NULL && call->list[1].count == 0;
            jj_node *arg;
            TD_TRY(jj_parse_expression(p, true, &arg));
            TD_TRY(jj_push(p, &call->list[0], arg));
        }
        if (!ok)
            return jj_syntax(p, where, "arguments in the wrong order");
        comma = true;
    }
    return jj_advance(p);
}

static td_code parse_call(jj_parser *p, jj_node *node, jj_node **ret)
{
    TD_TRY(jj_node_new(p, JJ_N_CALL, p->cur->at, ret));
    (*ret)->a = node;
    return jj_parse_call_args(p, *ret);
}

static td_code parse_postfix(jj_parser *p, jj_node **node)
{
    for (;;) {
        if (at(p, JJ_T_DOT) || at(p, JJ_T_LBRACKET))
            TD_TRY(parse_subscript(p, *node, node));
        else if (at(p, JJ_T_LPAREN))
            TD_TRY(parse_call(p, *node, node));
        else
            return TD_OK;
    }
}

/* NAME or NAME.NAME...: what filters and tests are called. */
static td_code parse_dotted(jj_parser *p, uint32_t *ret)
{
    TD_TRY(jj_expect_name(p, ret));
    while (at(p, JJ_T_DOT)) {
        uint32_t part;
        TD_TRY(jj_advance(p));
        TD_TRY(jj_expect_name(p, &part));
        td_str x = jj_name_text(p->names, *ret), y = jj_name_text(p->names, part);
        char *both = td_arena_alloc(p->arena, x.len + y.len + 1, 1);
        if (both == NULL)
            return td_arena_fail(p->arena, p->err);
        memcpy(both, x.ptr, x.len);
        both[x.len] = '.';
        memcpy(both + x.len + 1, y.ptr, y.len);
        *ret = jj_intern(p->names, (td_str){ both, x.len + y.len + 1 });
        if (*ret == 0)
            return td_arena_fail(p->arena, p->err);
    }
    return TD_OK;
}

td_code jj_parse_filters(jj_parser *p, jj_node *node, bool start_inline, jj_node **ret)
{
    while (at(p, JJ_T_PIPE) || start_inline) {
        if (!start_inline)
            TD_TRY(jj_advance(p));
        start_inline = false;
        jj_node *filter;
        TD_TRY(jj_node_new(p, JJ_N_FILTER, p->cur->at, &filter));
        TD_TRY(parse_dotted(p, &filter->name));
        if (at(p, JJ_T_LPAREN))
            TD_TRY(jj_parse_call_args(p, filter));
        filter->a = node;
        node = filter;
    }
    *ret = node;
    return TD_OK;
}

static td_code parse_test(jj_parser *p, jj_node *node, jj_node **ret)
{
    uint32_t where = p->cur->at;
    bool negated = false;
    TD_TRY(jj_advance(p));
    TD_TRY(jj_skip_name(p, "not", &negated));
    jj_node *test;
    TD_TRY(jj_node_new(p, JJ_N_TEST, where, &test));
    test->a = node;
    TD_TRY(parse_dotted(p, &test->name));
    bool operand = at(p, JJ_T_NAME) || at(p, JJ_T_STRING) || at(p, JJ_T_INTEGER) ||
                   at(p, JJ_T_FLOAT) || at(p, JJ_T_LBRACKET) || at(p, JJ_T_LBRACE);
    if (at(p, JJ_T_LPAREN)) {
        TD_TRY(jj_parse_call_args(p, test));
    } else if (operand && !jj_at_name(p, "else") && !jj_at_name(p, "or") &&
               !jj_at_name(p, "and")) {
        if (jj_at_name(p, "is"))
            return jj_syntax(p, p->cur->at, "tests cannot be chained with 'is'");
        jj_node *arg;
        TD_TRY(parse_primary(p, false, &arg));
        TD_TRY(parse_postfix(p, &arg));
        TD_TRY(jj_push(p, &test->list[0], arg));
    }
    if (!negated) {
        *ret = test;
        return TD_OK;
    }
    return binary(p, JJ_N_NOT, 0, where, test, NULL, ret);
}

static td_code parse_filter_expr(jj_parser *p, jj_node **node)
{
    for (;;) {
        if (at(p, JJ_T_PIPE))
            TD_TRY(jj_parse_filters(p, *node, false, node));
        else if (jj_at_name(p, "is"))
            TD_TRY(parse_test(p, *node, node));
        else if (at(p, JJ_T_LPAREN))
            TD_TRY(parse_call(p, *node, node));
        else
            return TD_OK;
    }
}

/* ---- operators, tightest first ---- */

static td_code parse_unary(jj_parser *p, bool with_filter, jj_node **ret)
{
    uint32_t where = p->cur->at;
    if (at(p, JJ_T_SUB) || at(p, JJ_T_ADD)) {
        jj_kind kind = at(p, JJ_T_SUB) ? JJ_N_NEG : JJ_N_POS;
        jj_node *operand;
        TD_TRY(jj_enter_depth(p));
        TD_TRY(jj_advance(p));
        TD_TRY(parse_unary(p, false, &operand));
        p->depth--;
        TD_TRY(binary(p, kind, 0, where, operand, NULL, ret));
    } else {
        TD_TRY(parse_primary(p, false, ret));
    }
    TD_TRY(parse_postfix(p, ret));
    return with_filter ? parse_filter_expr(p, ret) : TD_OK;
}

static td_code parse_pow(jj_parser *p, jj_node **ret)
{
    uint32_t where = p->cur->at;
    TD_TRY(parse_unary(p, true, ret));
    while (at(p, JJ_T_POW)) {
        jj_node *right;
        TD_TRY(jj_advance(p));
        TD_TRY(parse_unary(p, true, &right));
        TD_TRY(binary(p, JJ_N_BINARY, JJ_POW, where, *ret, right, ret));
    }
    return TD_OK;
}

static td_code parse_product(jj_parser *p, jj_node **ret)
{
    uint32_t where = p->cur->at;
    TD_TRY(parse_pow(p, ret));
    for (;;) {
        jj_op op;
        switch (p->cur->kind) {
        case JJ_T_MUL: op = JJ_MUL; break;
        case JJ_T_DIV: op = JJ_DIV; break;
        case JJ_T_FLOORDIV: op = JJ_FLOORDIV; break;
        case JJ_T_MOD: op = JJ_MOD; break;
        default: return TD_OK;
        }
        jj_node *right;
        TD_TRY(jj_advance(p));
        TD_TRY(parse_pow(p, &right));
        TD_TRY(binary(p, JJ_N_BINARY, (uint8_t)op, where, *ret, right, ret));
    }
}

static td_code parse_concat(jj_parser *p, jj_node **ret)
{
    uint32_t where = p->cur->at;
    jj_node *first, *concat;
    TD_TRY(parse_product(p, &first));
    *ret = first;
    if (!at(p, JJ_T_TILDE))
        return TD_OK;
    TD_TRY(jj_node_new(p, JJ_N_CONCAT, where, &concat));
    TD_TRY(jj_push(p, &concat->list[0], first));
    while (at(p, JJ_T_TILDE)) {
        jj_node *next;
        TD_TRY(jj_advance(p));
        TD_TRY(parse_product(p, &next));
        TD_TRY(jj_push(p, &concat->list[0], next));
    }
    *ret = concat;
    return TD_OK;
}

static td_code parse_sum(jj_parser *p, jj_node **ret)
{
    uint32_t where = p->cur->at;
    TD_TRY(parse_concat(p, ret));
    while (at(p, JJ_T_ADD) || at(p, JJ_T_SUB)) {
        jj_op op = at(p, JJ_T_ADD) ? JJ_ADD : JJ_SUB;
        jj_node *right;
        TD_TRY(jj_advance(p));
        TD_TRY(parse_concat(p, &right));
        TD_TRY(binary(p, JJ_N_BINARY, (uint8_t)op, where, *ret, right, ret));
    }
    return TD_OK;
}

/* The comparison operator at the current token, skipped; false: there is none. */
static td_code skip_comparison(jj_parser *p, jj_cmp *ret_op, bool *ret)
{
    static const uint8_t ops[JJ_T_COUNT_] = {
        [JJ_T_EQ] = JJ_EQ + 1, [JJ_T_NE] = JJ_NE + 1, [JJ_T_LT] = JJ_LT + 1,
        [JJ_T_LTEQ] = JJ_LE + 1, [JJ_T_GT] = JJ_GT + 1, [JJ_T_GTEQ] = JJ_GE + 1,
    };
    *ret = true;
    if (ops[p->cur->kind] != 0) {
        *ret_op = (jj_cmp)(ops[p->cur->kind] - 1);
        return jj_advance(p);
    }
    if (jj_at_name(p, "in")) {
        *ret_op = JJ_IN;
        return jj_advance(p);
    }
    if (jj_at_name(p, "not") && jj_next_is_name(p, "in")) {
        *ret_op = JJ_NOT_IN;
        TD_TRY(jj_advance(p));
        return jj_advance(p);
    }
    *ret = false;
    return TD_OK;
}

static td_code parse_compare(jj_parser *p, jj_node **ret)
{
    uint32_t where = p->cur->at;
    jj_node *first, *compare = NULL;
    TD_TRY(parse_sum(p, &first));
    *ret = first;
    for (;;) {
        uint32_t op_at = p->cur->at;
        jj_cmp op = JJ_EQ;
        bool more = false;
        TD_TRY(skip_comparison(p, &op, &more));
        if (!more)
            return TD_OK;
        if (compare == NULL) {
            TD_TRY(binary(p, JJ_N_COMPARE, 0, where, first, NULL, &compare));
            *ret = compare;
        }
        jj_node *operand;
        TD_TRY(jj_node_new(p, JJ_N_OPERAND, op_at, &operand));
        operand->op = (uint8_t)op;
        TD_TRY(parse_sum(p, &operand->a));
        TD_TRY(jj_push(p, &compare->list[0], operand));
    }
}

static td_code parse_not(jj_parser *p, jj_node **ret)
{
    if (!jj_at_name(p, "not"))
        return parse_compare(p, ret);
    uint32_t where = p->cur->at;
    jj_node *operand;
    TD_TRY(jj_enter_depth(p));
    TD_TRY(jj_advance(p));
    TD_TRY(parse_not(p, &operand));
    p->depth--;
    return binary(p, JJ_N_NOT, 0, where, operand, NULL, ret);
}

static td_code parse_and(jj_parser *p, jj_node **ret)
{
    uint32_t where = p->cur->at;
    bool more;
    TD_TRY(parse_not(p, ret));
    for (;;) {
        TD_TRY(jj_skip_name(p, "and", &more));
        if (!more)
            return TD_OK;
        jj_node *right;
        TD_TRY(parse_not(p, &right));
        TD_TRY(binary(p, JJ_N_AND, 0, where, *ret, right, ret));
    }
}

static td_code parse_or(jj_parser *p, jj_node **ret)
{
    uint32_t where = p->cur->at;
    bool more;
    TD_TRY(parse_and(p, ret));
    for (;;) {
        TD_TRY(jj_skip_name(p, "or", &more));
        if (!more)
            return TD_OK;
        jj_node *right;
        TD_TRY(parse_and(p, &right));
        TD_TRY(binary(p, JJ_N_OR, 0, where, *ret, right, ret));
    }
}

static td_code parse_cond(jj_parser *p, jj_node **ret)
{
    uint32_t where = p->cur->at;
    bool more;
    TD_TRY(parse_or(p, ret));
    for (;;) {
        TD_TRY(jj_skip_name(p, "if", &more));
        if (!more)
            return TD_OK;
        jj_node *cond;
        TD_TRY(jj_node_new(p, JJ_N_COND, where, &cond));
        cond->b = *ret;
        TD_TRY(parse_or(p, &cond->a));
        TD_TRY(jj_skip_name(p, "else", &more));
        if (more) {
            TD_TRY(jj_enter_depth(p));
            TD_TRY(parse_cond(p, &cond->c));
            p->depth--;
        }
        *ret = cond;
    }
}

td_code jj_parse_expression(jj_parser *p, bool with_cond, jj_node **ret)
{
    TD_TRY(jj_enter_depth(p));
    TD_TRY(with_cond ? parse_cond(p, ret) : parse_or(p, ret));
    p->depth--;
    return TD_OK;
}

/* The reference means to end the tuple of a for at "in" too, but its check never succeeds: a comma
 * before "in" is a syntax error. */
static bool is_tuple_end(const jj_parser *p)
{
    return at(p, JJ_T_VAR_END) || at(p, JJ_T_BLOCK_END) || at(p, JJ_T_RPAREN);
}

td_code jj_parse_tuple(jj_parser *p, jj_tuple_mode mode, jj_node **ret)
{
    uint32_t where = p->cur->at;
    jj_nodes items = { 0 };
    bool is_tuple = false;
    for (;;) {
        if (items.count != 0)
            TD_TRY(jj_expect(p, JJ_T_COMMA));
        if (is_tuple_end(p))
            break;
        jj_node *item;
        if (mode.simplified)
            TD_TRY(parse_primary(p, mode.with_namespace, &item));
        else
            TD_TRY(jj_parse_expression(p, !mode.no_cond, &item));
        TD_TRY(jj_push(p, &items, item));
        if (!at(p, JJ_T_COMMA))
            break;
        is_tuple = true;
    }
    if (!is_tuple && items.count != 0) {
        *ret = items.items[0];
        return TD_OK;
    }
    if (!is_tuple && !mode.explicit_parens)
        return jj_expected(p, "an expression");
    TD_TRY(jj_node_new(p, JJ_N_TUPLE, where, ret));
    (*ret)->list[0] = items;
    return TD_OK;
}
