/* CPython's view of one character: a two-stage table from the code point to one of a few hundred
 * records, which hold the predicates and, as a difference or a place in a pool, the mappings. */
#include "unicode/generated/py.h"
#include "unicode/unicode.h"

/* Nothing is known of what is no code point. */
static const py_record outside = { .decimal = -1 };

static const py_record *record(uint32_t c)
{
    return c < 0x110000 ? &py_records[py_id(c)] : &outside;
}

static bool has(uint32_t c, unsigned flag)
{
    return (record(c)->flags & flag) != 0;
}

bool td_py_isspace(uint32_t c)
{
    return has(c, PY_SPACE);
}

bool td_py_isprintable(uint32_t c)
{
    return has(c, PY_PRINTABLE);
}

bool td_py_isalpha(uint32_t c)
{
    return has(c, PY_ALPHA);
}

bool td_py_isdecimal(uint32_t c)
{
    return has(c, PY_DECIMAL);
}

bool td_py_isdigit(uint32_t c)
{
    return has(c, PY_DIGIT);
}

bool td_py_isnumeric(uint32_t c)
{
    return has(c, PY_NUMERIC);
}

bool td_py_isalnum(uint32_t c)
{
    return has(c, PY_ALNUM);
}

bool td_py_isupper(uint32_t c)
{
    return has(c, PY_UPPER);
}

bool td_py_islower(uint32_t c)
{
    return has(c, PY_LOWER);
}

bool td_py_istitle(uint32_t c)
{
    return has(c, PY_TITLE);
}

bool td_py_is_id_start(uint32_t c)
{
    return has(c, PY_ID_START);
}

bool td_py_is_id_continue(uint32_t c)
{
    return has(c, PY_ID_CONTINUE);
}

bool td_py_is_cased(uint32_t c)
{
    return has(c, PY_CASED);
}

bool td_py_is_case_ignorable(uint32_t c)
{
    return has(c, PY_CASE_IGNORABLE);
}

int td_py_decimal_value(uint32_t c)
{
    return record(c)->decimal;
}

enum { MAP_UPPER, MAP_LOWER, MAP_TITLE, MAP_FOLD };

static int map(uint32_t c, int which, uint32_t out[3])
{
    const py_record *r = record(c);
    int32_t value = r->map[which];
    if ((r->special >> which & 1) == 0) {
        out[0] = (uint32_t)((int32_t)c + value);
        return 1;
    }
    const uint32_t *at = &py_pool[value];
    int n = (int)at[0];
    for (int i = 0; i < n; i++)
        out[i] = at[1 + i];
    return n;
}

int td_py_to_upper(uint32_t c, uint32_t out[3])
{
    return map(c, MAP_UPPER, out);
}

int td_py_to_lower(uint32_t c, uint32_t out[3])
{
    return map(c, MAP_LOWER, out);
}

int td_py_to_title(uint32_t c, uint32_t out[3])
{
    return map(c, MAP_TITLE, out);
}

int td_py_to_fold(uint32_t c, uint32_t out[3])
{
    return map(c, MAP_FOLD, out);
}
