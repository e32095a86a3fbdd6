/* ast_dump.c - the tree as indented s-expressions, for people and tests. */
#include "base/error.h"
#include "base/str.h"
#include "jinja/ast.h"
#include "jinja/vm.h"
#include "value/json.h"

static td_code put_name(const jj_names *names, uint32_t id, td_buf *out)
{
    if (id == 0)
        return TD_OK;
    TD_TRY(td_buf_byte(out, ' '));
    return td_buf_put(out, jj_name_text(names, id));
}

static td_code put_value(td_value v, td_buf *out)
{
    td_error err = TD_ERROR_INIT;
    td_json_style style = { 0 };
    TD_TRY(td_buf_byte(out, ' '));
    td_code code = td_json_write(out, v, &style, &err);
    td_error_clear(&err);
    return code;
}

static td_code put_details(const jj_node *n, const jj_names *names, td_buf *out)
{
    static const char *const binary[] = { "+", "-", "*", "/", "//", "%", "**" };
    static const char *const compare[] = { "==", "!=", "<", "<=", ">", ">=", "in", "not in" };
    static const char *const uses[] = { "", " =", " param" };
    TD_TRY(put_name(names, n->name, out));
    TD_TRY(put_name(names, n->attr, out));
    if (n->kind == JJ_N_CONST || n->kind == JJ_N_DATA)
        TD_TRY(put_value(n->value, out));
    if (n->kind == JJ_N_BINARY)
        TD_TRY(td_buf_printf(out, " %s", binary[n->op]));
    if (n->kind == JJ_N_OPERAND)
        TD_TRY(td_buf_printf(out, " %s", compare[n->op]));
    if (n->kind == JJ_N_NAME)
        TD_TRY(td_buf_printf(out, "%s", uses[n->use]));
    if (n->flags & JJ_F_RECURSIVE)
        TD_TRY(td_buf_append(out, " recursive", 10));
    return TD_OK;
}

static td_code dump(const jj_node *n, const jj_names *names, unsigned depth, td_buf *out)
{
    uint32_t i = 0;
    for (unsigned k = 0; k < depth; k++)
        TD_TRY(td_buf_append(out, "  ", 2));
    TD_TRY(td_buf_printf(out, "(%s", jj_kind_name((jj_kind)n->kind)));
    TD_TRY(put_details(n, names, out));
    for (const jj_node *child; (child = jj_child(n, &i)) != NULL;) {
        TD_TRY(td_buf_byte(out, '\n'));
        TD_TRY(dump(child, names, depth + 1, out));
    }
    return td_buf_byte(out, ')');
}

td_code jj_ast_dump(const jj_node *n, const jj_names *names, td_buf *out)
{
    TD_TRY(dump(n, names, 0, out));
    return td_buf_byte(out, '\n');
}
