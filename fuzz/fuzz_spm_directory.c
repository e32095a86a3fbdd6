/* A SentencePiece model as the only vocabulary of a model directory. The first byte names the
 * class, then comes the tokenizer's configuration as JSON up to a NUL, then the model. What is
 * converted must load, or be refused; what loads must encode and count alike, and decode. */
#include <string.h>

#include "base/str.h"
#include "chat/class_build.h"
#include "chat/spm_convert.h"
#include "fuzz.h"
#include "tokenizer/internal.h"
#include "value/json.h"

static const char *const classes[] = {
    "",
    "LlamaTokenizer",
    "CodeLlamaTokenizer",
    "GemmaTokenizer",
    "T5Tokenizer",
    "AlbertTokenizer",
    "BigBirdTokenizer",
    "CamembertTokenizer",
    "FNetTokenizer",
    "GPT2Tokenizer",
    "MBartTokenizer",
    "MBart50Tokenizer",
    "MLukeTokenizer",
    "NllbTokenizer",
    "ParakeetTokenizer",
    "PegasusTokenizer",
    "ReformerTokenizer",
    "SeamlessM4TTokenizer",
    "XLMRobertaTokenizer",
    "XLNetTokenizer",
    "DebertaV2Tokenizer",
    "BertTokenizer",
};

static void use(td_tokenizer *tok)
{
    td_error err = TD_ERROR_INIT;
    td_encoder *enc = td_encoder_new(tok);
    td_str text = TD_STR("  the  wor\xC3\xA9ld's 123\n\n<s>ab </s>\xE4\xB8\xAD\xE6\x96\x87"
                         "e\xCC\x81 abcab \xE2\x96\x81<u>\xEF\xAC\x81 [MASK] <extra_id_0>");
    td_ids ids;
    td_id kept[512];
    size_t count = 0, n = 0;
    if (enc == NULL)
        return;
    if (td_encode(enc, text, TD_ENCODE_ADD_SPECIAL, &ids, &err) == TD_OK) {
        n = ids.count < 512 ? ids.count : 512;
        if (n != 0)
            memcpy(kept, ids.ids, n * sizeof *kept);
        if (td_count(enc, text, TD_ENCODE_ADD_SPECIAL, &count, &err) != TD_OK || count != ids.count)
            __builtin_trap();
        if (td_decode(enc, kept, n, TD_DECODE_SKIP_SPECIAL, &text, &err) != TD_OK)
            td_error_clear(&err);
    }
    td_error_clear(&err);
    td_encoder_free(enc);
}

/* What the directory's loader makes of the converted file. */
static td_code build(td_arena *a, td_buf *scratch, td_token_files *files, const td_converted *from,
                     td_str json, td_buf *text, td_skimmed *ret, td_error *err)
{
    static const td_skimmed none;
    td_skimmed file;
    td_tokens tokens;
    td_dict *root;
    td_value added;
    bool own_post;
    TD_TRY(td_skim(a, json, &file, err));
    file.nearest = from->nearest;
    file.root = from->model_only ? NULL : file.root;
    files->file = file.root;
    TD_TRY(td_tokens_merge(a, files, &tokens, err));
    *ret = file;
    root = file.root;
    if (files->rule != NULL) {
        td_class_input in = { .rule = files->rule,
                              .tok_config = files->tok_config,
                              .file = &file,
                              .charsmap = from->charsmap,
                              .tokens = &tokens };
        TD_TRY(td_class_build(a, scratch, &in, &root, ret, &own_post, err));
    }
    TD_TRY(td_tokens_to_value(a, &tokens.added, &added, err));
    if (!td_dict_set(a, root, td_key(TD_STR("added_tokens")), added))
        return td_arena_fail(a, err);
    return td_skim_write(text, root, &none, err);
}

static void run(td_arena *a, td_str name, td_str config, td_str model)
{
    td_error err = TD_ERROR_INIT;
    td_buf out = { 0 }, scratch = { 0 }, text = { 0 };
    td_tokenizer *tok = NULL;
    td_token_files files = { .rule = name.len != 0 ? td_class_rule_find(name) : NULL };
    td_converted from = { 0 };
    td_skimmed bulk;
    td_value v;
    td_code code = td_json_read(a, config, &v, &err);
    if (code == TD_OK && v.tag == TD_V_DICT)
        files.tok_config = v.as.dict;
    td_error_clear(&err);
    code = td_spm_convert(a, model, &files, &out, &from, &err);
    if (code == TD_OK)
        code = build(a, &scratch, &files, &from, td_buf_view(&out), &text, &bulk, &err);
    if (code == TD_OK) {
        tk_bulk parts = { bulk.vocab, bulk.merges, bulk.nearest };
        code = tk_tokenizer_new_from_parts(td_buf_view(&text), &parts, &tok, &err);
    }
    if (code == TD_OK)
        use(tok);
    td_error_clear(&err);
    td_tokenizer_free(tok);
    td_buf_done(&text);
    td_buf_done(&scratch);
    td_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size != 0 ? memchr(data, '\0', size) : NULL;
    if (end == NULL || end == data)
        return 0;
    td_str name = td_str_from(classes[(size_t)(data[0] - 1) % (sizeof classes / sizeof *classes)]);
    td_arena a = { 0 };
    run(&a, name, (td_str){ (const char *)data + 1, (size_t)(end - data) - 1 },
        (td_str){ (const char *)end + 1, size - (size_t)(end - data) - 1 });
    td_arena_done(&a);
    return 0;
}
