/* bytes.c - bytes objects: what str.encode and int.to_bytes give. They have decode()
 * and hex() here, the methods shared with str in bytes_text.c; three others are a named error. */
#include "jinja/builtins/util.h"

#include <stdio.h>

static td_str data_of(const td_object *o)
{
    return ((const jj_bytes *)o)->data;
}

td_code jj_new_bytes(jj_vm *vm, td_str data, td_value *ret)
{
    jj_bytes *o = td_arena_new(jj_arena(vm), jj_bytes);
    if (o == NULL)
        return jj_nomem(vm);
    *o = (jj_bytes){ { &jj_bytes_type }, data };
    *ret = td_object_of(&o->base);
    return TD_OK;
}

static td_code bytes_getitem(jj_vm *vm, td_object *self, td_value key, td_value *ret)
{
    int64_t i, n = (int64_t)data_of(self).len;
    TD_TRY(jj_index(vm, key, &i));
    if (i < 0)
        i += n;
    if (i < 0 || i >= n)
        return jj_raise(vm, JJ_INDEX_ERROR, "index out of range");
    *ret = td_int((unsigned char)data_of(self).ptr[i]);
    return TD_OK;
}

static td_code bytes_length(jj_vm *vm, td_object *self, int64_t *ret)
{
    (void)vm;
    *ret = (int64_t)data_of(self).len;
    return TD_OK;
}

static td_code bytes_iter(jj_vm *vm, td_object *self, td_value *ret)
{
    td_str s = data_of(self);
    td_value *items = td_arena_array(jj_arena(vm), td_value, s.len);
    if (items == NULL)
        return jj_nomem(vm);
    for (size_t i = 0; i < s.len; i++)
        items[i] = td_int((unsigned char)s.ptr[i]);
    *ret = td_list_of(items, (uint32_t)s.len);
    return TD_OK;
}

static td_code bytes_contains(jj_vm *vm, td_object *self, td_value needle, bool *ret)
{
    int64_t i;
    TD_TRY(jj_charge(vm, data_of(self).len / 256));
    if (jj_is_bytes(needle)) {
        *ret = td_str_find(data_of(self), data_of(needle.as.object), 0) != TD_NOT_FOUND;
        return TD_OK;
    }
    TD_TRY(jj_index(vm, needle, &i));
    if (i < 0 || i > 255)
        return jj_raise(vm, JJ_VALUE_ERROR, "byte must be in range(0, 256)");
    *ret = data_of(self).len != 0 && memchr(data_of(self).ptr, (int)i, data_of(self).len) != NULL;
    return TD_OK;
}

static bool bytes_key_eq(const td_object *self, td_value other)
{
    return jj_is_bytes(other) && td_str_eq(data_of(self), data_of(other.as.object));
}

static uint64_t bytes_key_hash(const td_object *self, uint64_t seed)
{
    return td_value_hash_seeded(td_string(data_of(self)), seed);
}

static td_code bytes_eq(jj_vm *vm, td_object *self, td_value other, bool *ret)
{
    TD_TRY(jj_charge(vm, data_of(self).len / 256));
    *ret = bytes_key_eq(self, other);
    return TD_OK;
}

static td_code bytes_less(jj_vm *vm, td_value a, td_value b, bool or_equal, bool *ret,
                          bool *ret_done)
{
    (void)vm;
    *ret_done = jj_is_bytes(a) && jj_is_bytes(b);
    if (*ret_done) {
        int c = td_str_cmp(data_of(a.as.object), data_of(b.as.object));
        *ret = or_equal ? c <= 0 : c < 0;
    }
    return TD_OK;
}

static td_code bytes_binop(jj_vm *vm, jj_op op, td_value a, td_value b, td_value *ret,
                           bool *ret_done)
{
    *ret_done = op == JJ_ADD && jj_is_bytes(a) && jj_is_bytes(b);
    if (!*ret_done)
        return TD_OK;
    td_str x = data_of(a.as.object), y = data_of(b.as.object);
    char *out = td_arena_alloc(jj_arena(vm), x.len + y.len + 1, 1);
    if (out == NULL)
        return jj_nomem(vm);
    memcpy(out, x.ptr, x.len);
    memcpy(out + x.len, y.ptr, y.len);
    return jj_new_bytes(vm, (td_str){ out, x.len + y.len }, ret);
}

static td_code bytes_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    td_str s = data_of(self);
    bool single = s.len != 0 && memchr(s.ptr, '\'', s.len) != NULL;
    bool twice = s.len != 0 && memchr(s.ptr, '"', s.len) != NULL;
    char quote = single && !twice ? '"' : '\'';
    TD_TRY(td_buf_byte(out, 'b'));
    TD_TRY(td_buf_byte(out, quote));
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == quote || c == '\\')
            TD_TRY(td_buf_printf(out, "\\%c", c));
        else if (c == '\t' || c == '\n' || c == '\r')
            TD_TRY(td_buf_put(out, c == '\t' ? TD_STR("\\t") : c == '\n' ? TD_STR("\\n")
                                                                        : TD_STR("\\r")));
        else if (c < ' ' || c == 0x7F)
            TD_TRY(td_buf_printf(out, "\\x%02x", (unsigned)(unsigned char)c));
        else
            TD_TRY(td_buf_byte(out, c));
    }
    return td_buf_byte(out, quote);
}

static td_code bytes_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    static const char *const others[] = { "fromhex", "maketrans", "translate" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (td_str_eq(name, td_str_from(others[i])))
            return jj_raise(vm, JJ_RUNTIME_ERROR, "bytes.%s is not supported", others[i]);
    TD_TRY(jj_bytes_text_method(vm, self, name, ret));
    if (ret->tag != TD_V_UNDEFINED)
        return TD_OK;
    return jj_object_attr(vm, JJ_TYPE_bytes, self, name, ret);
}

const td_object_type jj_bytes_type = {
    .key = { bytes_key_eq, bytes_key_hash },
    .name = "bytes",
    .getattr = bytes_getattr,
    .getitem = bytes_getitem,
    .length = bytes_length,
    .iter = bytes_iter,
    .contains = bytes_contains,
    .eq = bytes_eq,
    .repr = bytes_repr,
    .binop = bytes_binop,
    .less = bytes_less,
};

/* ---- encode, decode ---- */

typedef enum encoding { UTF_8, ASCII, LATIN_1, UTF_16, UTF_16_LE, UTF_16_BE, UTF_32, UTF_32_LE,
                        UTF_32_BE, UNKNOWN } encoding;

/* Names as Python normalises them: lower case, runs of other characters as one underscore. */
static encoding encoding_named(td_str name)
{
    static const struct { const char *name; encoding is; } names[] = {
        { "utf_8", UTF_8 }, { "utf8", UTF_8 }, { "u8", UTF_8 }, { "utf", UTF_8 },
        { "cp65001", UTF_8 }, { "ascii", ASCII }, { "us_ascii", ASCII }, { "646", ASCII },
        { "latin_1", LATIN_1 }, { "latin1", LATIN_1 }, { "iso_8859_1", LATIN_1 },
        { "iso8859_1", LATIN_1 }, { "l1", LATIN_1 }, { "latin", LATIN_1 }, { "8859", LATIN_1 },
        { "iso_8859_1", LATIN_1 }, { "utf_16", UTF_16 }, { "utf16", UTF_16 }, { "u16", UTF_16 },
        { "utf_16_le", UTF_16_LE }, { "utf_16le", UTF_16_LE }, { "utf_16_be", UTF_16_BE },
        { "utf_16be", UTF_16_BE }, { "utf_32", UTF_32 }, { "utf32", UTF_32 }, { "u32", UTF_32 },
        { "utf_32_le", UTF_32_LE }, { "utf_32le", UTF_32_LE }, { "utf_32_be", UTF_32_BE },
        { "utf_32be", UTF_32_BE },
    };
    char clean[32];
    size_t n = 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c + 32);
        bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!word && (n == 0 || clean[n - 1] == '_'))
            continue;
        if (n == sizeof clean)
            return UNKNOWN;
        clean[n++] = word ? c : '_';
    }
    if (n != 0 && clean[n - 1] == '_')
        n--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (td_str_eq((td_str){ clean, n }, td_str_from(names[i].name)))
            return names[i].is;
    return UNKNOWN;
}

/* encoding and errors of both directions. */
static td_code codec_args(jj_vm *vm, const jj_args *args, encoding *ret, td_str *ret_errors)
{
    td_value v;
    *ret = UTF_8;
    *ret_errors = TD_STR("strict");
    if (jj_given(args, 0)) {
        TD_TRY(jj_arg_text(vm, args, 0, "encoding", &v));
        *ret = encoding_named(td_as_str(v));
        if (*ret == UNKNOWN)
            return jj_raise(vm, JJ_RUNTIME_ERROR, "encoding '%.*s' is not supported", (int)v.len,
                            v.as.str);
    }
    if (jj_given(args, 1)) {
        TD_TRY(jj_arg_text(vm, args, 1, "errors", &v));
        *ret_errors = td_as_str(v);
    }
    return TD_OK;
}

static td_code put_unit(td_buf *b, uint32_t unit, unsigned size, bool big)
{
    char bytes[4];
    for (unsigned i = 0; i < size; i++)
        bytes[big ? size - 1 - i : i] = (char)(unit >> (8 * i) & 0xFF);
    return td_buf_append(b, bytes, size);
}

static bool can_encode(encoding e, uint32_t c)
{
    if (e == ASCII || e == LATIN_1)
        return c < (e == ASCII ? 0x80u : 0x100u);
    return c < 0xD800 || c > 0xDFFF;
}

static td_code put_encoded(td_buf *b, encoding e, uint32_t c)
{
    bool big = e == UTF_16_BE || e == UTF_32_BE;
    switch (e) {
    case UTF_8:
        return td_buf_code_point(b, c);
    case UTF_16:
    case UTF_16_LE:
    case UTF_16_BE:
        if (c < 0x10000)
            return put_unit(b, c, 2, big);
        TD_TRY(put_unit(b, 0xD800 + ((c - 0x10000) >> 10), 2, big));
        return put_unit(b, 0xDC00 + ((c - 0x10000) & 0x3FF), 2, big);
    case UTF_32:
    case UTF_32_LE:
    case UTF_32_BE:
        return put_unit(b, c, 4, big);
    default:
        return td_buf_byte(b, (char)c);
    }
}

static td_code put_encode_error(jj_vm *vm, td_buf *b, encoding e, uint32_t c, td_str errors)
{
    char text[16];
    int n = 0;
    if (td_str_eq(errors, TD_STR("ignore")))
        return TD_OK;
    if (td_str_eq(errors, TD_STR("replace"))) {
        text[n++] = '?';
    } else if (td_str_eq(errors, TD_STR("backslashreplace"))) {
        n = snprintf(text, sizeof text, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x",
                     c);
    } else if (td_str_eq(errors, TD_STR("xmlcharrefreplace"))) {
        n = snprintf(text, sizeof text, "&#%u;", c);
    } else if (td_str_eq(errors, TD_STR("surrogatepass")) && c >= 0xD800 && c <= 0xDFFF &&
               e != ASCII && e != LATIN_1) {
        PUT(put_encoded(b, e, c));
        return TD_OK;
    } else if (td_str_eq(errors, TD_STR("strict")) || td_str_eq(errors, TD_STR("surrogatepass"))) {
        return jj_raise(vm, JJ_VALUE_ERROR, "codec can't encode character U+%04X", c);
    } else {
        return jj_raise(vm, JJ_RUNTIME_ERROR, "error handler '%.*s' is not supported",
                        (int)errors.len, errors.ptr);
    }
    for (int i = 0; i < n; i++)
        PUT(put_encoded(b, e, (unsigned char)text[i]));
    return TD_OK;
}

td_code jj_m_str_encode(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    encoding e;
    td_str errors;
    td_value copy;
    TD_TRY(codec_args(vm, args, &e, &errors));
    td_buf *b = jj_scratch(vm);
    if (e == UTF_16)
        PUT(put_unit(b, 0xFEFF, 2, false));
    if (e == UTF_32)
        PUT(put_unit(b, 0xFEFF, 4, false));
    for (const char *p = self.as.str, *end = p + self.len; p < end;) {
        uint32_t c = td_utf8_next(&p, end);
        if (can_encode(e, c))
            PUT(put_encoded(b, e, c));
        else
            TD_TRY(put_encode_error(vm, b, e, c, errors));
    }
    TD_TRY(jj_take(vm, b, false, &copy));
    return jj_new_bytes(vm, td_as_str(copy), ret);
}

td_code jj_m_bytes_decode(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    encoding e;
    td_str errors, s = data_of(self.as.object);
    TD_TRY(codec_args(vm, args, &e, &errors));
    if (e != UTF_8 && e != ASCII && e != LATIN_1)
        return jj_raise(vm, JJ_RUNTIME_ERROR, 
                        "bytes.decode supports utf-8, ascii and latin-1 only");
    td_buf *b = jj_scratch(vm);
    for (size_t i = 0; i < s.len;) {
        unsigned char c = (unsigned char)s.ptr[i];
        size_t good = 1;
        if (e == UTF_8)
            good = td_utf8_check_strict(td_str_from_offset(s, i));
        else if (e == ASCII)
            good = c < 0x80;
        if (good != 0) {
            if (e == UTF_8)
                PUT(td_buf_append(b, s.ptr + i, good));
            else
                PUT(td_buf_code_point(b, c));
            i += good;
        } else if (td_str_eq(errors, TD_STR("strict"))) {
            return jj_raise(vm, JJ_VALUE_ERROR, "codec can't decode byte 0x%02x", c);
        } else {
            return jj_raise(vm, JJ_RUNTIME_ERROR,
                            "bytes.decode: error handler '%.*s' is not supported", (int)errors.len,
                            errors.ptr);
        }
    }
    return jj_take(vm, b, false, ret);
}

td_code jj_m_bytes_hex(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_str s = data_of(self.as.object), sep = TD_STR("");
    int64_t group = 1;
    if (jj_given(args, 0)) {
        td_value v = args->pos[0];
        if (jj_is_bytes(v))
            v = td_string(data_of(v.as.object));
        else
            TD_TRY(jj_arg_text(vm, args, 0, "sep", &v));
        if (v.len != 1)
            return jj_raise(vm, JJ_VALUE_ERROR, "sep must be length 1.");
        sep = td_as_str(v);
    }
    if (jj_given(args, 1))
        TD_TRY(jj_arg_int(vm, args->pos[1], &group));
    int64_t n = (int64_t)s.len;
    td_buf *b = jj_scratch(vm);
    for (int64_t i = 0; i < n; i++) {
        int64_t size = group < 0 ? -group : group;
        if (i != 0 && size != 0 && (group > 0 ? (n - i) % size : i % size) == 0)
            PUT(td_buf_put(b, sep));
        PUT(td_buf_printf(b, "%02x", (unsigned)(unsigned char)s.ptr[i]));
    }
    return jj_take(vm, b, false, ret);
}
