/* names.c - the character that a name stands for in Python's \N{...}.
 *
 * Names of Hangul syllables and unified ideographs are made by rule, and CPython compares those
 * case by case. All others, aliases included, are the words of a minimal automaton, stored as one
 * array: a node is a number (how many words go on from here, times two, plus one if a word ends
 * here) and its edges; an edge is a number (length of its label times two, plus one if it is the
 * node's last), the label, and the distance to the node it leads to, 0 if the word ends with the
 * label. Numbers are seven bits a byte, lowest first. Words counted on the way to a name give its
 * place in the alphabet, which is that of its code point. */
#include <string.h>

#include "unicode/generated/names.h"
#include "unicode/unicode.h"

static uint32_t number(const uint8_t **p)
{
    uint32_t value = 0;
    unsigned shift = 0;
    do {
        value |= (uint32_t)(**p & 0x7F) << shift;
        shift += 7;
    } while (*(*p)++ >= 0x80);
    return value;
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

static bool starts_with(td_str s, const uint8_t *label, size_t len)
{
    if (s.len < len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (upper(s.ptr[i]) != (char)label[i])
            return false;
    return true;
}

enum { NO_PLACE = UINT16_MAX };
_Static_assert(sizeof names_code / sizeof *names_code < NO_PLACE, "a place is below NO_PLACE");

/* The place of a name in the alphabet; NO_PLACE: there is no such name. */
static uint32_t place_of(td_str name)
{
    const uint8_t *node = names_automaton;
    uint32_t place = 0;
    for (;;) {
        const uint8_t *p = node;
        uint32_t head = number(&p);
        if (name.len == 0)
            return head & 1 ? place : NO_PLACE;
        place += head & 1;
        for (;;) {
            uint32_t length = number(&p);
            const uint8_t *label = p;
            p += length / 2;
            uint32_t way = number(&p);
            const uint8_t *to = node + way;
            if (starts_with(name, label, length / 2)) {
                name = (td_str){ name.ptr + length / 2, name.len - length / 2 };
                if (way == 0)
                    return name.len == 0 ? place : NO_PLACE;
                node = to;
                break;
            }
            place += way != 0 ? number(&to) / 2 : 1;
            if (length & 1)
                return NO_PLACE;
        }
    }
}

/* ---- names by rule ---- */

static bool take(td_str *s, const char *prefix)
{
    size_t n = strlen(prefix);
    if (s->len < n || memcmp(s->ptr, prefix, n) != 0)
        return false;
    *s = (td_str){ s->ptr + n, s->len - n };
    return true;
}

/* Takes the longest of the parts that s begins with; -1: none, not even an empty one. */
static int take_longest(td_str *s, const char *const *parts, int count)
{
    int best = -1;
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        size_t n = strlen(parts[i]);
        if ((best < 0 || n > length) && s->len >= n && memcmp(s->ptr, parts[i], n) == 0) {
            best = i;
            length = n;
        }
    }
    *s = (td_str){ s->ptr + length, s->len - length };
    return best;
}

static int32_t syllable(td_str s)
{
    static const char *const initial[] = { "G",  "GG", "N", "D",  "DD", "R", "M", "B", "BB", "S",
                                           "SS", "",   "J", "JJ", "C",  "K", "T", "P", "H" };
    static const char *const vowel[] = { "A",   "AE", "YA", "YAE", "EO", "E",  "YEO",
                                         "YE",  "O",  "WA", "WAE", "OE", "YO", "U",
                                         "WEO", "WE", "WI", "YU",  "EU", "YI", "I" };
    static const char *const final[] = { "",   "G",  "GG", "GS", "N",  "NJ", "NH", "D", "L",  "LG",
                                         "LM", "LB", "LS", "LT", "LP", "LH", "M",  "B", "BS", "S",
                                         "SS", "NG", "J",  "C",  "K",  "T",  "P",  "H" };
    int l = take_longest(&s, initial, 19), v = take_longest(&s, vowel, 21);
    int t = take_longest(&s, final, 28);
    return l < 0 || v < 0 || t < 0 || s.len != 0 ? -1 : 0xAC00 + (l * 21 + v) * 28 + t;
}

static bool is_unified_ideograph(int32_t c)
{
    static const td_range ranges[] = {
        { 0x3400, 0x4DBF },   { 0x4E00, 0x9FFF },   { 0x20000, 0x2A6DF }, { 0x2A700, 0x2B738 },
        { 0x2B740, 0x2B81D }, { 0x2B820, 0x2CEA1 }, { 0x2CEB0, 0x2EBE0 }, { 0x30000, 0x3134A },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if ((uint32_t)c >= ranges[i].first && (uint32_t)c <= ranges[i].last)
            return true;
    return false;
}

static int32_t ideograph(td_str digits)
{
    int32_t c = 0;
    if (digits.len != 4 && digits.len != 5)
        return -1;
    for (size_t i = 0; i < digits.len; i++) {
        char d = digits.ptr[i];
        if (d >= '0' && d <= '9')
            c = c * 16 + d - '0';
        else if (d >= 'A' && d <= 'F')
            c = c * 16 + d - 'A' + 10;
        else
            return -1;
    }
    return is_unified_ideograph(c) ? c : -1;
}

int32_t td_py_named(td_str name)
{
    if (take(&name, "HANGUL SYLLABLE "))
        return syllable(name);
    if (take(&name, "CJK UNIFIED IDEOGRAPH-"))
        return ideograph(name);
    uint32_t place = place_of(name);
    if (place == NO_PLACE)
        return -1;
    unsigned plane = names_plane[place / 4] >> place % 4 * 2 & 3;
    return names_planes[plane] << 16 | names_code[place];
}
