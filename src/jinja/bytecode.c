/* bytecode.c - what opcodes.def says, as tables and as text. */
#include "jinja/bytecode.h"

#include "base/error.h"
#include "base/str.h"

enum { N = -1, N1 = -2, C = -3, C2 = -4, V = -5 };

static const struct op_info {
    const char *name, *operands;
    int pops, pushes;
} ops[] = {
#define OP(name, operands, pops, pushes) [JJ_O_##name] = { #name, operands, pops, pushes },
#include "jinja/opcodes.def"
#undef OP
};
_Static_assert(sizeof ops / sizeof *ops == JJ_O_COUNT_, "every opcode is described");

const char *jj_op_name(jj_opcode op)
{
    return (unsigned)op < JJ_O_COUNT_ ? ops[op].name : "?";
}

const char *jj_op_operands(jj_opcode op)
{
    return ops[op].operands;
}

static uint32_t effect(jj_insn in, int what)
{
    switch (what) {
    case N: return in.b;
    case N1: return in.b + 1u;
    case C: return in.c;
    case C2: return 2 * in.c;
    case V: return in.op == JJ_O_BLOCK ? 2u * in.a : 1u + in.a + in.b;
    default: return (uint32_t)what;
    }
}

void jj_stack_effect(jj_insn in, uint32_t *ret_pops, uint32_t *ret_pushes)
{
    *ret_pops = effect(in, ops[in.op].pops);
    *ret_pushes = effect(in, ops[in.op].pushes);
}

/* ---- disassembly ---- */

static td_code put_quoted(td_buf *out, td_str s)
{
    TD_TRY(td_buf_byte(out, '\''));
    for (size_t i = 0; i < s.len && i < 60; i++) {
        char c = s.ptr[i];
        if (c == '\n')
            TD_TRY(td_buf_append(out, "\\n", 2));
        else if (c == '\'' || c == '\\')
            TD_TRY(td_buf_printf(out, "\\%c", c));
        else
            TD_TRY(td_buf_byte(out, c));
    }
    return td_buf_append(out, s.len > 60 ? "...'" : "'", s.len > 60 ? 4 : 1);
}

static td_code put_value(td_buf *out, td_value v)
{
    switch (v.tag) {
    case TD_V_STR: return put_quoted(out, td_as_str(v));
    case TD_V_NONE: return td_buf_append(out, "none", 4);
    case TD_V_BOOL: return td_buf_printf(out, "%s", v.as.integer ? "true" : "false");
    case TD_V_INT: return td_buf_printf(out, "%lld", (long long)v.as.integer);
    case TD_V_FLOAT: return td_buf_printf(out, "%g", v.as.real);
    default: return td_buf_printf(out, "<%s>", td_value_type_name(v));
    }
}

static td_code put_operand(const td_template *t, td_buf *out, char kind, uint32_t x)
{
    static const char *const operators[] = { "+", "-", "*", "/", "//", "%", "**" };
    switch (kind) {
    case '-': return TD_OK;
    case 'k': TD_TRY(td_buf_byte(out, ' ')); return put_value(out, t->consts[x]);
    case 'r': return td_buf_printf(out, " .%.*s", (int)t->attrs[x].key.len, t->attrs[x].key.as.str);
    case 'x': return td_buf_printf(out, " $%.*s", (int)t->ctx[x].key.len, t->ctx[x].key.as.str);
    case 'i': return td_buf_printf(out, " %s", t->builtins[x]->name);
    case 's': return td_buf_printf(out, " s%u", x);
    case 'j': return td_buf_printf(out, " ->%u", x);
    case 'f': return td_buf_printf(out, " f%u", x);
    case 'h': return td_buf_printf(out, " up%u", x);
    case 'o': return td_buf_printf(out, " %s", x < 7 ? operators[x] : "?");
    case 'q':
        return t->missing[x].name.tag != TD_V_STR
                   ? TD_OK
                   : td_buf_printf(out, " ?%.*s", (int)t->missing[x].name.len,
                                   t->missing[x].name.as.str);
    default: return td_buf_printf(out, " %u", x);
    }
}

static td_code dump_insn(const td_template *t, uint32_t pc, td_buf *out)
{
    static const char *const comparisons[] = { "==", "!=", "<", "<=", ">", ">=", "in", "not in" };
    jj_insn in = t->code[pc];
    const char *kinds = ops[in.op].operands;
    if ((in.op == JJ_O_CALL || in.op == JJ_O_CALL_EMIT) && in.a == 0)
        kinds = "-n-"; /* no keywords, no names of them */
    TD_TRY(td_buf_printf(out, "%5u  %s", pc, ops[in.op].name));
    if (in.op == JJ_O_COMPARE || in.op == JJ_O_CHAIN)
        TD_TRY(td_buf_printf(out, " %s", in.a < 8 ? comparisons[in.a] : "?"));
    else
        TD_TRY(put_operand(t, out, kinds[0], in.a));
    TD_TRY(put_operand(t, out, kinds[1], in.b));
    TD_TRY(put_operand(t, out, kinds[2], in.c));
    return td_buf_byte(out, '\n');
}

td_code jj_code_dump(const td_template *t, td_buf *out)
{
    static const char *const kinds[] = { "root", "block", "macro", "loop", "filter" };
    for (uint32_t pc = 0; pc < t->code_count; pc++) {
        for (uint32_t i = 0; i < t->func_count; i++) {
            const jj_func *f = &t->funcs[i];
            uint32_t start = f->entry < f->first_entry ? f->entry : f->first_entry;
            if (start != pc)
                continue;
            TD_TRY(td_buf_printf(out, "f%u %s", i, kinds[f->kind]));
            if (td_is_str(f->name))
                TD_TRY(td_buf_printf(out, " %.*s", (int)f->name.len, f->name.as.str));
            TD_TRY(td_buf_printf(out, " (slots %u, stack %u)\n", f->slot_count, f->stack_max));
        }
        TD_TRY(dump_insn(t, pc, out));
    }
    return TD_OK;
}
