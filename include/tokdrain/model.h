/* tokdrain/model.h - a model as counting sees it: tokenizer, chat templates, special tokens.
 *
 * A td_model never changes after it was made, so any number of threads may use one; it is
 * reference-counted, and whoever keeps one (a counter, say) takes a reference.
 *
 *     td_model *model = NULL;
 *     td_error err = TD_ERROR_INIT;
 *     if (td_model_new("path/to/Qwen3", NULL, &model, &err) != TD_OK) ...
 *     td_model_free(model);
 */
#ifndef TOKDRAIN_MODEL_H
#define TOKDRAIN_MODEL_H

#include "tokdrain/template.h"
#include "tokdrain/tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct td_model td_model;

/* Whose rules a model directory follows. */
typedef enum td_compat {
    TD_COMPAT_TRANSFORMERS,   /* AutoTokenizer's: the class may rebuild parts of tokenizer.json */
    TD_COMPAT_TOKENIZER_JSON, /* tokenizer.json as it stands, as the tokenizers library reads it */
} td_compat;

/* Zeroed fields are the defaults. */
typedef struct td_model_options {
    td_compat compat;
    const char *revision;  /* of a cached name; NULL: "main" */
    bool templates_only;   /* do not load the tokenizer, only find the chat templates */
    const char *encoding;  /* family of a file of tiktoken ranks; NULL: told by their number */
    const char *hub_cache; /* folder of the hub cache; NULL: names are not looked up there */
} td_model_options;

/* Loads a model. name is a directory, a tokenizer.json or another vocabulary file (see
 * td_tokenizer_new_from_vocabulary), or the name of a model that the local Hugging Face cache
 * holds; NULL is the built-in default model. options may be NULL.
 *
 * TD_E_INPUT: not found, unreadable or malformed. TD_E_TOKENIZER: it cannot be loaded exactly; the
 * message names what is in the way. A chat template that does not compile fails its use only. */
TD_API TD_NODISCARD td_code td_model_new(const char *name, const td_model_options *options,
                                         td_model **ret_model, td_error *err);
typedef struct td_named_text {
    td_str name, text;
} td_named_text;

/* A model that another program has already loaded, in pieces. Everything is copied. */
typedef struct td_model_parts {
    const char *name;      /* what messages call it */
    td_str tokenizer_json; /* the text of a finished tokenizer.json: used as it stands, but for its
                              truncation and padding, which are not applied */
    const td_named_text *templates; /* "default", "tool_use", ... and their sources */
    size_t template_count;
    bool templates_by_name;       /* a request may pick one by its name */
    const td_named_text *special; /* variables of templates, in order: "bos_token", ... */
    size_t special_count;
    td_str class_name;         /* tokenizer class, for its rules of decoding; may be empty */
    bool cleans_up_spaces;     /* decoding cleans up spaces before marks */
    bool cleans_up_bpe;        /* also where the tokenizer is a BPE */
    bool split_special_tokens; /* special tokens in texts are text */
} td_model_parts;

/* TD_E_INPUT: malformed text; TD_E_TOKENIZER: as td_model_new. */
TD_API TD_NODISCARD td_code td_model_new_from_parts(const td_model_parts *parts,
                                                    td_model **ret_model, td_error *err);
/* Another owner of the same model; each owner calls td_model_free. */
TD_API td_model *td_model_ref(td_model *model);
TD_API void td_model_free(td_model *model);

/* Borrowed from the model; NULL with templates_only. */
TD_API td_tokenizer *td_model_tokenizer(const td_model *model);

/* One chat template of the model; views live as long as the model. */
typedef struct td_model_template {
    td_str name;      /* "default", "tool_use", ...; may hold NUL */
    const char *file; /* where it was found: "chat_template.jinja", "tokenizer_config.json" */
    td_str source;
    const td_template *compiled; /* NULL: it does not compile, td_template_new tells why */
} td_model_template;

TD_API size_t td_model_template_count(const td_model *model);
/* i < td_model_template_count(model) */
TD_API td_model_template td_model_template_at(const td_model *model, size_t i);

/* Named special tokens that templates see as variables ("bos_token"), in the reference's order. */
TD_API size_t td_model_special_count(const td_model *model);
TD_API td_str td_model_special_name(const td_model *model, size_t i);
TD_API td_str td_model_special_text(const td_model *model, size_t i);

/* What was loaded, for people and scripts: JSON text, NUL-terminated, td_text_free. NULL: out of
 * memory. */
TD_API char *td_model_describe(const td_model *model);

#ifdef __cplusplus
}
#endif
#endif
