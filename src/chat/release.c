#include "chat/release.h"

#include "base/str.h"

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

bool td_release_parse(td_str s, td_release *ret)
{
    *ret = (td_release){ 0 };
    size_t at = s.len != 0 && s.ptr[0] == 'v', count = 0;
    while (at < s.len && digit(s.ptr[at])) {
        uint32_t n = 0;
        if (count == sizeof ret->numbers / sizeof *ret->numbers)
            return false;
        for (; at < s.len && digit(s.ptr[at]); at++) {
            if (n > UINT32_MAX / 10 - 1)
                return false;
            n = n * 10 + (uint32_t)(s.ptr[at] - '0');
        }
        ret->numbers[count++] = n;
        if (at + 1 < s.len && s.ptr[at] == '.' && digit(s.ptr[at + 1]))
            at++;
    }
    if (count == 0)
        return false;
    td_str rest = td_str_from_offset(s, at);
    static const char *const early[] = { "rc", "a", "b", ".dev", "dev", ".rc", ".a", ".b" };
    for (size_t i = 0; i < sizeof early / sizeof *early; i++)
        ret->early |= td_str_starts(rest, td_str_from(early[i]));
    return rest.len == 0 || rest.ptr[0] == '+' || td_str_starts(rest, TD_STR(".post")) ||
           ret->early;
}

int td_release_compare(td_release a, td_release b)
{
    for (size_t i = 0; i < sizeof a.numbers / sizeof *a.numbers; i++) {
        if (a.numbers[i] != b.numbers[i])
            return a.numbers[i] < b.numbers[i] ? -1 : 1;
    }
    return (int)b.early - (int)a.early;
}
