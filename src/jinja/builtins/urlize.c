/* urlize.c - the urlize filter: links made of words that look like URLs or mail addresses.
 *
 * The text is escaped first; each word between white space loses its leading and trailing
 * punctuation and is then matched as a whole. The reference matches with regular expressions;
 * here their alternatives are written out: scheme or www and a host, a bare host with one of the
 * old top-level domains, or a scheme and an IP address, then port and path. */
#include "jinja/builtins/util.h"
#include "unicode/unicode.h"

/* ---- matching ---- */

static bool is_word(uint32_t c)
{
    return c == '_' || td_py_isalnum(c);
}

/* Case is ignored as Python's re does: with the letters that fold into ASCII ones. */
static uint32_t fold(uint32_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c + 32;
    return c == 0x130 || c == 0x131 ? 'i' : c == 0x17F ? 's' : c == 0x212A ? 'k' : c;
}

/* s without a prefix of folded letters; false: it does not start so. */
static bool take(td_str *s, const char *lower)
{
    const char *p = s->ptr, *end = s->ptr + s->len;
    for (; *lower != '\0'; lower++)
        if (p == end || fold(td_utf8_next(&p, end)) != (unsigned char)*lower)
            return false;
    *s = (td_str){ p, (size_t)(end - p) };
    return true;
}

/* Counts the characters of s, all of which must satisfy is; -1 otherwise. */
static int64_t count_if(td_str s, bool (*is)(uint32_t))
{
    int64_t n = 0;
    for (const char *p = s.ptr, *end = s.ptr + s.len; p < end; n++)
        if (!is(td_utf8_next(&p, end)))
            return -1;
    return n;
}

static bool is_label_char(uint32_t c)
{
    return is_word(c) || c == '%' || c == '-';
}

static bool is_word_or_percent(uint32_t c)
{
    return is_word(c) || c == '%';
}

static bool is_letter(uint32_t c)
{
    c = fold(c);
    return c >= 'a' && c <= 'z';
}

/* Dot-separated labels of min to max characters each. */
static bool are_labels(td_str s, int64_t min, int64_t max)
{
    for (;;) {
        size_t dot = td_str_find(s, TD_STR("."), 0);
        int64_t n = count_if((td_str){ s.ptr, dot == TD_NOT_FOUND ? s.len : dot }, is_label_char);
        if (n < min || n > max)
            return false;
        if (dot == TD_NOT_FOUND)
            return true;
        s = td_str_from_offset(s, dot + 1);
    }
}

/* Cuts host at its last dot. */
static td_str split_tld(td_str *host, bool *ret_dot)
{
    size_t dot = td_str_rfind(*host, TD_STR("."));
    td_str tld = dot == TD_NOT_FOUND ? *host : td_str_from_offset(*host, dot + 1);
    *ret_dot = dot != TD_NOT_FOUND;
    host->len = dot == TD_NOT_FOUND ? 0 : dot;
    return tld;
}

static bool is_tld(td_str tld)
{
    int64_t n = count_if(tld, is_letter);
    if (n >= 2 && n <= 63)
        return true;
    if (!take(&tld, "xn--"))
        return false;
    n = count_if(tld, is_word_or_percent);
    return n >= 2 && n <= 59;
}

static bool is_old_tld(td_str tld)
{
    static const char *const known[] = { "com", "net", "int", "edu", "gov", "org", "info", "mil" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        td_str rest = tld;
        if (take(&rest, known[i]) && rest.len == 0)
            return true;
    }
    return false;
}

static bool is_ipv4(td_str s)
{
    for (int part = 0; part < 4; part++) {
        size_t dot = td_str_find(s, TD_STR("."), 0);
        if ((dot == TD_NOT_FOUND) != (part == 3))
            return false;
        int64_t n = count_if((td_str){ s.ptr, dot == TD_NOT_FOUND ? s.len : dot }, td_py_isdecimal);
        if (n < 1 || n > 3)
            return false;
        if (dot != TD_NOT_FOUND)
            s = td_str_from_offset(s, dot + 1);
    }
    return true;
}

/* Up to four hexadecimal digits; true if a colon followed and was taken. */
static bool take_hex_group(td_str *s)
{
    const char *p = s->ptr, *end = s->ptr + s->len;
    for (int i = 0; i < 4 && p < end; i++) {
        const char *next = p;
        uint32_t c = fold(td_utf8_next(&next, end));
        if (!td_py_isdecimal(c) && !(c >= 'a' && c <= 'f'))
            break;
        p = next;
    }
    bool colon = p < end && *p == ':';
    p += colon;
    *s = (td_str){ p, (size_t)(end - p) };
    return colon;
}

/* [....] in front of *s, which is moved behind it. */
static bool take_ipv6(td_str *s)
{
    if (!take(s, "[") || !take_hex_group(s) || !take_hex_group(s))
        return false;
    for (int i = 0; i < 6 && s->len != 0 && *s->ptr != ']'; i++)
        take_hex_group(s);
    return take(s, "]");
}

/* (:port)? (path)? and the end. */
static bool is_rest(td_str s)
{
    if (s.len != 0 && *s.ptr == ':') {
        s = td_str_from_offset(s, 1);
        int n = 0;
        for (const char *p = s.ptr, *end = p + s.len; p < end && n < 6; n++) {
            if (!td_py_isdecimal(td_utf8_next(&p, end)))
                break;
            s = (td_str){ p, (size_t)(end - p) };
        }
        if (n < 1 || n > 5)
            return false;
    }
    return s.len == 0 || *s.ptr == '/' || *s.ptr == '?' || *s.ptr == '#';
}

static bool is_url(td_str s)
{
    td_str after = s;
    bool scheme = take(&after, "https://") || take(&after, "http://");
    bool www = !scheme && take(&after, "www.");
    td_str host = scheme || www ? after : s, bracket = after;
    if (scheme && take_ipv6(&bracket) && is_rest(bracket))
        return true;
    size_t end = 0;
    while (end < host.len && memchr(":/?#", host.ptr[end], 4) == NULL)
        end++;
    td_str rest = td_str_from_offset(host, end);
    host.len = end;
    if (!is_rest(rest))
        return false;
    if (scheme && is_ipv4(host))
        return true;
    bool dot;
    td_str labels = host, tld = split_tld(&labels, &dot);
    if ((scheme || www) && is_tld(tld) && (!dot || are_labels(labels, 1, INT64_MAX)))
        return true;
    labels = (td_str){ s.ptr, (size_t)(host.ptr + host.len - s.ptr) };
    tld = split_tld(&labels, &dot);
    return !scheme && dot && is_old_tld(tld) && are_labels(labels, 2, 63);
}

static bool is_domain_char(uint32_t c)
{
    return is_word(c) || c == '.' || c == '-';
}

static bool is_email(td_str s)
{
    size_t at = td_str_rfind(s, TD_STR("@"));
    if (at == TD_NOT_FOUND || at == 0)
        return false;
    td_str domain = td_str_from_offset(s, at + 1);
    size_t dot = td_str_rfind(domain, TD_STR("."));
    if (dot == TD_NOT_FOUND || dot == 0 || count_if(domain, is_domain_char) < 0)
        return false;
    const char *p = domain.ptr;
    return is_word(td_utf8_next(&p, domain.ptr + domain.len)) &&
           count_if(td_str_from_offset(domain, dot + 1), is_word) > 0;
}

/* ---- the filter ---- */

typedef struct linker {
    jj_vm *vm;
    td_buf *out;
    td_value limit; /* none: no limit */
    td_value rel, target; /* whole attributes, or empty */
    td_value schemes;     /* a list */
} linker;

static td_code put(linker *l, td_str s)
{
    td_code code = td_buf_put(l->out, s);
    return code == TD_OK ? TD_OK : jj_buf_fail(l->vm, l->out, code);
}

static td_code put_trimmed(linker *l, td_str url)
{
    td_value v = td_string(url);
    bool longer = false;
    if (!td_is_none(l->limit))
        TD_TRY(jj_less(l->vm, l->limit, td_int(jj_text_count(v)), &longer));
    if (!longer)
        return put(l, url);
    TD_TRY(jj_slice(l->vm, v, td_none(), l->limit, td_none(), &v));
    TD_TRY(put(l, td_as_str(v)));
    return put(l, TD_STR("..."));
}

static td_code put_link(linker *l, const char *before, td_str href, bool attributes, td_str text,
                        bool trim)
{
    TD_TRY(put(l, TD_STR("<a href=\"")));
    TD_TRY(put(l, td_str_from(before)));
    TD_TRY(put(l, href));
    TD_TRY(put(l, TD_STR("\"")));
    if (attributes) {
        TD_TRY(put(l, td_as_str(l->rel)));
        TD_TRY(put(l, td_as_str(l->target)));
    }
    TD_TRY(put(l, TD_STR(">")));
    TD_TRY(trim ? put_trimmed(l, text) : put(l, text));
    return put(l, TD_STR("</a>"));
}

/* The extra schemes in turn; each may wrap what the one before made. */
static td_code put_schemes(linker *l, td_str middle)
{
    td_value now = td_string(middle);
    for (uint32_t i = 0; i < l->schemes.len; i++) {
        td_str scheme = td_as_str(l->schemes.as.items[i]), text = td_as_str(now);
        if (td_str_eq(text, scheme) || !td_str_starts(text, scheme))
            continue;
        td_buf wrapped = { .limit = l->out->limit }, *out = l->out;
        l->out = &wrapped;
        td_code code = put_link(l, "", text, true, text, false);
        if (code == TD_OK)
            code = jj_new_text(l->vm, td_buf_view(&wrapped), &now);
        l->out = out;
        td_buf_done(&wrapped);
        TD_TRY(code);
    }
    return put(l, td_as_str(now));
}

static td_code put_middle(linker *l, td_str m)
{
    if (is_url(m)) {
        bool whole = td_str_starts(m, TD_STR("https://")) || td_str_starts(m, TD_STR("http://"));
        return put_link(l, whole ? "" : "https://", m, true, m, true);
    }
    if (td_str_starts(m, TD_STR("mailto:")) && is_email(td_str_from_offset(m, 7)))
        return put_link(l, "", m, false, td_str_from_offset(m, 7), false);
    if (td_str_find(m, TD_STR("@"), 0) != TD_NOT_FOUND && !td_str_starts(m, TD_STR("www.")) &&
        !td_str_starts(m, TD_STR("@")) && td_str_find(m, TD_STR(":"), 0) == TD_NOT_FOUND &&
        is_email(m))
        return put_link(l, "mailto:", m, false, m, false);
    return put_schemes(l, m);
}

static size_t count_of(td_str s, td_str part)
{
    size_t n = 0;
    for (size_t at = 0; (at = td_str_find(s, part, at)) != TD_NOT_FOUND; n++)
        at += part.len;
    return n;
}

/* Where the trailing punctuation of word starts. */
static size_t tail_start(td_str word)
{
    for (;;) {
        if (word.len != 0 && memchr(")>.,", word.ptr[word.len - 1], 4) != NULL)
            word.len--;
        else if (td_str_ends(word, TD_STR("&gt;")))
            word.len -= 4;
        else
            return word.len;
    }
}

static td_code put_word(linker *l, td_str word)
{
    static const td_str pairs[3][2] = { { { "(", 1 }, { ")", 1 } },
                                        { { "<", 1 }, { ">", 1 } },
                                        { { "&lt;", 4 }, { "&gt;", 4 } } };
    size_t head = 0;
    for (;;) {
        td_str rest = td_str_from_offset(word, head);
        if (td_str_starts(rest, TD_STR("(")) || td_str_starts(rest, TD_STR("<")))
            head += 1;
        else if (td_str_starts(rest, TD_STR("&lt;")))
            head += 4;
        else
            break;
    }
    td_str middle = td_str_from_offset(word, head), all = middle;
    middle.len = tail_start(middle);
    for (int i = 0; i < 3; i++) {
        size_t starts = count_of(middle, pairs[i][0]);
        if (starts <= count_of(middle, pairs[i][1]))
            continue;
        size_t ends = count_of(td_str_from_offset(all, middle.len), pairs[i][1]);
        for (size_t k = 0; k < starts && k < ends; k++)
            middle.len = td_str_find(all, pairs[i][1], middle.len) + pairs[i][1].len;
    }
    TD_TRY(put(l, (td_str){ word.ptr, head }));
    TD_TRY(put_middle(l, middle));
    return put(l, td_str_from_offset(all, middle.len));
}

/* ' name="escaped"', or nothing for an empty value. */
static td_code attribute(jj_vm *vm, const char *name, td_value v, td_value *ret)
{
    bool truth;
    TD_TRY(jj_truth(vm, v, &truth));
    *ret = td_string(TD_STR(""));
    if (!truth)
        return TD_OK;
    TD_TRY(jj_escape(vm, v, &v));
    td_buf *b = jj_scratch(vm);
    PUT(td_buf_printf(b, " %s=\"", name));
    PUT(td_buf_put(b, td_as_str(v)));
    PUT(td_buf_byte(b, '"'));
    return jj_take(vm, b, false, ret);
}

/* The words of rel and the ones that are always there, sorted, each once. */
static td_code rel_words(jj_vm *vm, td_value rel, bool nofollow, td_value *ret)
{
    td_value words = td_list_of(NULL, 0);
    bool truth;
    TD_TRY(jj_truth(vm, rel, &truth));
    if (truth && rel.tag != TD_V_STR)
        return jj_raise(vm, JJ_ATTRIBUTE_ERROR, "'%s' object has no attribute 'split'",
                        jj_type_name(rel));
    if (truth)
        TD_TRY(jj_m_str_split(vm, rel, &(jj_args){ NULL, 0, NULL, 0 }, &words));
    jj_keyed *all = td_arena_array(jj_arena(vm), jj_keyed, (size_t)words.len + 2);
    if (all == NULL)
        return jj_nomem(vm);
    uint32_t n = 0;
    for (uint32_t i = 0; i < words.len; i++)
        all[n++].key = words.as.items[i];
    if (nofollow)
        all[n++].key = td_string(TD_STR("nofollow"));
    all[n++].key = td_string(TD_STR("noopener"));
    TD_TRY(jj_sort(vm, all, n, false, false));
    td_buf *b = jj_scratch(vm);
    for (uint32_t i = 0; i < n; i++) {
        if (i != 0 && td_str_eq(td_as_str(all[i].key), td_as_str(all[i - 1].key)))
            continue;
        if (i != 0)
            PUT(td_buf_byte(b, ' '));
        PUT(td_buf_put(b, td_as_str(all[i].key)));
    }
    return jj_take(vm, b, false, ret);
}

static bool is_scheme_char(uint32_t c)
{
    return is_word(c) || c == '.' || c == '+' || c == '-';
}

static td_code get_schemes(jj_vm *vm, td_value given, td_value *ret)
{
    *ret = td_list_of(NULL, 0);
    if (td_is_none(given))
        return TD_OK;
    TD_TRY(jj_to_list(vm, given, ret));
    for (uint32_t i = 0; i < ret->len; i++) {
        td_value v = ret->as.items[i];
        if (v.tag != TD_V_STR)
            return jj_raise(vm, JJ_TYPE_ERROR, "expected string or bytes-like object, got '%s'",
                            jj_type_name(v));
        td_str s = td_as_str(v);
        size_t colon = td_str_find(s, TD_STR(":"), 0);
        td_str rest = colon == TD_NOT_FOUND ? s : td_str_from_offset(s, colon + 1);
        td_str name = { s.ptr, colon == TD_NOT_FOUND ? 0 : colon };
        bool slashes = rest.len == 0 || td_str_eq(rest, TD_STR("/")) ||
                       td_str_eq(rest, TD_STR("//"));
        if (!slashes || count_if(name, is_scheme_char) < 2)
            return jj_raise(vm, JJ_FILTER_ARGUMENT, "'%.*s' is not a valid URI scheme prefix.",
                            (int)s.len, s.ptr);
    }
    return TD_OK;
}

static td_code link_words(linker *l, td_str text)
{
    const char *p = text.ptr, *end = text.ptr + text.len, *from = p;
    bool space = false;
    TD_TRY(jj_charge(l->vm, text.len / 64));
    while (p < end) {
        const char *at = p;
        bool now = td_py_isspace(td_utf8_next(&p, end));
        if (now != space) {
            td_str part = { from, (size_t)(at - from) };
            TD_TRY(space ? put(l, part) : put_word(l, part));
            from = at;
            space = now;
        }
    }
    td_str part = { from, (size_t)(end - from) };
    return space ? put(l, part) : put_word(l, part);
}

td_code jj_f_urlize(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    linker l = { .vm = vm, .limit = jj_arg(args, 0, td_none()) };
    td_value rel, text;
    bool nofollow;
    TD_TRY(jj_arg_bool(vm, args, 1, false, &nofollow));
    TD_TRY(rel_words(vm, jj_arg(args, 3, td_none()), nofollow, &rel));
    TD_TRY(get_schemes(vm, jj_arg(args, 4, td_none()), &l.schemes));
    TD_TRY(jj_escape(vm, self, &text));
    TD_TRY(attribute(vm, "rel", rel, &l.rel));
    TD_TRY(attribute(vm, "target", jj_arg(args, 2, td_none()), &l.target));
    td_buf out = { .limit = jj_scratch(vm)->limit };
    l.out = &out;
    td_code code = link_words(&l, td_as_str(text));
    if (code == TD_OK)
        code = jj_new_text(vm, td_buf_view(&out), ret);
    td_buf_done(&out);
    if (code == TD_OK)
        *ret = jj_as_markup(*ret, jj_autoescape(vm));
    return code;
}
