/* class_rules.c - tokenizer classes that rebuild their pipeline, as data.
 *
 * Such a class takes vocabulary and merges from tokenizer.json and nothing else but the
 * post-processor: the other parts are the class's own, whatever the file says. */
#include "chat/class_rules.h"

#include "base/error.h"
#include "base/str.h"
#include "value/json.h"

const char *const td_standard_tokens[TD_STANDARD_TOKENS] = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
};

#define BYTE_LEVEL_BPE                                                                             \
    "{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,\"continuing_subword_prefix\":\"\","    \
    "\"end_of_word_suffix\":\"\",\"fuse_unk\":false,\"byte_fallback\":false,"                      \
    "\"ignore_merges\":false}"
#define FALLBACK_BPE(unk)                                                                          \
    "{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":" unk ",\"continuing_subword_prefix\":null," \
    "\"end_of_word_suffix\":null,\"fuse_unk\":true,\"byte_fallback\":true,"                        \
    "\"ignore_merges\":false}"
#define BYTE_LEVEL(prefix, regex)                                                                  \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":" prefix ",\"trim_offsets\":true,"               \
    "\"use_regex\":" regex "}"
#define SPLIT_THEN_BYTE_LEVEL(regex, prefix)                                                       \
    "{\"type\":\"Sequence\",\"pretokenizers\":["                                                   \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" regex "\"},\"behavior\":"                      \
    "\"Isolated\",\"invert\":false}," BYTE_LEVEL(prefix, "false") "]}"
#define METASPACE(scheme)                                                                          \
    "{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\",\"prepend_scheme\":\"" scheme             \
    "\",\"split\":false}"
#define FALLBACK_DECODERS                                                                          \
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\\u2581\"},\"content\":\" \"},"               \
    "{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}"

/* JSON escapes of the two families' split patterns */
#define QWEN2_REGEX                                                                                \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}|"               \
    " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define QWEN35_REGEX                                                                               \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{L}\\\\p{M}]+|\\\\p{N}|"     \
    " ?[^\\\\s\\\\p{L}\\\\p{M}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

#define END_OF_TEXT "<|endoftext|>"

static const td_class_rule rules[] = {
    {
        .name = "Qwen2Tokenizer",
        .defaults = { NULL, END_OF_TEXT, END_OF_TEXT, NULL, END_OF_TEXT },
        .model = BYTE_LEVEL_BPE,
        .normalizer = "{\"type\":\"NFC\"}",
        .pre_tokenizer = SPLIT_THEN_BYTE_LEVEL(QWEN2_REGEX, "false"),
        .pre_tokenizer_prefix = SPLIT_THEN_BYTE_LEVEL(QWEN2_REGEX, "true"),
        .decoder = BYTE_LEVEL("true", "true"),
        .resets_named = true,
    },
    {
        .name = "Qwen3_5Tokenizer",
        .defaults = { NULL, END_OF_TEXT, END_OF_TEXT, NULL, END_OF_TEXT },
        .model = BYTE_LEVEL_BPE,
        .normalizer = "{\"type\":\"NFC\"}",
        .pre_tokenizer = SPLIT_THEN_BYTE_LEVEL(QWEN35_REGEX, "false"),
        .pre_tokenizer_prefix = SPLIT_THEN_BYTE_LEVEL(QWEN35_REGEX, "true"),
        .decoder = BYTE_LEVEL("true", "true"),
    },
    {
        .name = "GPT2Tokenizer",
        .defaults = { END_OF_TEXT, END_OF_TEXT, END_OF_TEXT },
        .model = BYTE_LEVEL_BPE,
        .normalizer = "null",
        .pre_tokenizer = BYTE_LEVEL("false", "true"),
        .pre_tokenizer_prefix = BYTE_LEVEL("true", "true"),
        .decoder = BYTE_LEVEL("true", "true"),
    },
    {
        .name = "GPTNeoXTokenizer",
        .defaults = { END_OF_TEXT, END_OF_TEXT, END_OF_TEXT, NULL, "<|padding|>" },
        .model = BYTE_LEVEL_BPE,
        .normalizer = "{\"type\":\"NFC\"}",
        .pre_tokenizer = BYTE_LEVEL("false", "true"),
        .pre_tokenizer_prefix = BYTE_LEVEL("true", "true"),
        .decoder = BYTE_LEVEL("true", "true"),
        .drops_post = true,
    },
    {
        .name = "LlamaTokenizer",
        .defaults = { "<s>", "</s>", "<unk>" },
        .model = FALLBACK_BPE("null"),
        .normalizer = "null",
        .pre_tokenizer = METASPACE("never"),
        .pre_tokenizer_prefix = METASPACE("first"),
        .pre_tokenizer_legacy = METASPACE("always"),
        .decoder = "{\"type\":\"Sequence\",\"decoders\":[" FALLBACK_DECODERS "]}",
        .decoder_prefix = "{\"type\":\"Sequence\",\"decoders\":[" FALLBACK_DECODERS
                          ",{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]}",
        .prefix_default = true,
    },
    {
        .name = "GemmaTokenizer",
        .defaults = { "<bos>", "<eos>", "<unk>", NULL, "<pad>", NULL, "<mask>" },
        .model = FALLBACK_BPE("\"<unk>\""),
        .normalizer = "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},"
                      "\"content\":\"\\u2581\"}",
        .pre_tokenizer = "{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},"
                         "\"behavior\":\"MergedWithPrevious\",\"invert\":false}",
        .decoder = "{\"type\":\"Sequence\",\"decoders\":[" FALLBACK_DECODERS "]}",
    },
};

const td_class_rule *td_class_rule_find(td_str name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (td_str_eq(name, td_str_from(rules[i].name)))
            return &rules[i];
    }
    return NULL;
}

static const td_value *key_of(const td_dict *d, const char *key)
{
    return d != NULL ? td_dict_find(d, td_str_from(key)) : NULL;
}

static bool flag_of(const td_dict *d, const char *key, bool missing)
{
    const td_value *v = key_of(d, key);
    return v != NULL && v->tag == TD_V_BOOL ? v->as.boolean : missing;
}

static td_code set_json(td_arena *a, td_dict *d, const char *key, const char *json, td_error *err)
{
    td_value v;
    TD_TRY(td_json_read(a, td_str_from(json), &v, err));
    return td_dict_set(a, d, td_key(td_str_from(key)), v) ? TD_OK : td_arena_fail(a, err);
}

/* The class's options for the file's vocabulary and merges. */
static td_code set_model(td_arena *a, const td_class_rule *rule, const td_skimmed *file,
                         td_dict *root, td_error *err)
{
    const td_value *model = key_of(file->root, "model");
    const td_dict *m = model != NULL && model->tag == TD_V_DICT ? model->as.dict : NULL;
    const td_value *type = key_of(m, "type");
    bool bpe = file->vocab.len != 0 && file->vocab.ptr[0] == '{' && file->merges.len != 0 &&
               (type == NULL || (td_is_str(*type) && td_str_eq(td_as_str(*type), TD_STR("BPE"))));
    if (!bpe)
        return td_fail(err, TD_E_TOKENIZER, "%s over a model that is not BPE is not available",
                       rule->name);
    return set_json(a, root, "model", rule->model, err);
}

td_code td_class_rebuild(td_arena *a, const td_class_rule *rule, const td_dict *tok_config,
                         const td_skimmed *file, td_dict **ret, td_error *err)
{
    bool prefix = flag_of(tok_config, "add_prefix_space", rule->prefix_default);
    const char *pre =
        prefix && rule->pre_tokenizer_prefix ? rule->pre_tokenizer_prefix : rule->pre_tokenizer;
    if (prefix && rule->pre_tokenizer_legacy && flag_of(tok_config, "legacy", false))
        pre = rule->pre_tokenizer_legacy;
    const char *decoder = prefix && rule->decoder_prefix ? rule->decoder_prefix : rule->decoder;

    td_dict *root = td_dict_new(a, 12);
    if (root == NULL)
        return td_arena_fail(a, err);
    TD_TRY(set_json(a, root, "version", "\"1.0\"", err));
    TD_TRY(set_json(a, root, "truncation", "null", err));
    TD_TRY(set_json(a, root, "padding", "null", err));
    TD_TRY(set_json(a, root, "added_tokens", "[]", err));
    TD_TRY(set_json(a, root, "normalizer", rule->normalizer, err));
    TD_TRY(set_json(a, root, "pre_tokenizer", pre, err));
    TD_TRY(set_json(a, root, "post_processor", "null", err));
    const td_value *post = key_of(file->root, "post_processor");
    if (post != NULL && !rule->drops_post &&
        !td_dict_set(a, root, td_key(TD_STR("post_processor")), *post))
        return td_arena_fail(a, err);
    TD_TRY(set_json(a, root, "decoder", decoder, err));
    TD_TRY(set_model(a, rule, file, root, err));
    *ret = root;
    return TD_OK;
}
