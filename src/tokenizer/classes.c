#include "tokenizer/classes.h"

#include "base/str.h"

bool tk_is_word(uint32_t c)
{
    if (c < 0x80)
        return (c | 0x20) - 'a' < 26 || c - '0' < 10 || c == '_';
    static const char *const names[] = { "Alphabetic", "M", "Nd", "Pc", "Join_Control" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t count = 0;
        const td_range *ranges = td_re_class(td_str_from(names[i]), &count);
        if (ranges != NULL && td_re_in_class(ranges, count, c))
            return true;
    }
    return false;
}
