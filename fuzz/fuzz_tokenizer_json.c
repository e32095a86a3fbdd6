/* Loads arbitrary bytes as tokenizer.json; what loads must encode, count and decode. */
#include <string.h>

#include "fuzz.h"
#include "tokdrain/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    td_tokenizer *tok = NULL;
    td_error err = TD_ERROR_INIT;
    td_str json = { (const char *)data, size };
    if (td_tokenizer_new_from_json(json, &tok, &err) != TD_OK) {
        td_error_clear(&err);
        return 0;
    }
    td_encoder *enc = td_encoder_new(tok);
    td_str text = TD_STR("Hello  wor\xC3\xA9ld's 123\n\n <x> \xE4\xB8\xAD\xE6\x96\x87"
                         "e\xCC\x81");
    td_ids ids;
    size_t count = 0;
    if (enc != NULL && td_encode(enc, text, TD_ENCODE_OFFSETS, &ids, &err) == TD_OK) {
        size_t n = ids.count;
        if (td_count(enc, text, 0, &count, &err) != TD_OK || count != n)
            __builtin_trap();
        td_id some[] = { 0, 1, 2, 3, 300, 1u << 31 };
        if (td_decode(enc, some, sizeof some / sizeof *some, 0, &text, &err) != TD_OK)
            td_error_clear(&err);
    }
    td_error_clear(&err);
    td_encoder_free(enc);
    td_tokenizer_free(tok);
    return 0;
}
