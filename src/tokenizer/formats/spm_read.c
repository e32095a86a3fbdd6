/* spm_read.c - the message of a SentencePiece model, as sentencepiece_model.proto has it.
 *
 * What the library refuses is refused: empty or repeated pieces, no or several unknown pieces, byte
 * pieces without byte_fallback and byte_fallback without all 256. So is what it reads, but cannot
 * be kept exact: pieces that are not UTF-8 or hold a NUL, scores that are no numbers. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/formats/proto.h"
#include "tokenizer/formats/spm.h"

enum { PIECES_MAX = 1 << 24, PIECE_BYTES_MAX = 4096 };

typedef struct reader {
    td_arena *a;
    td_str bytes;
    spm_file *file;
    uint32_t cap;
    td_error *err;
} reader;

static td_code fail_at(const reader *r, const char *ptr, const char *fmt, ...) TD_PRINTF(3, 4);

static td_code fail_at(const reader *r, const char *ptr, const char *fmt, ...)
{
    char message[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    size_t at = (size_t)(ptr - r->bytes.ptr);
    return td_fail_at(r->err, TD_E_TOKENIZER, at, "SentencePiece model, byte %zu: %s", at, message);
}

static td_code end_of(const reader *r, const tk_proto *p, const char *what)
{
    if (p->wrong == NULL)
        return TD_OK;
    return fail_at(r, p->bytes.ptr + p->wrong_at, "%s: %s", what, p->wrong);
}

static td_code add_piece(reader *r, spm_piece piece)
{
    spm_file *f = r->file;
    if (f->count == r->cap) {
        uint32_t cap = r->cap * 2 + 4096;
        spm_piece *to = td_arena_array(r->a, spm_piece, cap);
        if (to == NULL)
            return td_arena_fail(r->a, r->err);
        if (f->count != 0)
            memcpy(to, f->items, f->count * sizeof *to);
        f->items = to;
        r->cap = cap;
    }
    f->items[f->count++] = piece;
    return TD_OK;
}

static td_code read_piece(reader *r, td_str bytes)
{
    spm_piece piece = { .type = SPM_NORMAL };
    tk_proto p = tk_proto_of(bytes);
    for (tk_field f; tk_proto_next(&p, &f);) {
        if (f.number == 1 && f.wire == TK_WIRE_BYTES)
            piece.text = f.bytes;
        else if (f.number == 2 && f.wire == TK_WIRE_32)
            piece.score = tk_field_float(&f);
        else if (f.number == 3 && f.wire == TK_WIRE_VARINT && f.value >= SPM_NORMAL &&
                 f.value <= SPM_BYTE)
            piece.type = (spm_type)f.value;
    }
    uint32_t n = r->file->count;
    TD_TRY(end_of(r, &p, "a piece"));
    if (piece.text.len == 0)
        return fail_at(r, bytes.ptr, "piece %u is empty", n);
    if (td_utf8_check_strict(piece.text) != piece.text.len ||
        memchr(piece.text.ptr, '\0', piece.text.len) != NULL)
        return fail_at(r, piece.text.ptr, "piece %u is not UTF-8, or holds a NUL", n);
    if (piece.text.len > PIECE_BYTES_MAX)
        return fail_at(r, piece.text.ptr, "piece %u is longer than %d bytes", n, PIECE_BYTES_MAX);
    if (!isfinite(piece.score))
        return fail_at(r, bytes.ptr, "the score of piece %u is no finite number", n);
    if (n == PIECES_MAX)
        return fail_at(r, bytes.ptr, "more than %d pieces", PIECES_MAX);
    return add_piece(r, piece);
}

static bool is_set(const tk_field *f)
{
    return f->value != 0;
}

static bool is_id(const tk_field *f)
{
    return (int32_t)(uint32_t)f->value >= 0;
}

static td_code read_trainer(reader *r, td_str bytes)
{
    spm_file *to = r->file;
    tk_proto p = tk_proto_of(bytes);
    for (tk_field f; tk_proto_next(&p, &f);) {
        bool number = f.wire == TK_WIRE_VARINT, text = f.wire == TK_WIRE_BYTES;
        if (f.number == 3 && number && f.value >= SPM_UNIGRAM && f.value <= SPM_CHAR)
            to->kind = (spm_kind)f.value;
        else if (f.number == 24 && number)
            to->suffix = is_set(&f);
        else if (f.number == 35 && number)
            to->byte_fallback = is_set(&f);
        else if (f.number == 40 && number)
            to->unk_id = (int32_t)(uint32_t)f.value;
        else if (f.number == 41 && number)
            to->has_bos_id = is_id(&f);
        else if (f.number == 42 && number)
            to->has_eos_id = is_id(&f);
        else if (f.number == 44 && text)
            to->unk_surface = f.bytes;
        else if (f.number == 45 && text)
            to->unk_piece = f.bytes;
        else if (f.number == 46 && text)
            to->bos_piece = f.bytes;
        else if (f.number == 47 && text)
            to->eos_piece = f.bytes;
    }
    return end_of(r, &p, "trainer_spec");
}

static td_code read_norm(reader *r, td_str bytes, spm_norm_spec *to)
{
    tk_proto p = tk_proto_of(bytes);
    for (tk_field f; tk_proto_next(&p, &f);) {
        if (f.number == 2 && f.wire == TK_WIRE_BYTES)
            to->charsmap = f.bytes;
        else if (f.number == 3 && f.wire == TK_WIRE_VARINT)
            to->dummy_prefix = is_set(&f);
        else if (f.number == 4 && f.wire == TK_WIRE_VARINT)
            to->remove_extra = is_set(&f);
        else if (f.number == 5 && f.wire == TK_WIRE_VARINT)
            to->escape = is_set(&f);
    }
    return end_of(r, &p, "normalizer_spec");
}

static int byte_of(td_str piece)
{
    for (int b = 0; b < 256; b++) {
        char text[8];
        int n = snprintf(text, sizeof text, "<0x%02X>", (unsigned)b);
        if (td_str_eq(piece, (td_str){ text, (size_t)n }))
            return b;
    }
    return -1;
}

static td_code check_types(const reader *r)
{
    const spm_file *f = r->file;
    uint32_t unknown = 0, bytes = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        const spm_piece *p = &f->items[i];
        unknown += p->type == SPM_UNKNOWN;
        if (p->type != SPM_BYTE)
            continue;
        bytes++;
        if (!f->byte_fallback)
            return fail_at(r, p->text.ptr, "byte piece %u, although byte_fallback is not set", i);
        if (p->text.len != 6 || byte_of(p->text) < 0)
            return fail_at(r, p->text.ptr, "byte piece %u is not <0x00> to <0xFF>", i);
    }
    if (unknown != 1)
        return td_fail(r->err, TD_E_TOKENIZER, "SentencePiece model: %u unknown pieces, expected 1",
                       unknown);
    if (f->byte_fallback && bytes != 256) /* pieces are distinct */
        return td_fail(r->err, TD_E_TOKENIZER,
                       "SentencePiece model: %u of 256 byte pieces, although byte_fallback is set",
                       bytes);
    return TD_OK;
}

td_code tk_spm_read(td_arena *a, td_str bytes, spm_file *ret, td_error *err)
{
    const spm_norm_spec defaults = { .dummy_prefix = true, .remove_extra = true, .escape = true };
    *ret = (spm_file){ .kind = SPM_UNIGRAM,
                       .norm = defaults,
                       .denorm = defaults,
                       .unk_surface = TD_STR(" \xE2\x81\x87 "),
                       .has_bos_id = true,
                       .has_eos_id = true };
    reader r = { .a = a, .bytes = bytes, .file = ret, .err = err };
    tk_proto p = tk_proto_of(bytes);
    for (tk_field f; tk_proto_next(&p, &f);) {
        if (f.wire != TK_WIRE_BYTES)
            continue;
        if (f.number == 1)
            TD_TRY(read_piece(&r, f.bytes));
        else if (f.number == 2)
            TD_TRY(read_trainer(&r, f.bytes));
        else if (f.number == 3)
            TD_TRY(read_norm(&r, f.bytes, &ret->norm));
        else if (f.number == 5)
            TD_TRY(read_norm(&r, f.bytes, &ret->denorm));
    }
    TD_TRY(end_of(&r, &p, "neither JSON nor tiktoken ranks, nor a message"));
    if (ret->count == 0)
        return td_fail(err, TD_E_TOKENIZER,
                       "neither JSON nor tiktoken ranks, nor a SentencePiece model with pieces");
    if (ret->bos_piece.len == 0)
        ret->bos_piece = TD_STR("<s>");
    if (ret->eos_piece.len == 0)
        ret->eos_piece = TD_STR("</s>");
    if (ret->unk_piece.len == 0)
        ret->unk_piece = TD_STR("<unk>");
    return check_types(&r);
}
