/* The quick check of normalization: which prefix of a text is certainly in a form already.
 *
 * A text is in a form when each character is allowed in it (a bit of norm_flags) and no mark
 * stands behind one of a higher combining class. ASCII is skipped by vectors, and so are blocks
 * that hold nothing in doubt, where the CPU has them; all else is looked up. */
#include "base/utf8.h"
#include "unicode/generated/norm.h"
#include "unicode/norm.h"

enum { SKIP = 64 /* bytes before skipping is tried again */ };

static inline bool is_three(unsigned char lead)
{
    return (lead & 0xF0) == 0xE0;
}

static inline unsigned flags_of_three(const unsigned char *u)
{
    return norm_flags((uint32_t)(u[0] & 0x0F) << 12 | (uint32_t)(u[1] & 0x3F) << 6 |
                      (u[2] & 0x3F));
}

/* p moved over characters of three bytes that have none of these flags. Four at a time, as long as
 * they do, so that nothing has to be guessed about each. */
static const char *pass_three(const char *p, const char *end, unsigned flags)
{
    const unsigned char *u = (const unsigned char *)p, *stop = (const unsigned char *)end;
    while (stop - u >= 12 && (is_three(u[0]) & is_three(u[3]) & is_three(u[6]) & is_three(u[9]))) {
        unsigned any = flags_of_three(u) | flags_of_three(u + 3) | flags_of_three(u + 6) |
                       flags_of_three(u + 9);
        if ((any & flags) != 0)
            break;
        u += 12;
    }
    while (u < stop && is_three(u[0]) && (flags_of_three(u) & flags) == 0)
        u += 3;
    return (const char *)u;
}

/* p moved over characters that are certain, by vectors. */
static const char *skip_certain(td_norm_form form, const char *p, const char *end)
{
    if (form == TD_NFC && norm_can_skip())
        return norm_skip_nfc(p, end);
    return td_doubts_skip(&norm_doubts[form], p, end);
}

norm_span norm_quick_span(td_norm_form form, td_str s, size_t at)
{
    const unsigned not_yes = 256u << form;
    const char *p = s.ptr + at, *end = s.ptr + s.len;
    norm_span span = { at, at };
    unsigned last = 0;
    const char *skip = p; /* to be tried from here on */
    while (p < end) {
        const char *here = p;
        if (((unsigned char)*p & 0x80) == 0) {
            p++;
            if (p < end && ((unsigned char)*p & 0x80) == 0)
                p += td_utf8_ascii_run((td_str){ p, (size_t)(end - p) });
            span.safe = (size_t)(p - s.ptr) - 1;
            last = 0;
            continue;
        }
        if (p >= skip) {
            p = skip_certain(form, p, end);
            skip = end - p > SKIP ? p + SKIP : end;
        }
        if (p == here && is_three((unsigned char)*p))
            p = pass_three(p, end, not_yes | 0xFF);
        if (p > here) {
            const char *before = p;
            td_utf8_prev(here, &before);
            span.safe = (size_t)(before - s.ptr);
            last = 0;
            continue;
        }
        uint32_t c = td_utf8_next(&p, end);
        unsigned flags = norm_flags(c), ccc = flags & 0xFF;
        if ((flags & not_yes) != 0 || (ccc != 0 && ccc < last)) {
            span.stop = (size_t)(here - s.ptr);
            return span;
        }
        if (ccc == 0)
            span.safe = (size_t)(here - s.ptr);
        last = ccc;
    }
    span.stop = s.len;
    return span;
}

bool td_norm_is_quick(td_norm_form form, td_str s)
{
    return norm_quick_span(form, s, 0).stop == s.len;
}
