/* error.c - the one error type: short texts live in the struct, long ones on the heap, and a
 * message that cannot be allocated is cut rather than lost. */
#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

static const char *const code_names[] = {
    [TD_OK] = "ok",
    [TD_E_INPUT] = "input",
    [TD_E_TEMPLATE] = "template",
    [TD_E_LIMIT] = "limit",
    [TD_E_TOKENIZER] = "tokenizer",
    [TD_E_WORKER] = "worker",
    [TD_E_TIMEOUT] = "timeout",
    [TD_E_VERIFY] = "verify",
    [TD_E_INTERNAL] = "internal",
};
_Static_assert(sizeof code_names / sizeof *code_names == TD_E_INTERNAL + 1, "name every td_code");

const char *td_code_name(td_code code)
{
    return (unsigned)code <= TD_E_INTERNAL ? code_names[code] : "?";
}

void td_error_clear(td_error *err)
{
    if (err->message != err->text)
        td_free(err->message);
    td_free(err->file);
    td_free(err->excerpt);
    *err = (td_error)TD_ERROR_INIT;
}

void td_error_move(td_error *to, td_error *from)
{
    td_error_clear(to);
    *to = *from;
    if (from->message == from->text)
        to->message = to->text;
    *from = (td_error)TD_ERROR_INIT;
}

static void set_message(td_error *err, const char *ptr, size_t len)
{
    char *to = err->text;
    if (len >= sizeof err->text) {
        to = td_malloc(len + 1);
        if (to == NULL) {
            to = err->text;
            len = sizeof err->text - 1;
        }
    }
    memcpy(to, ptr, len);
    to[len] = '\0';
    err->message = to;
    err->message_len = len;
}

void td_error_set(td_error *err, td_code code, td_str message)
{
    td_error_clear(err);
    td_fail_text(err, code, TD_NO_OFFSET, message);
}

static td_code raise(td_error *err, td_code code, uint64_t offset)
{
    assert(code != TD_OK && err != NULL);
    assert(err->code == TD_OK);
    err->code = code;
    err->offset = offset;
    err->line = err->column = 0;
    err->message_index = -1;
    return code;
}

/* Formats into the struct, or into the heap when the text is longer. */
static void set_formatted(td_error *err, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int len = vsnprintf(err->text, sizeof err->text, fmt, ap);
    err->message = err->text;
    if (len >= (int)sizeof err->text) {
        char *long_text = td_malloc((size_t)len + 1);
        if (long_text != NULL) {
            vsnprintf(long_text, (size_t)len + 1, fmt, again);
            err->message = long_text;
        }
    }
    err->message_len = strlen(err->message);
    va_end(again);
}

td_code td_fail(td_error *err, td_code code, const char *fmt, ...)
{
    raise(err, code, TD_NO_OFFSET);
    va_list ap;
    va_start(ap, fmt);
    set_formatted(err, fmt, ap);
    va_end(ap);
    return code;
}

td_code td_fail_at(td_error *err, td_code code, uint64_t offset, const char *fmt, ...)
{
    raise(err, code, offset);
    va_list ap;
    va_start(ap, fmt);
    set_formatted(err, fmt, ap);
    va_end(ap);
    return code;
}

td_code td_fail_text(td_error *err, td_code code, uint64_t offset, td_str message)
{
    raise(err, code, offset);
    set_message(err, message.ptr != NULL ? message.ptr : "", message.len);
    return code;
}

td_code td_fail_nomem(td_error *err)
{
    raise(err, TD_E_INTERNAL, TD_NO_OFFSET);
    set_message(err, "out of memory", strlen("out of memory"));
    return TD_E_INTERNAL;
}

td_code td_while(td_error *err, const char *fmt, ...)
{
    assert(err->code != TD_OK);
    char head[200];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(head, sizeof head, fmt, ap);
    va_end(ap);
    size_t head_len = n < 0 ? 0 : (size_t)n < sizeof head ? (size_t)n : sizeof head - 1;
    size_t old_len = err->message_len;
    char *joined = td_malloc(head_len + 2 + old_len + 1);
    if (joined == NULL)
        return err->code;
    memcpy(joined, head, head_len);
    memcpy(joined + head_len, ": ", 2);
    memcpy(joined + head_len + 2, err->message, old_len + 1);
    if (err->message != err->text)
        td_free(err->message);
    err->message = joined;
    err->message_len = head_len + 2 + old_len;
    return err->code;
}

td_code td_error_in_file(td_error *err, const char *file)
{
    if (err->file == NULL)
        err->file = td_strndup(file, strlen(file));
    return err->code;
}

enum { WINDOW = 60 }; /* code points kept on each side of the caret */

/* Templates are often one line of thousands of characters: keep a window around the culprit. */
static void set_excerpt(td_error *err, td_str source, size_t line_start, size_t at)
{
    size_t start = at, end = at, before = 0;
    while (start > line_start && before < WINDOW) {
        start--;
        while (start > line_start && td_utf8_is_cont(source.ptr[start]))
            start--;
        before++;
    }
    for (int n = 0; end < source.len && source.ptr[end] != '\n' && n < WINDOW; n++) {
        end++;
        while (end < source.len && td_utf8_is_cont(source.ptr[end]))
            end++;
    }
    size_t text_len = end - start;
    char *text = td_malloc(text_len + 1 + before + 2);
    if (text == NULL)
        return;
    for (size_t i = 0; i < text_len; i++) {
        char c = source.ptr[start + i];
        text[i] = (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c;
    }
    text[text_len] = '\n';
    memset(text + text_len + 1, ' ', before);
    memcpy(text + text_len + 1 + before, "^", 2);
    td_free(err->excerpt);
    err->excerpt = text;
}

void td_error_locate(td_error *err, td_str source)
{
    if (err->offset > source.len)
        return;
    size_t line_start = 0;
    err->line = err->column = 1;
    for (size_t i = 0; i < err->offset; i++) {
        if (source.ptr[i] == '\n') {
            err->line++;
            err->column = 1;
            line_start = i + 1;
        } else if (!td_utf8_is_cont(source.ptr[i])) {
            err->column++;
        }
    }
    set_excerpt(err, source, line_start, (size_t)err->offset);
}
