/* json_read.c - one pass from JSON text to values.
 *
 * No recursion: open containers are frames, their finished items wait on a stack of values and
 * move into the arena when the container closes. A dict's keys and values alternate on the stack,
 * which is the layout of td_entry. Strings without an escape stay views. Others are decoded in
 * blocks of 64 bytes: the positions of all bytes that matter come as one bit mask, and only the
 * pieces between them are copied.
 *
 * UTF-8 is checked only where bytes outside ASCII occur in a string; anywhere else such a byte is
 * an error anyway, and every error first looks whether invalid UTF-8 is the reason, as decoding
 * the text comes first in Python. */
#include "value/json.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "value/bigint.h"
#include "value/builder.h"
#include "value/json_scan.h"
#include "value/number.h"

typedef struct frame {
    uint32_t start; /* of its items on the stack */
    char close;     /* ']' or '}' */
} frame;

enum { KEYS_KNOWN = 32 };

typedef struct reader {
    td_arena *arena;
    const char *start, *end;
    uint32_t depth;
    /* the failure: a NULL pointer goes up, this says why */
    td_code code;
    const char *what, *where;
    frame frames[TD_JSON_DEPTH_MAX];
    td_builder builder;
    td_json_member *member; /* NULL: a text of its own */
    const char *member_at;  /* where the value of the member that is being read starts */
    td_value keys[KEYS_KNOWN]; /* of the last key with each hash: keys repeat */
} reader;

static const char *fail(reader *r, const char *where, const char *what)
{
    r->code = TD_E_INPUT;
    r->where = where;
    r->what = what;
    return NULL;
}

static const char *fail_memory(reader *r)
{
    r->code = TD_E_INTERNAL;
    r->what = NULL;
    return NULL;
}

static inline const char *skip_space(const reader *r, const char *p)
{
    while (p < r->end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
        p++;
    return p;
}

/* ---- strings ---- */

/* What a decoded string contains; above the eight bits of a character. */
enum {
    NOT_SPAN = 1 << 8, /* an escape that json.dumps would write differently */
    NOT_RAW = 1 << 9,  /* a character that json.dumps would escape */
    NON_ASCII = 1 << 10,
};

typedef struct decoded {
    char *out;
    unsigned seen;
    td_json_span *span; /* the text starts behind it */
    char *limit;        /* end of the room */
} decoded;

/* A block gives at most this much, a straddling escape and the overrun of copies included. */
enum { BLOCK_ROOM = JSON_BLOCK + JSON_OVERRUN + 4 };

/* The character that a one-letter escape stands for, and what that says of the string. */
static const uint16_t escapes[256] = {
    ['"'] = '"' | NOT_RAW,  ['\\'] = '\\' | NOT_RAW, ['/'] = '/' | NOT_SPAN, ['b'] = '\b' | NOT_RAW,
    ['f'] = '\f' | NOT_RAW, ['n'] = '\n' | NOT_RAW,  ['r'] = '\r' | NOT_RAW, ['t'] = '\t' | NOT_RAW,
};

/* Four hexadecimal digits; -1: they are not. *upper: one of them is an upper-case letter. */
static int32_t hex4(const char *p, bool *upper)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit;
        if (c >= '0' && c <= '9') {
            digit = c - '0';
        } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
            digit = (c | 0x20) - 'a' + 10;
            *upper |= (c & 0x20) == 0;
        } else {
            return -1;
        }
        value = value << 4 | digit;
    }
    return value;
}

/* Decodes the \u escape at p (its backslash), and a second one that completes a surrogate pair. */
static const char *decode_unicode(reader *r, const char *p, decoded *d)
{
    bool upper = false;
    /* As in the reference there must be one more byte behind the digits. */
    int32_t c = r->end - p > 6 ? hex4(p + 2, &upper) : -1;
    if (c < 0)
        return fail(r, p + 1, "invalid \\uXXXX escape");
    const char *next = p + 6;
    if (c >= 0xD800 && c < 0xDC00 && r->end - next > 6 && next[0] == '\\' && next[1] == 'u') {
        int32_t low = hex4(next + 2, &upper);
        if (low < 0)
            return fail(r, next + 1, "invalid \\uXXXX escape");
        if (low >= 0xDC00 && low < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10 | (low - 0xDC00));
            next += 6;
        }
    }
    bool control = c < 0x20;
    if (!control || upper || (c >= 8 && c <= 13 && c != 11)) /* 8..13: \b \t \n, none, \f \r */
        d->seen |= NOT_SPAN;
    if (control || c == '"' || c == '\\')
        d->seen |= NOT_RAW;
    if (c >= 0x80)
        d->seen |= NON_ASCII;
    d->out += td_utf8_put(d->out, (uint32_t)c);
    return next;
}

/* Decodes the escape at p; the position behind it. */
static const char *decode_escape(reader *r, const char *p, const char *quote, decoded *d)
{
    if (r->end - p < 2)
        return fail(r, quote, "unterminated string");
    unsigned e = escapes[(unsigned char)p[1]];
    if (e == 0)
        return p[1] == 'u' ? decode_unicode(r, p, d) : fail(r, p, "invalid \\ escape");
    d->seen |= e;
    *d->out++ = (char)e;
    return p + 2;
}

/* Takes what is left of the arena's block, but at least so much for len bytes more, and never more
 * than the rest of the text could need. What was decoded so far moves along. */
static bool take_room(reader *r, decoded *d, size_t len)
{
    size_t used = d->span != NULL ? (size_t)(d->out - (char *)(d->span + 1)) : 0;
    size_t min = sizeof(td_json_span) + 2 * used + len + 2 * BLOCK_ROOM;
    size_t max = min + (size_t)(r->end - r->start);
    td_json_span *span = td_arena_alloc(r->arena, min, _Alignof(td_json_span));
    if (span == NULL) {
        fail_memory(r);
        return false;
    }
    size_t left = (size_t)(r->arena->end - (char *)span);
    d->limit = (char *)span + (left < max ? left : max);
    r->arena->cur = d->limit;
    char *text = (char *)(span + 1);
    if (used != 0)
        memcpy(text, d->span + 1, used);
    d->span = span;
    d->out = text + used;
    return true;
}

/* Decodes whole blocks from p on, as long as there is text for one. Ends at the closing quote, at
 * the text's last bytes, or with an error. */
static const char *decode_blocks(reader *r, const char *p, const char *quote, decoded *d)
{
    decoded now = *d; /* in registers, unless an escape is a rare one */
    while (r->end - p >= JSON_BLOCK + JSON_OVERRUN) {
        if (now.limit - now.out < BLOCK_ROOM) {
            *d = now;
            if (!take_room(r, d, 0))
                return NULL;
            now = *d;
        }
        const char *block = p, *block_end = p + JSON_BLOCK;
        json_mask m = json_scan64(p);
        while (m.special != 0) {
            unsigned at = (unsigned)__builtin_ctzll(m.special);
            now.out = json_copy(now.out, p, (size_t)(block + at - p));
            p = block + at;
            if (*p != '\\') {
                now.seen |= (m.high & ((UINT64_C(1) << at) - 1)) != 0 ? NON_ASCII : 0;
                *d = now;
                return p;
            }
            unsigned e = escapes[(unsigned char)p[1]];
            if (e != 0) {
                now.seen |= e;
                *now.out++ = (char)e;
                p += 2;
            } else {
                *d = now;
                p = decode_escape(r, p, quote, d);
                if (p == NULL)
                    return NULL;
                now = *d;
            }
            m.special &= p < block_end ? ~UINT64_C(0) << (p - block) : 0;
        }
        now.seen |= m.high != 0 ? NON_ASCII : 0;
        if (p < block_end) {
            now.out = json_copy(now.out, p, (size_t)(block_end - p));
            p = block_end;
        }
    }
    *d = now;
    return p;
}

/* A string whose first escape is at p; it began behind the quote. */
static const char *decode_string(reader *r, const char *quote, const char *p, bool high,
                                 td_value *ret)
{
    const char *source = quote + 1;
    decoded d = { .seen = high ? NON_ASCII : 0 };
    if (!take_room(r, &d, (size_t)(p - source)))
        return NULL;
    memcpy(d.out, source, (size_t)(p - source));
    d.out += p - source;
    p = decode_blocks(r, p, quote, &d);
    while (p != NULL && p < r->end && *p != '"') {
        if (d.limit - d.out < BLOCK_ROOM && !take_room(r, &d, 0))
            return NULL;
        if (*p == '\\') {
            p = decode_escape(r, p, quote, &d);
        } else if ((unsigned char)*p < 0x20) {
            return fail(r, p, "control character in a string");
        } else {
            d.seen |= (unsigned char)*p >= 0x80 ? NON_ASCII : 0;
            *d.out++ = *p++;
        }
    }
    if (p == NULL)
        return NULL;
    if (p == r->end)
        return fail(r, quote, "unterminated string");
    td_str raw = { source, (size_t)(p - source) };
    if ((d.seen & NON_ASCII) != 0 && td_utf8_check_strict(raw) != raw.len)
        return fail(r, quote, "invalid UTF-8");
    *d.span = (td_json_span){ .source = source, .source_len = (uint32_t)raw.len };
    td_arena_shrink(r->arena, d.out);
    char *text = (char *)(d.span + 1);
    *ret = td_string((td_str){ text, (size_t)(d.out - text) });
    ret->flags = (uint8_t)(((d.seen & NON_ASCII) != 0 ? TD_VF_NONASCII : TD_VF_ASCII) |
                           ((d.seen & NOT_SPAN) == 0 ? TD_VF_JSON_SPAN : 0) |
                           ((d.seen & NOT_RAW) == 0 ? TD_VF_JSON_RAW : 0));
    return p + 1;
}

/* The string whose opening quote is at quote. */
static inline const char *read_string(reader *r, const char *quote, td_value *ret)
{
    const char *text = quote + 1;
    bool high;
    size_t len = json_plain_length(text, (size_t)(r->end - text), &high);
    const char *p = text + len;
    if (p == r->end)
        return fail(r, quote, "unterminated string");
    if (*p == '\\')
        return decode_string(r, quote, p, high, ret);
    if (*p != '"')
        return fail(r, p, "control character in a string");
    if (high && td_utf8_check_strict((td_str){ text, len }) != len)
        return fail(r, quote, "invalid UTF-8");
    *ret = (td_value){ .tag = TD_V_STR,
                       .flags = TD_VF_JSON_RAW | (high ? TD_VF_NONASCII : TD_VF_ASCII),
                       .len = (uint32_t)len,
                       .as.str = text };
    return p + 1;
}

/* ---- other scalars ---- */

static inline bool is_digit(const reader *r, const char *p)
{
    return p < r->end && *p >= '0' && *p <= '9';
}

/* The end of a fraction or exponent at p, p itself when there is none. */
static const char *skip_fraction(const reader *r, const char *p)
{
    if (p < r->end && *p == '.' && is_digit(r, p + 1))
        for (p++; is_digit(r, p);)
            p++;
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        if (q < r->end && (*q == '-' || *q == '+'))
            q++;
        if (is_digit(r, q)) {
            while (is_digit(r, q))
                q++;
            p = q;
        }
    }
    return p;
}

static const char *read_number(reader *r, const char *start, td_value *ret)
{
    const char *p = start + (*start == '-'), *digits = p;
    if (!is_digit(r, p))
        return fail(r, start, "expected a value");
    uint64_t value = 0; /* wraps around for long ones, which do not use it */
    if (*p == '0')
        p++;
    else
        for (; is_digit(r, p); p++)
            value = value * 10 + (uint64_t)(*p - '0');
    size_t n = (size_t)(p - digits);
    const char *end = skip_fraction(r, p);
    if (end != p) {
        double d = 0;
        if (!td_float_parse((td_str){ start, (size_t)(end - start) }, &d))
            return fail(r, start, "expected a value");
        *ret = td_float(d);
        return end;
    }
    if (n <= 18) {
        *ret = td_int(digits != start ? -(int64_t)value : (int64_t)value);
        return p;
    }
    if (n > TD_INT_DIGITS_MAX)
        return fail(r, start, "integer of more than 4300 digits");
    if (!td_bigint_parse(r->arena, (td_str){ start, (size_t)(p - start) }, 10, ret))
        return fail_memory(r);
    return p;
}

static bool word(const reader *r, const char *p, td_str w)
{
    return (size_t)(r->end - p) >= w.len && memcmp(p, w.ptr, w.len) == 0;
}

static const char *read_scalar(reader *r, const char *p, td_value *ret)
{
    static const struct {
        td_str text;
        td_value value;
    } words[] = {
        { { "null", 4 }, { .tag = TD_V_NONE } },
        { { "true", 4 }, { .tag = TD_V_BOOL, .as.integer = 1 } },
        { { "false", 5 }, { .tag = TD_V_BOOL, .as.integer = 0 } },
        { { "NaN", 3 }, { .tag = TD_V_FLOAT, .as.real = (double)NAN } },
        { { "Infinity", 8 }, { .tag = TD_V_FLOAT, .as.real = (double)INFINITY } },
        { { "-Infinity", 9 }, { .tag = TD_V_FLOAT, .as.real = (double)-INFINITY } },
    };
    if (*p == '"')
        return read_string(r, p, ret);
    if (*p >= '0' && *p <= '9')
        return read_number(r, p, ret);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word(r, p, words[i].text)) {
            *ret = words[i].value;
            return p + words[i].text.len;
        }
    return read_number(r, p, ret);
}

/* ---- containers ---- */

/* The next free place of the stack, or NULL. */
static inline td_value *push(reader *r)
{
    td_value *slot = td_builder_push(&r->builder);
    if (slot == NULL)
        fail_memory(r);
    return slot;
}

/* Replaces the items of the innermost container by the container. */
static bool close_container(reader *r)
{
    const frame *f = &r->frames[--r->depth];
    return f->close == ']' ? td_builder_sequence(&r->builder, f->start, TD_V_LIST)
                           : td_builder_dict(&r->builder, f->start);
}

/* Lets equal keys of one text be the same bytes, so that looking them up later touches fewer places
 * in memory. */
static inline void share_key(reader *r, td_value *key)
{
    td_value *known = &r->keys[key->hash % KEYS_KNOWN];
    if (known->tag == TD_V_STR && known->hash == key->hash && known->len == key->len &&
        known->flags == key->flags &&
        (key->len == 0 || memcmp(known->as.str, key->as.str, key->len) == 0))
        *key = *known;
    else
        *known = *key;
}

/* The value at p belongs to the key that was read last. */
static void see_member(reader *r, const td_value *key, const char *p)
{
    td_json_member *m = r->member;
    if (r->depth != 1 || !td_str_eq(td_as_str(*key), m->key))
        return;
    m->times++;
    m->source = (td_str){ NULL, 0 };
    r->member_at = p < r->end && *p == '[' ? p : NULL;
}

/* Reads `"key" :` at p; the start of the value. */
static const char *read_key(reader *r, const char *p)
{
    if (p == r->end || *p != '"')
        return fail(r, p, "expected a property name in double quotes");
    td_value *key = push(r);
    if (key == NULL)
        return NULL;
    p = read_string(r, p, key);
    if (p == NULL)
        return NULL;
    key->hash = td_key_hash(td_as_str(*key));
    if (r->member != NULL)
        key->flags |= TD_VF_JSON_KEY;
    share_key(r, key);
    p = skip_space(r, p);
    if (p == r->end || *p != ':')
        return fail(r, p, "expected ':' behind the property name");
    p = skip_space(r, p + 1);
    if (r->member != NULL)
        see_member(r, key, p);
    return p;
}

/* Opens the container at p: the start of its first value, or, if it is empty, its end (*closed). */
static const char *open_container(reader *r, const char *p, bool *closed)
{
    if (r->depth == TD_JSON_DEPTH_MAX) {
        fail(r, p, "nesting deeper than 1000");
        r->code = TD_E_LIMIT;
        return NULL;
    }
    frame *f = &r->frames[r->depth++];
    *f = (frame){ .start = (uint32_t)r->builder.count, .close = (char)(*p + 2) };
    p = skip_space(r, p + 1);
    *closed = p < r->end && *p == f->close;
    if (*closed)
        return close_container(r) ? p + 1 : fail_memory(r);
    return f->close == '}' ? read_key(r, p) : p;
}

/* Behind a value of an open container: the start of its next value, or the end of the outermost
 * container (then depth is 0). */
static const char *go_on(reader *r, const char *p)
{
    while (r->depth > 0) {
        char close = r->frames[r->depth - 1].close;
        if (r->member_at != NULL && r->depth == 1) {
            r->member->source = (td_str){ r->member_at, (size_t)(p - r->member_at) };
            r->member_at = NULL;
        }
        p = skip_space(r, p);
        if (p < r->end && *p == ',') {
            p = skip_space(r, p + 1);
            return close == '}' ? read_key(r, p) : p;
        }
        if (p == r->end || *p != close)
            return fail(r, p, "expected ',' or the closing bracket");
        if (!close_container(r))
            return fail_memory(r);
        p++;
    }
    return p;
}

/* Takes the member whose list starts at p as a whole, if it is known: the position behind it, p if
 * it is not. */
static const char *take_known(reader *r, const char *p)
{
    td_value v;
    const td_json_member *m = r->member;
    if (m->known == NULL || m->times != 1)
        return p;
    size_t len = m->known(m->user, (td_str){ p, (size_t)(r->end - p) }, &v);
    if (len == 0)
        return p;
    td_value *slot = push(r);
    if (slot == NULL)
        return NULL;
    *slot = v;
    r->member_at = NULL;
    return go_on(r, p + len);
}

static const char *read_value(reader *r, const char *p)
{
    do {
        bool complete = true;
        if (p == r->end)
            return fail(r, p, "expected a value");
        if (p == r->member_at) {
            const char *behind = take_known(r, p);
            if (behind != p) {
                p = behind;
                continue;
            }
        }
        if (*p == '{' || *p == '[') {
            p = open_container(r, p, &complete);
        } else {
            td_value *slot = push(r);
            p = slot != NULL ? read_scalar(r, p, slot) : NULL;
        }
        if (p != NULL && complete)
            p = go_on(r, p);
    } while (p != NULL && r->depth > 0);
    return p;
}

static td_code report(const reader *r, td_str text, td_error *err)
{
    if (r->what == NULL)
        return td_arena_fail(r->arena, err);
    size_t valid = td_utf8_check_strict(text);
    if (valid < text.len)
        td_fail_at(err, TD_E_INPUT, valid, "invalid UTF-8");
    else
        td_fail_at(err, r->code, (uint64_t)(r->where - r->start), "%s", r->what);
    td_error_locate(err, text);
    return err->code;
}

static td_code read_text(td_arena *a, td_str text, td_json_member *member, td_value *ret,
                         td_error *err)
{
    if (text.len >= UINT32_MAX)
        return td_fail(err, TD_E_LIMIT, "JSON text of 4 GiB or more");
    const char *start = text.ptr != NULL ? text.ptr : "";
    reader r;
    r.arena = a;
    r.start = start;
    r.end = start + text.len;
    r.depth = 0;
    r.member = member;
    r.member_at = NULL;
    memset(r.keys, 0, sizeof r.keys);
    td_builder_start(&r.builder, a);
    const char *p;
    if (text.len >= 3 && memcmp(start, "\xEF\xBB\xBF", 3) == 0) {
        p = fail(&r, start, "unexpected byte order mark");
    } else {
        p = read_value(&r, skip_space(&r, start));
        if (p != NULL && (p = skip_space(&r, p)) != r.end)
            p = fail(&r, p, "unexpected text behind the value");
    }
    if (p != NULL)
        *ret = r.builder.stack[0];
    td_builder_done(&r.builder);
    return p != NULL ? TD_OK : report(&r, (td_str){ start, text.len }, err);
}

td_code td_json_read(td_arena *a, td_str text, td_value *ret, td_error *err)
{
    return read_text(a, text, NULL, ret, err);
}

td_code td_json_read_request(td_arena *a, td_str text, td_json_member *member, td_value *ret,
                             td_error *err)
{
    member->source = (td_str){ NULL, 0 };
    member->times = 0;
    return read_text(a, text, member, ret, err);
}
