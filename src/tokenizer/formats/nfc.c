/* nfc.c - NFC as Python's unicodedata does it, for families whose tokenizer is Python code.
 *
 * Characters that are in Unicode 14.0 (CPython 3.11), but not in the 9.0 of our tables, and that
 * normalization treats in a way of their own: a text with one of them is refused. All others are
 * normalized alike in both. The ranges were found by asking both for every code point, alone,
 * beside marks of other classes, and in each pair that composes; the tests ask again. */
#include "tokenizer/formats/formats.h"

#include "base/utf8.h"
#include "tokenizer/norm/norm.h"

static const td_range late[] = {
    { 0x7FD, 0x7FD },     { 0x898, 0x89F },     { 0x8CA, 0x8D3 },     { 0x9FE, 0x9FE },
    { 0xC3C, 0xC3C },     { 0xD3B, 0xD3C },     { 0xEBA, 0xEBA },     { 0x1715, 0x1715 },
    { 0x1ABF, 0x1ACE },   { 0x1DF6, 0x1DFA },   { 0xA82C, 0xA82C },   { 0x10D24, 0x10D27 },
    { 0x10EAB, 0x10EAC }, { 0x10F46, 0x10F50 }, { 0x10F82, 0x10F85 }, { 0x11070, 0x11070 },
    { 0x1133B, 0x1133B }, { 0x1145E, 0x1145E }, { 0x11839, 0x1183A }, { 0x11930, 0x11930 },
    { 0x11935, 0x11935 }, { 0x11938, 0x11938 }, { 0x1193D, 0x1193E }, { 0x11943, 0x11943 },
    { 0x119E0, 0x119E0 }, { 0x11A34, 0x11A34 }, { 0x11A47, 0x11A47 }, { 0x11A99, 0x11A99 },
    { 0x11D42, 0x11D42 }, { 0x11D44, 0x11D45 }, { 0x11D97, 0x11D97 }, { 0x16FF0, 0x16FF1 },
    { 0x1E130, 0x1E136 }, { 0x1E2AE, 0x1E2AE }, { 0x1E2EC, 0x1E2EF },
};

static td_code apply(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    (void)self;
    td_str s = { text->ptr, text->len };
    if (td_norm_is_quick(TD_NFC, s) && td_utf8_is_ascii(s))
        return TD_OK;
    const char *p = s.ptr, *end = s.ptr + s.len;
    while (p < end) {
        uint32_t c = td_utf8_next(&p, end);
        if (c >= late[0].first && td_re_in_class(late, sizeof late / sizeof *late, c))
            return td_fail(err, TD_E_TOKENIZER,
                           "U+%04X: its normalization is of a newer Unicode than is known here", c);
    }
    return tk_norm_unicode(TD_NFC, ctx, text, err);
}

td_code tk_make_python_nfc(tk_load *load, const tk_norm **ret)
{
    tk_norm *n = TK_NEW(load, tk_norm);
    if (n == NULL)
        return TD_E_INTERNAL;
    *n = (tk_norm){ .type = "NFC", .apply = apply };
    *ret = n;
    return TD_OK;
}
