/* json_tool.c - answers questions about the value layer, so that tests can ask CPython the same.
 *
 * Standard input holds cases: one byte for the operation, the length of its argument (32 bits,
 * little endian) and the argument. Each answer is a status byte ('+' good, '-' refused), a length
 * and the text. Operations:
 *   r  read JSON, write it as json.dumps(ensure_ascii=False)
 *   c  the same without the shortcuts that the reader's flags allow
 *   a  the same with ensure_ascii
 *   s  the same with sort_keys and indent=2
 *   R  read JSON, print repr()                S  read JSON, print str()
 *   m  read MessagePack, write it as JSON     w  read JSON, write it as MessagePack
 *   k  skip one MessagePack value: the bytes that it takes
 *   f  repr of a double (8 bytes)     p  parse a float into 8 bytes
 *   e  "%.*e", F "%.*f": precision (32 bits) and double
 *   + - * / ^ two integers separated by a space ('/': quotient and remainder)
 *   =  bigint and double (8 bytes first): sign of the comparison and float(bigint) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "value/bigint.h"
#include "value/json.h"
#include "value/msgpack.h"
#include "value/number.h"
#include "value/pytext.h"

static void answer(char status, const char *ptr, size_t len)
{
    uint32_t n = (uint32_t)len;
    putchar(status);
    fwrite(&n, 4, 1, stdout);
    fwrite(ptr, 1, len, stdout);
}

static void answer_error(td_error *err)
{
    char text[512];
    int n = snprintf(text, sizeof text, "%s %lld %u %u %s", td_code_name(err->code),
                     (long long)err->offset, err->line, err->column, err->message);
    answer('-', text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
    td_error_clear(err);
}

/* Forgets what the reader knew about strings, in a value that this program owns. */
static td_value without_flags(td_value v)
{
    if (v.tag == TD_V_STR)
        v.flags = 0;
    if (v.tag == TD_V_LIST)
        for (uint32_t i = 0; i < v.len; i++) {
            td_value *item = (td_value *)(uintptr_t)&v.as.items[i];
            *item = without_flags(*item);
        }
    if (v.tag == TD_V_DICT)
        for (uint32_t i = 0; i < v.as.dict->count; i++) {
            td_entry *e = &v.as.dict->entries[i];
            e->key = without_flags(e->key);
            e->val = without_flags(e->val);
        }
    return v;
}

static void do_pytext(char op, td_arena *a, td_buf *out, td_str arg)
{
    td_error err = TD_ERROR_INIT;
    td_value v;
    if (td_json_read(a, arg, &v, &err) != TD_OK) {
        answer_error(&err);
        return;
    }
    td_code code = op == 'R' ? td_py_repr(out, v, NULL) : td_py_str(out, v, NULL);
    answer(code == TD_OK ? '+' : '-', out->ptr, out->len);
}

static void do_json(char op, td_arena *a, td_buf *out, td_str arg)
{
    td_error err = TD_ERROR_INIT;
    td_value v;
    if (td_json_read(a, arg, &v, &err) != TD_OK) {
        answer_error(&err);
        return;
    }
    td_json_style style = { .ensure_ascii = op == 'a',
                            .sort_keys = op == 's',
                            .has_indent = op == 's',
                            .indent = TD_STR("  ") };
    if (op != 'r')
        v = without_flags(v);
    if (td_json_write(out, v, &style, &err) != TD_OK)
        answer_error(&err);
    else
        answer('+', out->ptr, out->len);
}

static void do_msgpack(char op, td_arena *a, td_buf *out, td_str arg)
{
    td_error err = TD_ERROR_INIT;
    td_value v;
    td_code code;
    if (op == 'k') {
        td_mp_cursor c = td_mp_cursor_of(arg);
        code = td_mp_skip(&c, &err);
        if (code == TD_OK)
            (void)td_buf_printf(out, "%zu", (size_t)(c.at - c.start));
    } else if (op == 'm') {
        const td_json_style style = { 0 };
        code = td_msgpack_read(a, arg, &v, &err);
        if (code == TD_OK)
            code = td_json_write(out, v, &style, &err);
    } else {
        code = td_json_read(a, arg, &v, &err);
        if (code == TD_OK)
            code = td_msgpack_write(out, v, &err);
    }
    if (code != TD_OK)
        answer_error(&err);
    else
        answer('+', out->ptr, out->len);
}

static void do_float(char op, td_buf *out, td_str arg)
{
    double d;
    char text[TD_FLOAT_TEXT_MAX];
    uint32_t precision;
    if (op == 'p') {
        bool ok = td_float_parse(arg, &d);
        answer(ok ? '+' : '-', (const char *)&d, ok ? 8 : 0);
    } else if (op == 'f') {
        memcpy(&d, arg.ptr, 8);
        answer('+', text, td_float_repr(d, text));
    } else {
        memcpy(&precision, arg.ptr, 4);
        memcpy(&d, arg.ptr + 4, 8);
        td_code code = op == 'e' ? td_float_print_exp(out, d, precision)
                                 : td_float_print_fixed(out, d, precision);
        answer(code == TD_OK ? '+' : '-', out->ptr, out->len);
    }
}

static void print_int(td_buf *out, td_value v)
{
    if (v.tag == TD_V_INT)
        (void)td_buf_printf(out, "%lld", (long long)v.as.integer);
    else if (td_bigint_print(out, v.as.bigint) != TD_OK)
        (void)td_buf_printf(out, "too long");
}

static void do_compare(td_arena *a, td_buf *out, td_str arg)
{
    double d;
    td_value x;
    memcpy(&d, arg.ptr, 8);
    td_str digits = { arg.ptr + 8, arg.len - 8 };
    if (!td_bigint_parse(a, digits, 10, &x) || x.tag != TD_V_BIGINT) {
        answer('-', "", 0);
        return;
    }
    char text[TD_FLOAT_TEXT_MAX];
    size_t n = td_float_repr(td_bigint_to_double(x.as.bigint), text);
    (void)td_buf_printf(out, "%d %.*s", td_bigint_cmp_double(x.as.bigint, d), (int)n, text);
    answer('+', out->ptr, out->len);
}

static void do_int(char op, td_arena *a, td_buf *out, td_str arg)
{
    const char *space = memchr(arg.ptr, ' ', arg.len);
    td_value x, y, z, rest = td_none();
    bool ok =
        space != NULL &&
        td_bigint_parse(a, (td_str){ arg.ptr, (size_t)(space - arg.ptr) }, 10, &x) &&
        td_bigint_parse(a, (td_str){ space + 1, (size_t)(arg.ptr + arg.len - space - 1) }, 10, &y);
    if (ok && op == '+')
        ok = td_bigint_add(a, x, y, &z);
    else if (ok && op == '-')
        ok = td_bigint_sub(a, x, y, &z);
    else if (ok && op == '*')
        ok = td_bigint_mul(a, x, y, &z);
    else if (ok && op == '/')
        ok = td_bigint_divmod(a, x, y, &z, &rest);
    else if (ok)
        ok = td_bigint_pow(a, x, y, &z);
    if (!ok) {
        answer('-', "", 0);
        return;
    }
    print_int(out, z);
    if (op == '/') {
        (void)td_buf_byte(out, ' ');
        print_int(out, rest);
    }
    answer('+', out->ptr, out->len);
}

static void run(char op, td_arena *a, td_buf *out, td_str arg)
{
    if (strchr("rcas", op) != NULL)
        do_json(op, a, out, arg);
    else if (strchr("RS", op) != NULL)
        do_pytext(op, a, out, arg);
    else if (strchr("mwk", op) != NULL)
        do_msgpack(op, a, out, arg);
    else if (strchr("fpeF", op) != NULL)
        do_float(op, out, arg);
    else if (op == '=')
        do_compare(a, out, arg);
    else
        do_int(op, a, out, arg);
}

int main(void)
{
    td_arena arena = { .limit = (size_t)1 << 30 };
    td_buf out = { 0 };
    int op;
    while ((op = getchar()) != EOF) {
        uint32_t len;
        if (fread(&len, 4, 1, stdin) != 1)
            return 2;
        char *arg = malloc(len ? len : 1); /* exactly as long: sanitizers see reads behind it */
        if (arg == NULL || fread(arg, 1, len, stdin) != len)
            return 2;
        run((char)op, &arena, &out, (td_str){ arg, len });
        free(arg);
        out.len = 0;
        td_arena_reset(&arena);
    }
    td_buf_done(&out);
    td_arena_done(&arena);
    return 0;
}
