/* jinja.h - the template engine as the layers above see it: compile, then render values. */
#ifndef TD_SRC_JINJA_JINJA_H
#define TD_SRC_JINJA_JINJA_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"
#include "tokdrain/template.h"
#include "value/json_texts.h"
#include "value/value.h"

/* Bounds of one render; 0 takes the default (docs/limits.md). */
typedef struct jj_limits {
    uint64_t steps_max;        /* 100,000,000 */
    size_t output_bytes_max;   /* 256 MiB */
    size_t memory_bytes_max;   /* 1 GiB */
    uint64_t deadline_ns;      /* CLOCK_MONOTONIC; 0: none -> TD_E_TIMEOUT */
    const atomic_bool *cancel; /* NULL: none; true stops the render with TD_E_TIMEOUT */
} jj_limits;

/* What strftime_now() sees: a fixed moment or the clock. */
typedef struct jj_now {
    bool fixed;
    int64_t unix_seconds;     /* when fixed */
    uint32_t microseconds;
    int32_t utc_offset_seconds; /* of the fixed moment's wall clock */
} jj_now;

/* One {% generation %} block in the output. */
typedef struct jj_span {
    size_t start, end;                         /* bytes */
    size_t start_code_points, end_code_points; /* the reference's own unit */
} jj_span;

typedef struct jj_spans {
    jj_span *items; /* td_free */
    size_t count, cap;
} jj_spans;

/* From the byte start on, up to the next mark, output came from that message; -1: from none. */
typedef struct jj_mark {
    size_t start;
    int64_t message;
} jj_mark;

typedef struct jj_marks {
    jj_mark *items; /* td_free; ascending */
    size_t count, cap;
} jj_marks;

/* Reusable memory of one worker; one render at a time. */
typedef struct jj_workspace jj_workspace;
jj_workspace *jj_workspace_new(void); /* NULL: out of memory */
/* Later renders note which message their output came from (owners.c tells how): in marks, emptied
 * first. NULL: they do not. */
void jj_workspace_set_marks(jj_workspace *ws, jj_marks *marks);
/* Later renders look JSON texts up in texts and remember them there (NULL: they do not); with check
 * they make them all the same, and one that differs is a TD_E_VERIFY. */
void jj_workspace_set_texts(jj_workspace *ws, td_json_texts *texts, bool check);
void jj_workspace_free(jj_workspace *ws);
size_t jj_workspace_bytes(const jj_workspace *ws);

/* Renders t with the variables of vars (a dict with text keys: messages, tools, documents,
 * add_generation_prompt, special tokens, kwargs) and appends to out. spans may be NULL; when it is
 * not, generation blocks are recorded. On failure out is as it was, and err has file, line, column
 * and excerpt of the template, and the message index where known. */
TD_NODISCARD td_code jj_render(const td_template *t, const td_dict *vars, const jj_limits *limits,
                               const jj_now *now, jj_workspace *ws, td_buf *out, jj_spans *spans,
                               td_error *err);

/* The source text, which continue_final_message and sanitize_control_tokens look into. */
td_str jj_source(const td_template *t);
/* Calls visit for every literal text and string constant of the template. */
void jj_each_literal(const td_template *t, void (*visit)(void *user, td_str text), void *user);

#endif
