/* segments.h - cutting a text into segments whose counts add up exactly, for the counting layer.
 *
 *     td_cutter *c = td_cutter_new(enc);
 *     td_cutter_start(c, text, flags, &err);
 *     for (td_segment s; td_cutter_next(c, &s);)
 *         total += memo[s.text, s.state] or td_segment_count(enc, &s, &n, &err);
 *
 * The count of a segment depends on nothing but its text and its state, so a memo may be keyed by
 * both (of one tokenizer). The sum over all segments is td_count of the whole text. Cuts are made
 * at added tokens, and in long text between them where it is proven that no step of the pipeline
 * looks across (chunks.h); where nothing can be proven a text is one segment. Segments follow each
 * other without gaps. Texts that start alike have the same segments up to the last ones.
 *
 * Text that was seen before need not be searched for added tokens again. It is first cut into
 * stretches of some KB, at places where that changes no count whatever added tokens there are, and
 * what was said of segments holds for them too:
 *
 *     td_cutter_begin(c, text, flags, &err);
 *     for (td_segment stretch; td_cutter_stretch(c, &stretch);)
 *         if (memo has no [stretch.text, stretch.state])
 *             td_cutter_enter(c, &stretch, &err), then td_cutter_next as above
 *
 * With TD_ENCODE_ADD_SPECIAL the ids that the post-processor adds belong to a segment of their
 * own with an empty text, which comes last (so a text may have segments although it is empty), and
 * to the last stretch. */
#ifndef TD_SRC_TOKENIZER_SEGMENTS_H
#define TD_SRC_TOKENIZER_SEGMENTS_H

#include <stdatomic.h>

#include "tokdrain/tokenizer.h"

/* Everything besides its text that the count of a segment depends on. */
enum {
    TD_SEG_ADDED = 1u << 0,   /* the text is one added token (count 1), known without counting */
    TD_SEG_PLAIN = 1u << 1,   /* special tokens in it are text (TD_ENCODE_PLAIN_TEXT) */
    TD_SEG_TEXT = 1u << 2,    /* no added token matches in it: they need not be looked for */
    TD_SEG_SPECIAL = 1u << 3, /* the ids that post-processing adds; text is empty */
    TD_SEG_WHOLE = 1u << 4,   /* a text that cannot be cut, together with those ids */
    TD_SEG_INSIDE = 1u << 5,  /* text stands before it, which the pre-tokenizer asks for */
    TD_SEG_JOINED = 1u << 6,  /* it goes on with text, which the normalizer asks for */
    TD_SEG_STRETCH = 1u << 7, /* a stretch: to be cut, or known as a whole */
};

typedef struct td_segment {
    td_str text;    /* a view of the text being cut */
    uint32_t state; /* TD_SEG_ flags: a part of the memo's key */
} td_segment;

typedef struct td_cutter td_cutter;

/* A cutter for the encoder's tokenizer; it keeps scratch memory from text to text. NULL on out of
 * memory. One thread uses it at a time. It must be freed before the encoder. */
td_cutter *td_cutter_new(td_encoder *enc);
void td_cutter_free(td_cutter *c);

/* Begins a text, which must stay as it is until the last segment is taken. flags as of td_count
 * (offsets are ignored). Checks UTF-8 as td_count does. */
TD_NODISCARD td_code td_cutter_start(td_cutter *c, td_str text, unsigned flags, td_error *err);
/* The next segment; false: there are no more. */
bool td_cutter_next(td_cutter *c, td_segment *ret);

/* The same by stretches, whose UTF-8 is checked when they are entered. */
TD_NODISCARD td_code td_cutter_begin(td_cutter *c, td_str text, unsigned flags, td_error *err);
bool td_cutter_stretch(td_cutter *c, td_segment *ret);
/* Makes td_cutter_next give the segments of a stretch; the stretches go on where they were. */
TD_NODISCARD td_code td_cutter_enter(td_cutter *c, const td_segment *stretch, td_error *err);

/* From now on all texts are refused, and why; ids can be decoded. Right after loading only. why
 * must outlive the tokenizer. */
void td_tokenizer_refuse_texts(td_tokenizer *tok, const char *why);

/* From now on a word that takes long ends with TD_E_TIMEOUT when *cancel is set or the time is up
 * (NULL, 0: no such end). cancel must outlive the encoder's use. */
void td_encoder_set_stop(td_encoder *enc, const atomic_bool *cancel, uint64_t deadline_ns);

/* Bounds the memory of one call (0: the default, 4 GiB); a text that needs more is TD_E_LIMIT.
 * Right after td_encoder_new only. The word cache, kept from call to call, has its own bound. */
void td_encoder_set_memory(td_encoder *enc, size_t bytes_max);

/* The number of ids of one segment. */
TD_NODISCARD td_code td_segment_count(td_encoder *enc, const td_segment *segment, size_t *ret_count,
                                      td_error *err);

#endif
