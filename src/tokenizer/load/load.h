/* load.h - from tokenizer.json to components.
 *
 * A tk_at is a value in the JSON together with the way to it, so that every error can name its
 * place ("pre_tokenizer.pretokenizers[1].type: ..."). Components and their small parts live in the
 * tokenizer's arena and need no freeing; anything else registers itself with tk_on_free. */
#ifndef TD_SRC_TOKENIZER_LOAD_LOAD_H
#define TD_SRC_TOKENIZER_LOAD_LOAD_H

#include "tokenizer/pipeline.h"
#include "value/value.h"

typedef struct tk_vocab tk_vocab;

/* Freed, last first, with the tokenizer. */
typedef struct tk_cleanup {
    struct tk_cleanup *next;
    void (*fn)(void *);
    void *ptr;
} tk_cleanup;

typedef struct tk_load {
    td_arena *arena;      /* the tokenizer's */
    td_arena temp;        /* JSON values; gone after loading */
    tk_cleanup **cleanup; /* the tokenizer's list */
    td_error *err;
    /* Big parts of the model section, which are not in its td_value. */
    tk_vocab *vocab;        /* "vocab" when it is an object; owned until a model takes it */
    td_str vocab_json;      /* "vocab" when it is anything else: its JSON text */
    td_str merges_json;     /* "merges": its JSON text */
    uint64_t vocab_at, merges_at; /* where they stand in the file */
    bool nearest;                 /* scores in vocab_json are read to the nearest double */
} tk_load;

typedef struct tk_at {
    tk_load *load;
    const struct tk_at *up;
    const char *key; /* of the parent; NULL: index */
    uint32_t index;
    td_value value;
} tk_at;

/* Raises TD_E_TOKENIZER "PATH.KEY: message"; key may be NULL. */
td_code tk_at_fail(const tk_at *at, const char *key, const char *fmt, ...) TD_PRINTF(3, 4);
td_code tk_load_nomem(tk_load *load);

/* The child under key; false when absent or null (ret->value is then none). */
bool tk_at_field(const tk_at *at, const char *key, tk_at *ret);
/* The same, but true for null too: for fields that may be absent but not null. */
bool tk_at_has(const tk_at *at, const char *key, tk_at *ret);
tk_at tk_at_item(const tk_at *at, uint32_t i); /* of a list */

/* Fields of an object. get_ requires them; opt_ leaves *ret alone when absent or null, def_ when
 * absent. */
td_code tk_get_bool(const tk_at *at, const char *key, bool *ret);
td_code tk_opt_bool(const tk_at *at, const char *key, bool *ret);
td_code tk_def_bool(const tk_at *at, const char *key, bool *ret);
td_code tk_get_str(const tk_at *at, const char *key, td_str *ret); /* copied into the arena */
td_code tk_opt_str(const tk_at *at, const char *key, td_str *ret);
td_code tk_get_uint(const tk_at *at, const char *key, uint32_t *ret);
td_code tk_opt_uint(const tk_at *at, const char *key, uint32_t *ret);
td_code tk_get_char(const tk_at *at, const char *key, uint32_t *ret); /* a text of one character */
td_code tk_get_u64(const tk_at *at, const char *key, uint64_t *ret);
td_code tk_get_list(const tk_at *at, const char *key, tk_at *ret);
/* [text, id] */
td_code tk_get_token(const tk_at *at, const char *key, td_str *ret_text, uint32_t *ret_id);
/* The "type" of a component. */
td_code tk_get_type(const tk_at *at, td_str *ret);

/* Zeroed memory of the tokenizer's arena; NULL after raising. */
void *tk_new(tk_load *load, size_t size);
#define TK_NEW(load, T) ((T *)tk_new((load), sizeof(T)))
td_str tk_keep(tk_load *load, td_str s); /* a copy there; ptr NULL after raising */
td_code tk_on_free(tk_load *load, void (*fn)(void *), void *ptr);

/* Constructors by "type", from the .def tables; an unknown type is an error naming its place. */
td_code tk_make_norm(const tk_at *at, const tk_norm **ret);
td_code tk_make_pretok(const tk_at *at, const tk_pretok **ret);
td_code tk_make_model(const tk_at *at, const tk_model **ret);
td_code tk_make_post(const tk_at *at, const tk_post **ret);
td_code tk_make_dec(const tk_at *at, const tk_dec **ret);

/* A pattern field: {"String": s} or {"Regex": s}. */
td_code tk_get_pattern(const tk_at *at, const char *key, bool *ret_is_regex, td_str *ret);

#endif
