/* spm_decode.c - SentencePiece's way from ids to text: marks become spaces, the one in front of the
 * text goes, control pieces stand for nothing, bytes are joined to characters. */
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/formats/spm.h"

#define MARK "\xE2\x96\x81"

typedef struct spm_detok {
    tk_detok base;
    const spm_model *m;
    td_str unk_surface;
    bool strips_one, strips_all; /* marks in front of the text */
    const spm_norm *denorm;      /* NULL: none */
} spm_detok;

/* The length of the character that bytes start with, 0: they start with none. */
static size_t char_len(td_str bytes)
{
    unsigned char lead = (unsigned char)bytes.ptr[0];
    size_t len = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (len > bytes.len)
        return 0;
    return td_utf8_check_strict((td_str){ bytes.ptr, len }) == len ? len : 0;
}

/* Each byte that begins no character becomes a U+FFFD of its own. */
static td_code flush(td_buf *bytes, td_buf *out)
{
    td_str rest = td_buf_view(bytes);
    while (rest.len != 0) {
        size_t len = char_len(rest);
        TD_TRY(len != 0 ? td_buf_append(out, rest.ptr, len)
                        : td_buf_put(out, TD_STR("\xEF\xBF\xBD")));
        rest = td_str_from_offset(rest, len != 0 ? len : 1);
    }
    bytes->len = 0;
    return TD_OK;
}

static td_code put_spaced(td_buf *out, td_str s)
{
    for (size_t at = 0; at < s.len;) {
        size_t mark = td_str_find(s, TD_STR(MARK), at);
        size_t end = mark != TD_NOT_FOUND ? mark : s.len;
        TD_TRY(td_buf_append(out, s.ptr + at, end - at));
        if (mark != TD_NOT_FOUND)
            TD_TRY(td_buf_byte(out, ' '));
        at = end + (mark != TD_NOT_FOUND ? sizeof MARK - 1 : 0);
    }
    return TD_OK;
}

static int byte_of(td_str piece)
{
    int high = piece.ptr[3], low = piece.ptr[4];
    high = high <= '9' ? high - '0' : high - 'A' + 10;
    low = low <= '9' ? low - '0' : low - 'A' + 10;
    return high << 4 | low;
}

static td_code put_ids(const spm_detok *d, const td_id *ids, size_t count, td_buf *bytes,
                       td_buf *out)
{
    bool in_front = true, seen = false; /* a mark in front of the text was taken */
    for (size_t i = 0; i < count; i++) {
        const spm_piece *p = &d->m->items[ids[i]];
        if (p->type == SPM_BYTE) {
            TD_TRY(td_buf_byte(bytes, (char)byte_of(p->text)));
            continue;
        }
        TD_TRY(flush(bytes, out));
        if (seen || out->len != 0)
            in_front = false;
        seen = false;
        if (p->type == SPM_CONTROL)
            continue;
        if (p->type == SPM_UNKNOWN) {
            TD_TRY(td_buf_put(out, d->unk_surface));
            continue;
        }
        td_str text = p->text;
        if (in_front && (d->strips_one || d->strips_all) && td_str_starts(text, TD_STR(MARK))) {
            text = td_str_from_offset(text, sizeof MARK - 1);
            seen = !d->strips_all;
        }
        TD_TRY(put_spaced(out, text));
    }
    return flush(bytes, out);
}

static td_code apply(const tk_detok *self, const td_tokenizer *tok, const td_id *ids, size_t count,
                     bool skip_special, td_buf *out, td_error *err)
{
    const spm_detok *d = (const spm_detok *)self;
    (void)tok;
    (void)skip_special; /* control pieces have no text in any case */
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= d->m->count)
            return td_fail(err, TD_E_TOKENIZER, "id %u is not in the vocabulary", ids[i]);
    td_buf bytes = { 0 }, text = { 0 };
    td_code code = put_ids(d, ids, count, &bytes, d->denorm != NULL ? &text : out);
    if (code != TD_OK)
        code = td_buf_fail(out, err, code, "decoded text");
    else if (d->denorm != NULL)
        code = tk_spm_normalize(d->denorm, td_buf_view(&text), out, NULL, err);
    td_buf_done(&bytes);
    td_buf_done(&text);
    return code;
}

td_code tk_spm_make_detok(tk_load *load, const spm_file *file, const spm_model *m,
                          const spm_norm *denorm, const tk_detok **ret)
{
    spm_detok *d = TK_NEW(load, spm_detok);
    if (d == NULL)
        return TD_E_INTERNAL;
    *d = (spm_detok){ .base = { .type = "SentencePiece", .apply = apply },
                      .m = m,
                      .strips_one = file->norm.dummy_prefix,
                      .strips_all = file->norm.remove_extra,
                      .denorm = denorm };
    if (td_utf8_check_strict(file->unk_surface) != file->unk_surface.len)
        return td_fail(load->err, TD_E_TOKENIZER, "trainer_spec.unk_surface is not UTF-8");
    d->unk_surface = tk_keep(load, file->unk_surface);
    *ret = &d->base;
    return d->unk_surface.ptr != NULL ? TD_OK : TD_E_INTERNAL;
}
