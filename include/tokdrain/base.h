/* tokdrain/base.h - what every public header shares: views, codes, errors, the allocator hook.
 *
 * Conventions of the whole API: objects come from td_X_new* and go with td_X_free (NULL is fine);
 * outputs are named ret_* and written on success only; a td_error parameter is named err, may be
 * NULL, and is filled on failure only. Sizes are bytes unless the name says otherwise. */
#ifndef TOKDRAIN_BASE_H
#define TOKDRAIN_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define TD_NODISCARD __attribute__((warn_unused_result))
#define TD_API __attribute__((visibility("default")))
#else
#define TD_PRINTF(fmt, args)
#define TD_NODISCARD
#define TD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed bytes: never owns, not NUL-terminated, may contain NUL. An empty view may have
 * ptr == NULL. Text is UTF-8; where Python text may hold lone surrogates, each one is kept as its
 * three-byte encoding and nothing joins two of them. */
typedef struct td_str {
    const char *ptr;
    size_t len;
} td_str;

/* A view of a string literal. */
#ifdef __cplusplus
#define TD_STR(lit) (td_str{ "" lit, sizeof(lit) - 1 })
#else
#define TD_STR(lit) ((td_str){ "" lit, sizeof(lit) - 1 })
#endif

/* What went wrong; one code for each error kind of a result line. */
typedef enum td_code {
    TD_OK = 0,
    TD_E_INPUT,     /* "input": malformed bytes or shape, unreadable file, bad argument */
    TD_E_TEMPLATE,  /* "template": syntax, raise_exception(), undefined, type, sandbox */
    TD_E_LIMIT,     /* "limit": a documented bound was exceeded */
    TD_E_TOKENIZER, /* "tokenizer": cannot be loaded exactly, or refuses the text */
    TD_E_WORKER,    /* "worker": an external tokenizer process failed */
    TD_E_TIMEOUT,   /* "timeout": the item's time was up */
    TD_E_VERIFY,    /* "verify": a recount gave another number */
    TD_E_INTERNAL,  /* "internal": out of memory */
} td_code;

/* The kind's name as result lines spell it; "ok" for TD_OK. Static storage. */
TD_API const char *td_code_name(td_code code);

#define TD_NO_OFFSET UINT64_MAX

/* One error. Start from a zeroed struct (TD_ERROR_INIT); td_error_clear frees what it owns and
 * zeroes it again. message is NUL-terminated and of any length, and a template's own text may hold
 * NUL, too: message_len tells its bytes. It points into the struct or to the heap, so copy an error
 * with td_error_move only. */
typedef struct td_error {
    td_code code;
    uint32_t line, column; /* 1-based, columns in code points; 0: unknown */
    uint64_t offset;       /* byte offset into the input; TD_NO_OFFSET: unknown */
    int64_t message_index; /* index of the chat message it happened in; -1: unknown */
    char *message;         /* never NULL once code is set */
    size_t message_len;
    char *file;            /* owned; NULL: unknown */
    char *excerpt;         /* owned; source line and caret, two lines; NULL: none */
    char text[240];        /* where short messages live */
} td_error;

/* All members in their order: C++17 knows no names here. */
#define TD_ERROR_INIT { TD_OK, 0, 0, TD_NO_OFFSET, -1, NULL, 0, NULL, NULL, { 0 } }

TD_API void td_error_clear(td_error *err);
/* Makes *err (cleared first) an error of the caller's own; message is copied in full. */
TD_API void td_error_set(td_error *err, td_code code, td_str message);
/* Moves *from into *to (cleared first); *from is empty afterwards. Both not NULL. */
TD_API void td_error_move(td_error *to, td_error *from);

/* Memory functions with the contracts of malloc, realloc and free; called from any thread. */
typedef struct td_allocator {
    void *(*alloc)(void *user, size_t size);
    void *(*resize)(void *user, void *ptr, size_t size);
    void (*release)(void *user, void *ptr);
    void *user;
} td_allocator;

/* Replaces the allocator of the process. Call it before any other function of the library, from
 * one thread; NULL restores malloc. */
TD_API void td_set_allocator(const td_allocator *allocator);

/* "MAJOR.MINOR.PATCH" of the library that is running. Static storage. */
TD_API const char *td_version(void);

#ifdef __cplusplus
}
#endif
#endif
