/* text_count.c - a text's count as the sum of its segments' counts.
 *
 * The cutter proves that counts add up; a segment's count depends on its text and its state alone,
 * so both together are the memo's key. Nothing is assumed about where the text came from. The same
 * holds for the stretches of some KB that it cuts texts into first: what is known of a whole
 * stretch is neither searched for added tokens nor checked again. */
#include "count/text_count.h"

#include "base/error.h"
#include "base/thread.h"
#include "count/selfcheck.h"

enum { CHECK_EVERY = 64 }; /* segments between two looks at clock and flag */

static td_code check(const td_text_count_job *job, td_error *err)
{
    if (atomic_load_explicit(job->cancel, memory_order_relaxed))
        return td_fail(err, TD_E_TIMEOUT, "interrupted");
    if (job->deadline_ns != 0 && td_now_ns() > job->deadline_ns)
        return td_fail(err, TD_E_TIMEOUT, "the time of the item is up");
    return TD_OK;
}

td_code td_text_count_segment(const td_text_count_job *job, const td_segment *s, uint64_t *tokens,
                              uint64_t *reused, td_error *err)
{
    if ((s->state & TD_SEG_ADDED) != 0) {
        ++*tokens;
        return TD_OK;
    }
    size_t count;
    if ((s->state & TD_SEG_SPECIAL) != 0) {
        TD_TRY(td_segment_count(job->encoder, s, &count, err));
        *tokens += count;
        return TD_OK;
    }
    td_memo_key key = td_memo_hash(job->memo, s->text, s->state);
    uint32_t known;
    if (td_memo_find(job->memo, key, &known)) {
        td_check_memo(job, s, known);
        *tokens += known;
        *reused += known;
        return TD_OK;
    }
    TD_TRY(td_segment_count(job->encoder, s, &count, err));
    *tokens += count;
    if (count <= UINT32_MAX)
        td_memo_put(job->memo, key, (uint32_t)count);
    return TD_OK;
}

/* A stretch that was not seen before, from its segments. */
static td_code count_stretch(const td_text_count_job *job, const td_segment *stretch,
                             uint64_t *tokens, uint64_t *reused, td_error *err)
{
    unsigned n = 0;
    TD_TRY(td_cutter_enter(job->cutter, stretch, err));
    for (td_segment s; td_cutter_next(job->cutter, &s);) {
        if (++n % CHECK_EVERY == 0)
            TD_TRY(check(job, err));
        if (s.text.len < stretch->text.len) {
            TD_TRY(td_text_count_segment(job, &s, tokens, reused, err));
            continue;
        }
        size_t count; /* nothing but the stretch, which is not known */
        TD_TRY(td_segment_count(job->encoder, &s, &count, err));
        *tokens += count;
    }
    return TD_OK;
}

typedef struct hashed_stretch {
    td_segment segment;
    td_memo_key key;
    bool there;
} hashed_stretch;

static hashed_stretch next_stretch(const td_text_count_job *job)
{
    hashed_stretch s = { .there = false };
    s.there = td_cutter_stretch(job->cutter, &s.segment);
    if (s.there) {
        s.key = td_memo_hash(job->memo, s.segment.text, s.segment.state);
        td_memo_prepare(job->memo, s.key);
    }
    return s;
}

/* The next stretch is hashed before one is looked up: memory is slower than that. */
static td_code count_stretches(const td_text_count_job *job, td_str text, uint64_t *ret_tokens,
                               uint64_t *ret_reused, td_error *err)
{
    TD_TRY(td_cutter_begin(job->cutter, text, job->flags, err));
    uint64_t tokens = 0, reused = 0;
    unsigned n = 0;
    hashed_stretch next = next_stretch(job);
    while (next.there) {
        hashed_stretch s = next;
        next = next_stretch(job);
        if (++n % CHECK_EVERY == 0)
            TD_TRY(check(job, err));
        uint32_t known;
        if (td_memo_find(job->memo, s.key, &known)) {
            td_check_memo(job, &s.segment, known);
            tokens += known;
            reused += known;
            continue;
        }
        uint64_t count = 0;
        TD_TRY(count_stretch(job, &s.segment, &count, &reused, err));
        tokens += count;
        if (count <= UINT32_MAX)
            td_memo_put(job->memo, s.key, (uint32_t)count);
    }
    *ret_tokens = tokens;
    *ret_reused = reused;
    return TD_OK;
}

td_code td_text_count(const td_text_count_job *job, td_str text, uint64_t *ret_tokens,
                      uint64_t *ret_reused, td_error *err)
{
    TD_TRY(check(job, err));
    size_t count;
    if (job->memo == NULL) {
        TD_TRY(td_count(job->encoder, text, job->flags, &count, err));
        *ret_tokens = count;
        *ret_reused = 0;
        return check(job, err); /* one long text may have taken it all */
    }
    uint64_t tokens, reused;
    TD_TRY(count_stretches(job, text, &tokens, &reused, err));
    if (job->verify) {
        TD_TRY(td_count(job->encoder, text, job->flags, &count, err));
        if (count != tokens)
            return td_fail(err, TD_E_VERIFY, "%llu tokens with reuse, %zu without",
                           (unsigned long long)tokens, count);
    }
    *ret_tokens = tokens;
    *ret_reused = reused;
    return check(job, err);
}
