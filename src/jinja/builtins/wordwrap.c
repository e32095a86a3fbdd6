/* wordwrap.c - the wordwrap filter: Python's textwrap.wrap of each line.
 *
 * A line is cut into chunks (words, hyphenated parts, runs of ASCII white space) which then fill
 * lines greedily. The chunks are those of textwrap's regular expression, matched by hand: at each
 * place first white space, then an em-dash between words, then the shortest word that ends before
 * a hyphen with letters around it, before white space or the end, or before an em-dash. */
#include "jinja/builtins/util.h"
#include "unicode/unicode.h"

typedef struct text {
    const uint32_t *c; /* code points */
    const uint32_t *offset;
    int64_t n;
} text;

static bool is_blank(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word(uint32_t c)
{
    return c == '_' || td_py_isalnum(c);
}

static bool is_letter(uint32_t c) /* [^\d\W] */
{
    return is_word(c) && !td_py_isdecimal(c);
}

static bool is_word_punct(uint32_t c)
{
    return is_word(c) || c == '!' || c == '"' || c == '\'' || c == '&' || c == '.' || c == ',' ||
           c == '?';
}

static bool letter_at(const text *t, int64_t i)
{
    return i >= 0 && i < t->n && is_letter(t->c[i]);
}

/* -{2,} followed by a word character, at i: its end, or i. */
static int64_t em_dash(const text *t, int64_t i)
{
    int64_t end = i;
    while (end < t->n && t->c[end] == '-')
        end++;
    return end - i >= 2 && end < t->n && is_word(t->c[end]) ? end : i;
}

static bool behind_word_punct(const text *t, int64_t i)
{
    return i > 0 && is_word_punct(t->c[i - 1]);
}

/* A hyphen at i that may be broken behind: letters before and after it. */
static bool breakable_hyphen(const text *t, int64_t i)
{
    if (i >= t->n || t->c[i] != '-')
        return false;
    bool before = (letter_at(t, i - 1) && letter_at(t, i - 2)) ||
                  (letter_at(t, i - 1) && i >= 2 && t->c[i - 2] == '-' && letter_at(t, i - 3));
    if (!before || !letter_at(t, i + 1))
        return false;
    return letter_at(t, i + 2) || (i + 2 < t->n && t->c[i + 2] == '-' && letter_at(t, i + 3));
}

/* The end of the chunk at i. */
static int64_t chunk_end(const text *t, int64_t i, bool hyphens)
{
    int64_t end = i;
    if (is_blank(t->c[i])) {
        while (end < t->n && is_blank(t->c[end]))
            end++;
        return end;
    }
    if (!hyphens) {
        while (end < t->n && !is_blank(t->c[end]))
            end++;
        return end;
    }
    if (behind_word_punct(t, i) && (end = em_dash(t, i)) > i)
        return end;
    for (end = i + 1;; end++) {
        if (breakable_hyphen(t, end))
            return end + 1;
        if (end == t->n || is_blank(t->c[end]))
            return end;
        if (behind_word_punct(t, end) && em_dash(t, end) > end)
            return end;
    }
}

/* ---- filling lines ---- */

typedef struct wrapper {
    jj_vm *vm;
    td_value source;
    text t;
    int64_t width; /* rounded down */
    bool fraction; /* it was a float: nothing can be cut at it */
    bool break_words, hyphens;
    int64_t at, end; /* the chunk that comes next: [at, end) */
    jj_items *lines;
    uint32_t first_line; /* lines of this paragraph start there */
} wrapper;

static bool all_space(const wrapper *w, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        if (!td_py_isspace(w->t.c[i]))
            return false;
    return true;
}

static void advance(wrapper *w, int64_t to)
{
    w->at = to;
    if (to == w->end && to < w->t.n)
        w->end = chunk_end(&w->t, to, w->hyphens);
}

/* How much of a too long chunk goes onto a line with room left. */
static int64_t cut_word(const wrapper *w, int64_t room)
{
    int64_t cut = w->at + room;
    if (!w->hyphens || w->end - w->at <= room)
        return cut < w->end ? cut : w->end;
    int64_t hyphen = cut - 1;
    while (hyphen >= w->at && w->t.c[hyphen] != '-')
        hyphen--;
    for (int64_t i = w->at; i < hyphen; i++)
        if (w->t.c[i] != '-')
            return hyphen + 1;
    return cut;
}

/* One line; its text is [start, stop), chunks being neighbours in the source. */
static td_code fill_line(wrapper *w)
{
    if (w->lines->count > w->first_line && all_space(w, w->at, w->end))
        advance(w, w->end);
    int64_t start = w->at, stop, last = w->at; /* last: start of the last chunk on the line */
    while (w->at < w->t.n && w->end - start <= w->width) {
        last = w->at;
        advance(w, w->end);
    }
    if (w->at < w->t.n && w->end - w->at > w->width) {
        if (w->break_words) {
            last = w->at;
            if (w->fraction && w->width >= 1)
                return jj_raise(w->vm, JJ_TYPE_ERROR, "slice indices must be integers");
            int64_t cut = cut_word(w, w->width < 1 ? 1 : w->width - (w->at - start));
            if (cut == w->at) /* nothing fits: an empty piece */
                last = start == w->at ? start : last;
            if (cut >= w->end)
                advance(w, w->end);
            else
                w->at = cut;
        } else if (w->at == start) {
            last = w->at;
            advance(w, w->end);
        }
    }
    stop = w->at;
    if (stop > start && all_space(w, last, stop))
        stop = last;
    if (stop <= start)
        return TD_OK;
    td_str s = { w->source.as.str + w->t.offset[start], w->t.offset[stop] - w->t.offset[start] };
    return jj_items_push(w->vm, w->lines, jj_sub_plain(w->source, s));
}

static td_code decode(jj_vm *vm, td_value line, text *t)
{
    uint32_t *c = td_arena_array(jj_arena(vm), uint32_t, (size_t)line.len + 1);
    uint32_t *offset = td_arena_array(jj_arena(vm), uint32_t, (size_t)line.len + 1);
    if (c == NULL || offset == NULL)
        return jj_nomem(vm);
    int64_t n = 0;
    for (const char *p = line.as.str, *end = p + line.len; p < end; n++) {
        offset[n] = (uint32_t)(p - line.as.str);
        c[n] = td_utf8_next(&p, end);
    }
    offset[n] = line.len;
    *t = (text){ c, offset, n };
    return TD_OK;
}

static td_code wrap_line(wrapper *w, td_value line)
{
    w->source = line;
    TD_TRY(decode(w->vm, line, &w->t));
    TD_TRY(jj_charge(w->vm, (uint64_t)w->t.n / 16));
    w->at = w->end = 0;
    w->first_line = w->lines->count;
    advance(w, 0);
    while (w->at < w->t.n)
        TD_TRY(fill_line(w));
    return TD_OK;
}

/* width as textwrap uses it: any number, of which only comparisons with ints matter. */
static td_code get_width(jj_vm *vm, td_value v, wrapper *w)
{
    double d = 0;
    w->fraction = v.tag == TD_V_FLOAT;
    if (!jj_is_number(v))
        return jj_raise(vm, JJ_TYPE_ERROR, "wordwrap: width must be a number, not %s",
                        jj_type_name(v));
    if (v.tag == TD_V_BIGINT)
        d = jj_int_negative(v) ? -1.0 : (double)UINT32_MAX;
    else
        TD_TRY(jj_number_to_double(vm, v, &d));
    if (!(d > 0)) /* NaN too, for which the reference never ends */
        return jj_raise(vm, JJ_VALUE_ERROR, "invalid width (must be > 0)");
    w->width = d >= UINT32_MAX ? UINT32_MAX : (int64_t)d;
    return TD_OK;
}

td_code jj_f_wordwrap(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value by = jj_arg(args, 2, td_none()), hyphens = jj_arg(args, 3, td_bool(true)), lines;
    jj_items all = { 0 };
    wrapper w = { .vm = vm, .lines = &all };
    if (self.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, self);
    if (self.tag != TD_V_STR)
        return jj_raise(vm, JJ_ATTRIBUTE_ERROR, "'%s' object has no attribute 'splitlines'",
                        jj_type_name(self));
    if (td_is_none(by))
        by = td_string(TD_STR("\n"));
    if (by.tag != TD_V_STR)
        return jj_raise(vm, JJ_ATTRIBUTE_ERROR, "'%s' object has no attribute 'join'",
                        jj_type_name(by));
    TD_TRY(jj_m_str_splitlines(vm, self, &(jj_args){ NULL, 0, NULL, 0 }, &lines));
    TD_TRY(jj_arg_bool(vm, args, 1, true, &w.break_words));
    w.hyphens = hyphens.tag == TD_V_BOOL && hyphens.as.integer != 0;
    jj_items paragraphs = { 0 };
    for (uint32_t i = 0; i < lines.len; i++) {
        td_value joined, list;
        TD_TRY(get_width(vm, jj_arg(args, 0, td_int(79)), &w));
        all = (jj_items){ 0 };
        TD_TRY(wrap_line(&w, lines.as.items[i]));
        list = jj_items_list(&all);
        TD_TRY(jj_m_str_join(vm, by, &(jj_args){ &list, 1, NULL, 0 }, &joined));
        TD_TRY(jj_items_push(vm, &paragraphs, joined));
    }
    td_value list = jj_items_list(&paragraphs);
    return jj_m_str_join(vm, by, &(jj_args){ &list, 1, NULL, 0 }, ret);
}
