/* The reference tokenizer's view of one character: a two-stage table to shared records, and sorted
 * lists of the characters that differ in case only. */
#include "unicode/generated/fold.h"
#include "unicode/generated/tk.h"
#include "unicode/unicode_ref.h"

static const tk_record outside = { 0 };

static const tk_record *record(uint32_t c)
{
    return c < 0x110000 ? &tk_records[tk_id(c)] : &outside;
}

static bool has(uint32_t c, unsigned flag)
{
    return (record(c)->flags & flag) != 0;
}

bool td_tk_is_whitespace(uint32_t c)
{
    return has(c, TK_SPACE);
}

bool td_tk_is_numeric(uint32_t c)
{
    return has(c, TK_NUMERIC);
}

bool td_tk_is_punctuation(uint32_t c)
{
    return has(c, TK_PUNCTUATION);
}

bool td_tk_is_word(uint32_t c)
{
    return has(c, TK_WORD);
}

bool td_tk_is_control(uint32_t c)
{
    return has(c, TK_CLEANED);
}

bool td_tk_is_cleaned_to_space(uint32_t c)
{
    return has(c, TK_CLEANED_TO_SPACE);
}

bool td_tk_is_chinese(uint32_t c)
{
    return has(c, TK_CHINESE);
}

bool td_tk_is_combining_mark(uint32_t c)
{
    return has(c, TK_COMBINING_MARK);
}

bool td_tk_is_nonspacing_mark(uint32_t c)
{
    return has(c, TK_NONSPACING_MARK);
}

bool td_tk_is_nmt_removed(uint32_t c)
{
    return has(c, TK_NMT_REMOVED);
}

bool td_tk_is_nmt_to_space(uint32_t c)
{
    return has(c, TK_NMT_TO_SPACE);
}

int td_tk_to_lower(uint32_t c, uint32_t out[3])
{
    const tk_record *r = record(c);
    if (r->lower_count == 0) {
        out[0] = (uint32_t)((int32_t)c + r->lower);
        return 1;
    }
    for (int i = 0; i < r->lower_count; i++)
        out[i] = tk_pool[r->lower + i];
    return r->lower_count;
}

unsigned td_tk_script(uint32_t c)
{
    return record(c)->script;
}

const char *td_tk_script_name(unsigned id)
{
    return id < TK_SCRIPT_COUNT ? tk_script_names[id] : NULL;
}

/* Where the first row of rows that begins with c or more is. */
static size_t lower_bound(const uint32_t (*rows)[2], size_t count, uint32_t c)
{
    size_t lo = 0, hi = count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (rows[mid][0] < c)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int td_re_case_variants(uint32_t c, uint32_t out[3])
{
    int n = 0;
    for (size_t i = lower_bound(fold_pairs, FOLD_COUNT, c);
         i < FOLD_COUNT && fold_pairs[i][0] == c && n < 3; i++)
        out[n++] = fold_pairs[i][1];
    return n;
}

const uint32_t (*td_re_new_case_variants(size_t *ret_count))[2]
{
    *ret_count = FOLD_NEW_COUNT;
    return fold_new;
}

uint32_t td_re_new_case_variant(uint32_t c)
{
    size_t i = lower_bound(fold_new, FOLD_NEW_COUNT, c);
    return i < FOLD_NEW_COUNT && fold_new[i][0] == c ? fold_new[i][1] : 0;
}
