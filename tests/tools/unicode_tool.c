/* unicode_tool - prints what src/unicode says, for comparison with the references.
 *
 *   unicode_tool py         a line for each code point: predicates and mappings of td_py_*
 *   unicode_tool bits       a byte for each code point: td_re_bits
 *   unicode_tool tk         a line for each code point: td_tk_* and the case variants
 *   unicode_tool onig       for each line of stdin, PATTERN tab TEXT: where the linked regex engine
 *                           finds matches, as byte offsets
 *   unicode_tool class      for each line of stdin (a class name): its ranges, or "none"
 *   unicode_tool METHOD     for each length-prefixed text of stdin the mapped text, in the same way
 *                           (upper lower title capitalize swapcase casefold strip lstrip rstrip
 *                           NFC NFD NFKC NFKD); ?NFC and so on: the quick check's answer; named:
 *                           the character of that name, nothing if there is none
 */
#include <stdio.h>
#include <stdlib.h>

#include <oniguruma.h>

#include "base/str.h"
#include "base/utf8.h"
#include "unicode/unicode.h"
#include "unicode/unicode_ref.h"

static void print_map(int (*map)(uint32_t c, uint32_t out[3]), uint32_t c)
{
    uint32_t out[3];
    int n = map(c, out);
    for (int i = 0; i < n; i++)
        printf("%c%X", i == 0 ? ' ' : '+', (unsigned)out[i]);
}

static int print_py(void)
{
    static bool (*const tests[])(uint32_t c) = {
        td_py_isspace,  td_py_isprintable,      td_py_isalpha,     td_py_isdecimal,
        td_py_isdigit,  td_py_isnumeric,        td_py_isalnum,     td_py_isupper,
        td_py_islower,  td_py_istitle,          td_py_is_id_start, td_py_is_id_continue,
        td_py_is_cased, td_py_is_case_ignorable
    };
    for (uint32_t c = 0; c < 0x110000; c++) {
        for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
            putchar(tests[i](c) ? '1' : '0');
        printf(" %d", td_py_decimal_value(c));
        print_map(td_py_to_upper, c);
        print_map(td_py_to_lower, c);
        print_map(td_py_to_title, c);
        print_map(td_py_to_fold, c);
        putchar('\n');
    }
    return 0;
}

static int print_tk(void)
{
    static bool (*const tests[])(
        uint32_t c) = { td_tk_is_whitespace,     td_tk_is_numeric,          td_tk_is_punctuation,
                        td_tk_is_control,        td_tk_is_cleaned_to_space, td_tk_is_chinese,
                        td_tk_is_combining_mark, td_tk_is_nonspacing_mark,  td_tk_is_word,
                        td_tk_is_nmt_removed,    td_tk_is_nmt_to_space };
    for (uint32_t c = 0; c < 0x110000; c++) {
        for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
            putchar(tests[i](c) ? '1' : '0');
        print_map(td_tk_to_lower, c);
        printf(" %s %X", td_tk_script_name(td_tk_script(c)), (unsigned)td_re_new_case_variant(c));
        print_map(td_re_case_variants, c);
        putchar('\n');
    }
    return 0;
}

static int print_matches(void)
{
    char line[256];
    OnigEncoding utf8 = ONIG_ENCODING_UTF8;
    onig_initialize(&utf8, 1);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *end = line + strcspn(line, "\n"), *tab = memchr(line, '\t', (size_t)(end - line));
        regex_t *regex;
        if (tab == NULL || onig_new(&regex, (UChar *)line, (UChar *)tab, ONIG_OPTION_NONE,
                                    ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, NULL) != ONIG_NORMAL)
            return 1;
        OnigRegion *at = onig_region_new();
        const UChar *text = (UChar *)tab + 1, *stop = (UChar *)end, *from = text;
        while (onig_search(regex, text, stop, from, stop, at, ONIG_OPTION_NONE) >= 0) {
            printf("%d-%d ", at->beg[0], at->end[0]);
            from = text + at->end[0] + (at->beg[0] == at->end[0]);
        }
        putchar('\n');
        onig_region_free(at, 1);
        onig_free(regex);
    }
    return 0;
}

static int print_classes(void)
{
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t count = 0;
        const td_range *r = td_re_class((td_str){ line, strcspn(line, "\n") }, &count);
        if (r == NULL)
            printf("none");
        for (size_t i = 0; r != NULL && i < count; i++)
            printf("%X-%X ", (unsigned)r[i].first, (unsigned)r[i].last);
        putchar('\n');
    }
    return 0;
}

static td_code put_view(td_buf *out, td_str s)
{
    return td_buf_put(out, s);
}

static td_code put_named(td_buf *out, td_str name)
{
    char text[4];
    int32_t c = td_py_named(name);
    return c < 0 ? TD_OK : td_buf_put(out, (td_str){ text, td_utf8_put(text, (uint32_t)c) });
}

static td_code apply(const char *method, td_buf *out, td_str s)
{
    static const struct {
        const char *name;
        td_code (*run)(td_buf *out, td_str s);
    } methods[] = { { "upper", td_py_upper },       { "lower", td_py_lower },
                    { "title", td_py_title },       { "capitalize", td_py_capitalize },
                    { "swapcase", td_py_swapcase }, { "casefold", td_py_casefold } };
    static const char *const forms[] = { "NFC", "NFD", "NFKC", "NFKD" };
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(method, methods[i].name) == 0)
            return methods[i].run(out, s);
    for (int i = 0; i < 4; i++) {
        if (strcmp(method, forms[i]) == 0)
            return td_norm((td_norm_form)i, out, s);
        if (method[0] == '?' && strcmp(method + 1, forms[i]) == 0)
            return td_buf_byte(out, td_norm_is_quick((td_norm_form)i, s) ? '1' : '0');
    }
    if (strcmp(method, "strip") == 0)
        return put_view(out, td_py_strip(s));
    if (strcmp(method, "lstrip") == 0)
        return put_view(out, td_py_lstrip(s));
    if (strcmp(method, "named") == 0)
        return put_named(out, s);
    if (strcmp(method, "rstrip") == 0)
        return put_view(out, td_py_rstrip(s));
    return TD_E_INPUT;
}

/* Lengths are four bytes, least significant first. */
static bool read_text(td_buf *in)
{
    unsigned char head[4];
    if (fread(head, 1, 4, stdin) != 4)
        return false;
    size_t len = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    in->len = 0;
    if (td_buf_reserve(in, len) != TD_OK || fread(in->ptr, 1, len, stdin) != len)
        return false;
    in->len = len;
    return true;
}

static int map_texts(const char *method)
{
    td_buf in = { 0 }, out = { 0 };
    int status = 0;
    while (status == 0 && read_text(&in)) {
        out.len = 0;
        if (apply(method, &out, td_buf_view(&in)) != TD_OK) {
            fprintf(stderr, "unicode_tool: %s failed\n", method);
            status = 1;
        }
        for (int i = 0; i < 4; i++)
            putchar((int)(out.len >> 8 * i & 0xFF));
        fwrite(out.ptr, 1, out.len, stdout);
    }
    td_buf_done(&in);
    td_buf_done(&out);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: unicode_tool py|tk|bits|class|onig|METHOD\n");
        return 2;
    }
    if (strcmp(argv[1], "py") == 0)
        return print_py();
    if (strcmp(argv[1], "tk") == 0)
        return print_tk();
    if (strcmp(argv[1], "onig") == 0)
        return print_matches();
    if (strcmp(argv[1], "class") == 0)
        return print_classes();
    if (strcmp(argv[1], "bits") == 0) {
        for (uint32_t c = 0; c < 0x110000; c++)
            putchar(td_re_bits(c));
        return 0;
    }
    return map_texts(argv[1]);
}
