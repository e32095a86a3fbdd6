/* legacy.c - types by fields. Only types that the reference reads without looking at "type" are
 * here: all the others need one. */
#include "tokenizer/load/legacy.h"

enum { FIELDS_MAX = 4 };

typedef struct shape {
    const char *type;
    const char *fields[FIELDS_MAX]; /* all must be there */
} shape;

static const char *first_fit(const tk_at *at, const shape *shapes, size_t count)
{
    tk_at field;
    for (size_t i = 0; i < count; i++) {
        size_t n = 0;
        while (n < FIELDS_MAX && shapes[i].fields[n] != NULL &&
               tk_at_has(at, shapes[i].fields[n], &field))
            n++;
        if (n == FIELDS_MAX || shapes[i].fields[n] == NULL)
            return shapes[i].type;
    }
    return NULL;
}

const char *tk_legacy_norm(const tk_at *at)
{
    static const shape shapes[] = {
        { "BertNormalizer", { "clean_text", "handle_chinese_chars", "lowercase" } },
        { "Strip", { "strip_left", "strip_right" } },
        { "Sequence", { "normalizers" } },
        { "Replace", { "pattern", "content" } },
        { "Prepend", { "prepend" } },
    };
    return first_fit(at, shapes, sizeof shapes / sizeof *shapes);
}

const char *tk_legacy_post(const tk_at *at)
{
    static const shape shapes[] = {
        { "BertProcessing", { "sep", "cls" } }, /* finds RobertaProcessing too */
        { "TemplateProcessing", { "single", "pair", "special_tokens" } },
    };
    return first_fit(at, shapes, sizeof shapes / sizeof *shapes);
}

const char *tk_legacy_dec(const tk_at *at)
{
    static const shape shapes[] = {
        { "BPEDecoder", { "suffix" } },
        { "WordPiece", { "prefix", "cleanup" } },
        { "CTC", { "pad_token", "word_delimiter_token", "cleanup" } },
        { "Replace", { "pattern", "content" } },
        { "Strip", { "content", "start", "stop" } },
    };
    return first_fit(at, shapes, sizeof shapes / sizeof *shapes);
}

const char *tk_legacy_model(const tk_at *at)
{
    static const shape shapes[] = {
        { "WordPiece", { "unk_token", "continuing_subword_prefix", "max_input_chars_per_word" } },
        { "WordLevel", { "unk_token" } },
    };
    if (at->load->vocab == NULL)
        return at->load->vocab_json.ptr != NULL ? "Unigram" : NULL;
    if (at->load->merges_json.ptr != NULL)
        return "BPE";
    return first_fit(at, shapes, sizeof shapes / sizeof *shapes);
}
