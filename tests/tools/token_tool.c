/* token_tool.c - encodes and decodes for tests that ask the reference the same.
 *
 *     token_tool TOKENIZER.json < cases > answers
 *     token_tool FILE ENCODING < cases > answers    any format; ENCODING may be empty
 *
 * A case is one byte for the operation, one byte of flags, the length of its argument (32 bits,
 * little endian) and the argument. An answer starts with a status byte, '+' or '-' (an error,
 * then length and message). Numbers are 32 bits, little endian. Operations:
 *   e  encode a text: count of ids, ids, starts, ends (bytes). Encoding without offsets, counting
 *      and counting by segments must agree, else the answer is an error.
 *   d  decode ids: length, text        t  token text of an id: length, text
 *   i  id of a token text: 0 or 1, id  v  vocabulary size      D  description: length, text
 *   b  encode many texts, each as length and bytes: their number + 1 ends, ids, starts, ends
 *   s  decode as a stream: the ids before it as count and ids, then steps in the same form; for
 *      each step '=' with length and text, '.' (nothing yet) or '!' (an error)
 *   p  whether an id is special
 * A file that cannot be loaded is one '-' answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tokdrain/tokenizer.h"
#include "tokenizer/internal.h"
#include "tokenizer/segments.h"

static void put_u32(size_t n)
{
    uint32_t v = (uint32_t)n;
    fwrite(&v, 4, 1, stdout);
}

static void put_text(td_str s)
{
    put_u32(s.len);
    if (s.len != 0)
        fwrite(s.ptr, 1, s.len, stdout);
}

static void put_numbers(const uint32_t *items, size_t count)
{
    if (count != 0)
        fwrite(items, sizeof *items, count, stdout);
}

static void put_error(td_error *err)
{
    char text[1024];
    int n = snprintf(text, sizeof text, "%s: %s", td_code_name(err->code), err->message);
    putchar('-');
    put_text((td_str){ text, n < (int)sizeof text ? (size_t)n : sizeof text - 1 });
    td_error_clear(err);
}

static td_code count_segments(td_encoder *enc, td_str text, unsigned flags, size_t *ret,
                              td_error *err)
{
    td_cutter *cutter = td_cutter_new(enc);
    if (cutter == NULL)
        return td_fail_nomem(err);
    tk_cutter_force_short(cutter);
    td_code code = td_cutter_begin(cutter, text, flags, err);
    size_t at = 0;
    *ret = 0;
    td_segment stretch, seg;
    while (code == TD_OK && td_cutter_stretch(cutter, &stretch)) {
        code = td_cutter_enter(cutter, &stretch, err);
        while (code == TD_OK && td_cutter_next(cutter, &seg)) {
            size_t n = 0;
            if (seg.text.ptr != text.ptr + at)
                code = td_fail(err, TD_E_INTERNAL, "segments leave a gap at %zu", at);
            else
                code = td_segment_count(enc, &seg, &n, err);
            at += seg.text.len;
            *ret += n;
        }
    }
    if (code == TD_OK && at != text.len)
        code = td_fail(err, TD_E_INTERNAL, "segments end at %zu of %zu", at, text.len);
    td_cutter_free(cutter);
    return code;
}

static td_code do_encode(td_encoder *enc, unsigned flags, td_str text, td_error *err)
{
    td_ids ids;
    size_t count = 0, sum = 0;
    TD_TRY(td_count(enc, text, flags, &count, err));
    TD_TRY(count_segments(enc, text, flags, &sum, err));
    TD_TRY(td_encode(enc, text, flags, &ids, err));
    size_t plain_count = ids.count;
    td_id *plain = malloc((ids.count + 1) * sizeof *plain);
    if (plain == NULL)
        return td_fail_nomem(err);
    if (ids.count != 0)
        memcpy(plain, ids.ids, ids.count * sizeof *plain);
    td_code code = td_encode(enc, text, flags | TD_ENCODE_OFFSETS, &ids, err);
    if (code == TD_OK && count != plain_count)
        code = td_fail(err, TD_E_INTERNAL, "count %zu, ids %zu", count, plain_count);
    else if (code == TD_OK && sum != plain_count)
        code = td_fail(err, TD_E_INTERNAL, "segments count %zu, ids %zu", sum, plain_count);
    else if (code == TD_OK &&
             (ids.count != plain_count ||
              (plain_count != 0 && memcmp(ids.ids, plain, plain_count * sizeof *plain) != 0)))
        code = td_fail(err, TD_E_INTERNAL, "ids with offsets differ");
    free(plain);
    TD_TRY(code);
    putchar('+');
    put_u32(ids.count);
    put_numbers(ids.ids, ids.count);
    put_numbers(ids.starts, ids.count);
    put_numbers(ids.ends, ids.count);
    return TD_OK;
}

/* Takes a number off the front; 0 at the end. */
static uint32_t take(td_str *arg)
{
    uint32_t n = 0;
    if (arg->len >= 4)
        memcpy(&n, arg->ptr, 4);
    *arg = arg->len >= 4 ? (td_str){ arg->ptr + 4, arg->len - 4 } : (td_str){ NULL, 0 };
    return n;
}

static td_code do_batch(td_encoder *enc, unsigned flags, td_str arg, td_error *err)
{
    td_str *texts = calloc(arg.len / 4 + 1, sizeof *texts);
    size_t count = 0;
    while (texts != NULL && arg.len >= 4) {
        size_t len = take(&arg);
        texts[count++] = (td_str){ arg.ptr, len };
        arg = (td_str){ arg.ptr + len, arg.len - len };
    }
    td_batch batch;
    td_code code = td_encode_batch(enc, texts, count, flags | TD_ENCODE_OFFSETS, &batch, err);
    free(texts);
    TD_TRY(code);
    putchar('+');
    put_u32(count + 1);
    for (size_t i = 0; i <= count; i++)
        put_u32(batch.first[i]);
    size_t all = batch.first[count];
    put_numbers(batch.ids, all);
    put_numbers(batch.starts, all);
    put_numbers(batch.ends, all);
    return TD_OK;
}

static td_id *take_ids(td_str *arg, size_t *ret_count)
{
    *ret_count = take(arg);
    td_id *ids = calloc(*ret_count + 1, sizeof *ids);
    for (size_t i = 0; ids != NULL && i < *ret_count; i++)
        ids[i] = take(arg);
    return ids;
}

static td_code do_stream(td_tokenizer *tok, unsigned flags, td_str arg, td_error *err)
{
    size_t count;
    td_id *ids = take_ids(&arg, &count);
    td_decode_stream *stream = td_decode_stream_new(tok, ids, count, flags);
    free(ids);
    if (stream == NULL)
        return td_fail_nomem(err);
    putchar('+');
    while (arg.len != 0) {
        td_str text;
        ids = take_ids(&arg, &count);
        td_error local = TD_ERROR_INIT;
        td_code code = td_decode_stream_step(stream, ids, count, &text, &local);
        free(ids);
        td_error_clear(&local);
        putchar(code != TD_OK ? '!' : text.ptr == NULL ? '.' : '=');
        if (code == TD_OK && text.ptr != NULL)
            put_text(text);
    }
    td_decode_stream_free(stream);
    return TD_OK;
}

static td_code do_case(td_encoder *enc, td_tokenizer *tok, int op, unsigned flags, td_str arg,
                       td_error *err)
{
    td_str text;
    td_id id = 0;
    switch (op) {
    case 'e':
        return do_encode(enc, flags, arg, err);
    case 'd':
        TD_TRY(
            td_decode(enc, (const td_id *)(const void *)arg.ptr, arg.len / 4, flags, &text, err));
        putchar('+');
        put_text(text);
        return TD_OK;
    case 't':
        memcpy(&id, arg.ptr, 4);
        putchar('+');
        put_text(td_token_text(tok, id));
        return TD_OK;
    case 'i':
        putchar('+');
        put_u32(td_token_id(tok, arg, &id));
        put_u32(id);
        return TD_OK;
    case 'b':
        return do_batch(enc, flags, arg, err);
    case 's':
        return do_stream(tok, flags, arg, err);
    case 'p':
        putchar('+');
        put_u32(td_token_is_special(tok, take(&arg)));
        return TD_OK;
    case 'v':
        putchar('+');
        put_u32(td_tokenizer_vocab_size(tok));
        return TD_OK;
    case 'D': {
        char *description = td_tokenizer_describe(tok);
        putchar('+');
        put_text((td_str){ description, description != NULL ? strlen(description) : 0 });
        free(description);
        return TD_OK;
    }
    default:
        return td_fail(err, TD_E_INPUT, "unknown operation");
    }
}

/* encoding "": to be told by the content */
static td_code load_vocabulary(const char *path, const char *encoding, td_tokenizer **ret,
                               td_error *err)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0)
        return td_fail(err, TD_E_INPUT, "cannot open %s", path);
    long len = ftell(f);
    rewind(f);
    char *bytes = malloc((size_t)len + (len == 0));
    if (bytes == NULL || fread(bytes, 1, (size_t)len, f) != (size_t)len)
        return td_fail(err, TD_E_INPUT, "cannot read %s", path);
    fclose(f);
    td_code code = td_tokenizer_new_from_vocabulary(
        (td_str){ bytes, (size_t)len }, encoding[0] != '\0' ? encoding : NULL, ret, err);
    free(bytes);
    return code;
}

int main(int argc, char **argv)
{
    td_tokenizer *tok = NULL;
    td_error err = TD_ERROR_INIT;
    if (argc != 2 && argc != 3)
        return 2;
    if ((argc == 2 ? td_tokenizer_new_from_file(argv[1], &tok, &err)
                   : load_vocabulary(argv[1], argv[2], &tok, &err)) != TD_OK) {
        put_error(&err);
        return 0;
    }
    td_encoder *enc = td_encoder_new(tok);
    unsigned char head[6];
    char *arg = NULL;
    while (enc != NULL && fread(head, 6, 1, stdin) == 1) {
        uint32_t len;
        memcpy(&len, head + 2, 4);
        free(arg);
        arg = malloc((size_t)len + 1); /* exactly as large, so that overruns show */
        if (arg == NULL || fread(arg, 1, len, stdin) != len)
            return 3;
        if (do_case(enc, tok, head[0], head[1], (td_str){ arg, len }, &err) != TD_OK)
            put_error(&err);
    }
    free(arg);
    td_encoder_free(enc);
    td_tokenizer_free(tok);
    return 0;
}
