/* indent.c - how deep statements may nest: the reference turns a template into Python source, and
 * Python's compiler takes less than 100 levels of indentation. What each statement needs follows
 * from the source that is written for it. */
#include "base/error.h"
#include "jinja/ast.h"

enum { LEVEL_MAX = 99, LEVEL_ROOT = 1 };

static td_code check_body(const jj_node *n, const jj_nodes *body, unsigned level, td_error *err);

static bool sets_attribute(const jj_node *target)
{
    if (target->kind == JJ_N_TUPLE)
        for (uint32_t i = 0; i < target->list[0].count; i++)
            if (sets_attribute(target->list[0].items[i]))
                return true;
    return target->kind == JJ_N_NS_REF;
}

static td_code check_branches(const jj_node *n, unsigned level, td_error *err)
{
    TD_TRY(check_body(n, &n->list[0], level + 1, err));
    for (uint32_t i = 0; i < n->list[1].count; i++)
        TD_TRY(check_body(n, &n->list[1].items[i]->list[0], level + 1, err));
    return check_body(n, &n->list[2], level + 1, err);
}

static td_code check_level(const jj_node *n, unsigned level, td_error *err)
{
    if (level > LEVEL_MAX)
        return td_fail_at(err, TD_E_TEMPLATE, n->at, "too many levels of indentation");
    return TD_OK;
}

static td_code check_loop(const jj_node *n, unsigned level, td_error *err)
{
    if (n->c != NULL) /* a function of its own: def, for, if, yield */
        TD_TRY(check_level(n, level + 3, err));
    if (n->flags & JJ_F_RECURSIVE)
        level++;
    TD_TRY(check_body(n, &n->list[0], level + 1, err));
    return check_body(n, &n->list[1], level + 1, err);
}

static td_code check(const jj_node *n, unsigned level, td_error *err)
{
    switch (n->kind) {
    case JJ_N_IF:
        return check_branches(n, level, err);
    case JJ_N_FOR:
        return check_loop(n, level, err);
    case JJ_N_MACRO:
    case JJ_N_CALL_BLOCK:
    case JJ_N_GENERATION:
        if (n->list[0].count != 0) /* "if parameter is missing:" */
            TD_TRY(check_level(n, level + 2, err));
        return check_body(n, &n->list[2], level + 1, err);
    case JJ_N_BLOCK:
        return check_body(n, &n->list[0], LEVEL_ROOT, err);
    case JJ_N_WITH:
        return check_body(n, &n->list[2], level, err);
    case JJ_N_FILTER_BLOCK:
    case JJ_N_AUTOESCAPE:
    case JJ_N_SCOPE:
    case JJ_N_ASSIGN_BLOCK:
        return check_body(n, &n->list[0], level, err);
    case JJ_N_ASSIGN:
        return sets_attribute(n->a) ? check_level(n, level + 1, err) : TD_OK;
    default:
        return TD_OK;
    }
}

/* The body of n, in which statements stand at that level. */
static td_code check_body(const jj_node *n, const jj_nodes *body, unsigned level, td_error *err)
{
    TD_TRY(check_level(n, level, err));
    for (uint32_t i = 0; i < body->count; i++)
        TD_TRY(check(body->items[i], level, err));
    return TD_OK;
}

td_code jj_check_indent(const jj_node *root, td_error *err)
{
    return check_body(root, &root->list[0], LEVEL_ROOT, err);
}
