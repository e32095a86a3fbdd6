/* spm_pipeline.h - what the generic class of transformers puts around the pieces of a SentencePiece
 * model. */
#ifndef TD_SRC_TOKENIZER_FORMATS_SPM_PIPELINE_H
#define TD_SRC_TOKENIZER_FORMATS_SPM_PIPELINE_H

#include "tokenizer/formats/spm.h"
#include "tokenizer/formats/write.h"

/* Writes normalizer, pre-tokenizer, post-processor and decoder as members of an object that has
 * some already. texts: of the pieces; *ret_users: how many of them are user-defined. a is for
 * scratch. */
td_code tk_spm_write_pipeline(tk_writer *w, td_arena *a, const spm_file *file, const td_str *texts,
                              bool legacy, uint32_t *ret_users, td_error *err);

#endif
