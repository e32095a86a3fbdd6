/* The quick check of normalization: which prefix of a text is certainly in a form already.
 *
 * A text is in a form when each character is allowed in it (a bit of norm_flags) and no mark
 * stands behind one of a higher combining class. ASCII is skipped by vectors, and so is what
 * much text is of, where the CPU has them; all else is looked up. */
#include "base/utf8.h"
#include "unicode/generated/norm.h"
#include "unicode/norm.h"

enum { RUN = 256, SKIP = 64 /* bytes before skipping is tried again */ };

/* The end of a run of characters of three bytes at p (the first one is one). *ret_flags: those of
 * all together, so that nothing has to be guessed about each. */
static const char *run_of_three(const char *p, const char *end, unsigned *ret_flags)
{
    const char *stop = end - p > RUN ? p + RUN : end;
    unsigned any = 0;
    do {
        const unsigned char *u = (const unsigned char *)p;
        any |= norm_flags((uint32_t)(u[0] & 0x0F) << 12 | (uint32_t)(u[1] & 0x3F) << 6 |
                          (u[2] & 0x3F));
        p += 3;
    } while (p < stop && ((unsigned char)*p & 0xF0) == 0xE0);
    *ret_flags = any;
    return p;
}

norm_span norm_quick_span(td_norm_form form, td_str s, size_t at)
{
    const unsigned not_yes = 256u << form;
    const char *p = s.ptr + at, *end = s.ptr + s.len;
    norm_span span = { at, at };
    unsigned last = 0;
    const char *checked = p; /* runs that hold something are gone over again up to here */
    const char *skip = form == TD_NFC && norm_can_skip() ? p : end; /* to be tried from here on */
    while (p < end) {
        if (((unsigned char)*p & 0x80) == 0) {
            p += td_utf8_ascii_run((td_str){ p, (size_t)(end - p) });
            span.safe = (size_t)(p - s.ptr) - 1;
            last = 0;
            continue;
        }
        const char *here = p;
        if (p >= skip) {
            p = norm_skip_nfc(p, end);
            skip = end - p > SKIP ? p + SKIP : end;
        }
        if (p > here) {
            const char *before = p;
            td_utf8_prev(here, &before);
            span.safe = (size_t)(before - s.ptr);
            last = 0;
            continue;
        }
        if (p >= checked && ((unsigned char)*p & 0xF0) == 0xE0) {
            unsigned any;
            checked = run_of_three(p, end, &any);
            if ((any & (not_yes | 0xFF)) == 0) {
                p = checked;
                span.safe = (size_t)(p - s.ptr) - 3;
                last = 0;
                continue;
            }
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
