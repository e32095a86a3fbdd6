/* json.h - JSON exactly as CPython's json module reads and writes it.
 *
 * Reading (json.loads): NaN, Infinity and -Infinity are numbers; integers have any size; of a
 * duplicate key the last value stays at the first place; \uD800 alone is kept as a lone surrogate;
 * control characters below 0x20 inside strings are refused; a BOM is refused; integers of more than
 * TD_INT_DIGITS_MAX digits are refused. Bytes must be strictly UTF-8, as of a text that was decoded
 * first (json.loads of bytes would let encoded surrogates pass).
 * Strings without an escape are views into the text, others are decoded into the arena. */
#ifndef TD_SRC_VALUE_JSON_H
#define TD_SRC_VALUE_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "value/value.h"

enum { TD_JSON_DEPTH_MAX = 1000 };

/* Stands right before the bytes of a decoded string that has TD_VF_JSON_SPAN: its source text
 * (without the quotes) is what json.dumps(ensure_ascii=False) would write for it again. */
typedef struct td_json_span {
    const char *source;
    uint32_t source_len;
    uint32_t unused;
} td_json_span;

/* Reads the one value that text holds. The value borrows from text and a. On failure err has the
 * byte offset, line and column (TD_E_INPUT; TD_E_LIMIT for nesting beyond TD_JSON_DEPTH_MAX). */
TD_NODISCARD td_code td_json_read(td_arena *a, td_str text, td_value *ret, td_error *err);

/* What a reader asks about one member of the outermost object, and learns. */
typedef struct td_json_member {
    td_str key;
    /* Has a value been read before from what text starts with? Then *ret is it, and the length of
     * its source is returned; else 0. Asked once, about a list. NULL: nothing is known. */
    size_t (*known)(void *user, td_str text, td_value *ret);
    void *user;
    td_str source; /* set: the member's text when it is a list that was not known; else ptr NULL */
    unsigned times; /* set: how many members have that key; the last one counts */
} td_json_member;

/* As td_json_read, of a text that is a whole request or a part of one: its keys get TD_VF_JSON_KEY.
 * member is looked for among the keys of the outermost object. */
TD_NODISCARD td_code td_json_read_request(td_arena *a, td_str text, td_json_member *member,
                                          td_value *ret, td_error *err);

/* The keyword arguments of json.dumps that a template can set; zeroed fields are its defaults,
 * except that ensure_ascii is off as in chat templates. */
typedef struct td_json_style {
    bool ensure_ascii;
    bool sort_keys;
    bool has_indent; /* indent is the text of one level */
    td_str indent;
    bool has_separators;
    td_str item_separator, key_separator;
} td_json_style;

/* Appends the text of v. What json.dumps refuses (undefined, objects, keys that are no scalars,
 * unorderable keys with sort_keys) is TD_E_TEMPLATE, "Object of type X is not JSON serializable" */
TD_NODISCARD td_code td_json_write(td_buf *out, td_value v, const td_json_style *style,
                                   td_error *err);

/* Appends s as a JSON string, quotes included; bytes must be valid (surrogates allowed). */
td_code td_json_write_string(td_buf *out, td_str s, bool ensure_ascii);
/* Appends any bytes as a JSON string that is strict UTF-8: lone surrogates are escaped, bytes that
 * are no text are U+FFFD each. */
td_code td_json_write_strict(td_buf *out, td_str s);

#endif
