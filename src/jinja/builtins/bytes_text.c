/* bytes_text.c - the methods that bytes share with str.
 *
 * The bytes become a text, the str method runs on it, and texts in its result become bytes again.
 * Bytes that mean nothing to bytes methods (all but ASCII, and the separators 0x1C-0x1F; for
 * splitlines also vertical tab and form feed) become private-use characters, which have no case,
 * are no letters, digits or white space, and so are as inert as the bytes. */
#include "jinja/builtins/util.h"

enum { INERT = 0xE000 };

static bool is_inert(unsigned char c, bool lines)
{
    return c >= 0x80 || (c >= 0x1C && c <= 0x1F) || (lines && (c == '\v' || c == '\f'));
}

static td_code to_text(jj_vm *vm, td_str s, bool lines, td_value *ret)
{
    td_buf *b = jj_scratch(vm);
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        PUT(td_buf_code_point(b, is_inert(c, lines) ? INERT + c : c));
    }
    return jj_take(vm, b, false, ret);
}

/* Texts in v become bytes, in lists and tuples too. */
static td_code to_bytes(jj_vm *vm, td_value v, td_value *ret)
{
    *ret = v;
    if (v.tag == TD_V_STR) {
        char *out = td_arena_alloc(jj_arena(vm), (size_t)v.len + 1, 1);
        size_t n = 0;
        if (out == NULL)
            return jj_nomem(vm);
        for (const char *p = v.as.str, *end = p + v.len; p < end;)
            out[n++] = (char)(td_utf8_next(&p, end) & 0xFF);
        return jj_new_bytes(vm, (td_str){ out, n }, ret);
    }
    if (v.tag != TD_V_LIST && v.tag != TD_V_TUPLE)
        return TD_OK;
    td_value *items = td_arena_array(jj_arena(vm), td_value, v.len);
    if (items == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < v.len; i++)
        TD_TRY(to_bytes(vm, v.as.items[i], &items[i]));
    ret->as.items = items;
    return TD_OK;
}

typedef struct bytes_method {
    td_object base;
    const jj_builtin *of_str;
    td_value receiver;
} bytes_method;

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static td_code argument(jj_vm *vm, const char *name, td_value v, td_value *ret)
{
    static const char *const by_number[] = { "count", "find", "index", "rfind", "rindex", NULL };
    static const char *const by_tuple[] = { "startswith", "endswith", NULL };
    bool join = strcmp(name, "join") == 0;
    *ret = v;
    if (jj_is_bytes(v) && !join)
        return to_text(vm, ((const jj_bytes *)v.as.object)->data, false, ret);
    if (v.tag == TD_V_STR && !join)
        return jj_raise(vm, JJ_TYPE_ERROR, "a bytes-like object is required, not 'str'");
    if (jj_is_int(v) && is_one_of(name, by_number)) {
        int64_t n;
        TD_TRY(jj_index(vm, v, &n));
        if (n < 0 || n > 255)
            return jj_raise(vm, JJ_VALUE_ERROR, "byte must be in range(0, 256)");
        return to_text(vm, (td_str){ &(char){ (char)n }, 1 }, false, ret);
    }
    if (!join && !(v.tag == TD_V_TUPLE && is_one_of(name, by_tuple)))
        return TD_OK;
    if (join)
        TD_TRY(jj_to_list(vm, v, &v));
    td_value *items = td_arena_array(jj_arena(vm), td_value, v.len);
    if (items == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < v.len; i++)
        TD_TRY(argument(vm, "", v.as.items[i], &items[i]));
    v.as.items = items;
    *ret = v;
    return TD_OK;
}

static td_code bytes_method_call(jj_vm *vm, td_object *object, const jj_args *args, td_value *ret)
{
    const bytes_method *m = (const bytes_method *)object;
    const char *name = m->of_str->name;
    td_str data = ((const jj_bytes *)m->receiver.as.object)->data;
    td_value self, *pos = td_arena_array(jj_arena(vm), td_value, args->npos);
    td_entry *kw = td_arena_array(jj_arena(vm), td_entry, args->nkw);
    if (pos == NULL || kw == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < args->npos; i++) /* only the first of them can be a byte's number */
        TD_TRY(argument(vm, i == 0 ? name : "", args->pos[i], &pos[i]));
    for (uint32_t i = 0; i < args->nkw; i++) {
        kw[i].key = args->kw[i].key;
        TD_TRY(argument(vm, "", args->kw[i].val, &kw[i].val));
    }
    TD_TRY(to_text(vm, data, strcmp(name, "splitlines") == 0, &self));
    jj_args converted = { pos, args->npos, kw, args->nkw };
    TD_TRY(jj_call_builtin(vm, m->of_str, self, &converted, ret));
    if (strcmp(name, "isascii") == 0)
        *ret = td_bool(td_utf8_is_ascii(data));
    return to_bytes(vm, *ret, ret);
}

static td_code bytes_method_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    return td_buf_printf(out, "<built-in method %s of bytes object at 0x7f0000000000>",
                         ((const bytes_method *)self)->of_str->name);
}

static const td_object_type bytes_method_type = {
    .name = "builtin_function_or_method",
    .call = bytes_method_call,
    .repr = bytes_method_repr,
};

td_code jj_bytes_text_method(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    static const char *const shared[] = {
        "capitalize", "center",       "count",        "endswith",   "expandtabs", "find",
        "index",      "isalnum",      "isalpha",      "isascii",    "isdigit",    "islower",
        "isspace",    "istitle",      "isupper",      "join",       "ljust",      "lower",
        "lstrip",     "partition",    "removeprefix", "removesuffix", "replace",  "rfind",
        "rindex",     "rjust",        "rpartition",   "rsplit",     "rstrip",     "split",
        "splitlines", "startswith",   "strip",        "swapcase",   "title",      "upper",
        "zfill",      NULL,
    };
    const jj_builtin *b = jj_type_method(JJ_TYPE_str, name);
    *ret = td_undefined_value();
    if (b == NULL || !is_one_of(b->name, shared))
        return TD_OK;
    bytes_method *m = td_arena_new(jj_arena(vm), bytes_method);
    if (m == NULL)
        return jj_nomem(vm);
    *m = (bytes_method){ { &bytes_method_type }, b, td_object_of(self) };
    *ret = td_object_of(&m->base);
    return TD_OK;
}

td_code jj_bytes_slice(jj_vm *vm, td_value v, td_value start, td_value stop, td_value step,
                       td_value *ret)
{
    td_value text;
    TD_TRY(to_text(vm, ((const jj_bytes *)v.as.object)->data, false, &text));
    TD_TRY(jj_slice(vm, text, start, stop, step, &text));
    return to_bytes(vm, text, ret);
}
