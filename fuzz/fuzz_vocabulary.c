/* Loads arbitrary bytes as a vocabulary file of any format (the first byte names the encoding of a
 * tiktoken file); what loads must encode, count and decode, with and without the short way. */
#include <string.h>

#include "fuzz.h"
#include "tokdrain/tokenizer.h"
#include "tokenizer/internal.h"

static void use(td_tokenizer *tok)
{
    td_error err = TD_ERROR_INIT;
    td_encoder *enc = td_encoder_new(tok);
    td_str text = TD_STR("  the  wor\xC3\xA9ld's 123\n\n<|endoftext|> ab\xE4\xB8\xAD\xE6\x96\x87"
                         "e\xCC\x81 abcab \xE2\x96\x81<u>\xEF\xAC\x81 ");
    td_ids ids;
    td_id kept[512];
    size_t count = 0, n = 0;
    if (enc == NULL)
        return;
    if (td_encode(enc, text, 0, &ids, &err) == TD_OK) {
        n = ids.count < 512 ? ids.count : 512;
        if (n != 0)
            memcpy(kept, ids.ids, n * sizeof *kept);
        if (td_count(enc, text, 0, &count, &err) != TD_OK || count != ids.count)
            __builtin_trap();
        if (td_encode(enc, text, TD_ENCODE_OFFSETS, &ids, &err) != TD_OK || ids.count != count ||
            (n != 0 && memcmp(ids.ids, kept, n * sizeof *kept) != 0))
            __builtin_trap();
        for (size_t i = 0; i < ids.count; i++)
            if (ids.starts[i] > ids.ends[i] || ids.ends[i] > text.len)
                __builtin_trap();
        if (td_decode(enc, kept, n, 0, &text, &err) != TD_OK)
            td_error_clear(&err); /* a denormalizer's map may be broken */
    }
    td_error_clear(&err);
    td_id some[] = { 0, 1, 2, 3, 300, 1u << 31 };
    if (td_decode(enc, some, sizeof some / sizeof *some - 1, TD_DECODE_SKIP_SPECIAL, &text, &err) !=
        TD_OK)
        td_error_clear(&err);
    td_encoder_free(enc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const encodings[] = { NULL, "cl100k_base", "r50k_base", "o200k_base" };
    td_tokenizer *tok = NULL;
    td_error err = TD_ERROR_INIT;
    if (size == 0)
        return 0;
    td_str bytes = { (const char *)data + 1, size - 1 };
    const char *encoding = data[0] < 4 ? encodings[data[0]] : NULL;
    if (td_tokenizer_new_from_vocabulary(bytes, encoding, &tok, &err) == TD_OK)
        use(tok);
    td_error_clear(&err);
    td_tokenizer_free(tok);
    return 0;
}
