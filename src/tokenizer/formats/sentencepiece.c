/* sentencepiece.c - SentencePiece models. */
#include "tokenizer/formats/formats.h"

td_code tk_load_sentencepiece(td_tokenizer *tok, tk_load *load, td_str bytes)
{
    (void)tok;
    (void)bytes;
    return td_fail(load->err, TD_E_TOKENIZER,
                   "neither JSON nor tiktoken ranks; SentencePiece models are not available in "
                   "this version");
}
