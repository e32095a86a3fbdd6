/* tokdrain/template.h - chat templates: compile once, render from many threads.
 *
 * The reference is jinja2's sandboxed environment exactly as transformers sets it up. A
 * td_template is immutable after compilation and may be shared by threads; rendering goes through
 * the model or counter API, which shapes the conversation first (see model.h). */
#ifndef TOKDRAIN_TEMPLATE_H
#define TOKDRAIN_TEMPLATE_H

#include "tokdrain/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct td_template td_template;

/* Compiles source, which is copied; name is what errors call it ("chat_template.jinja"). A syntax
 * error is TD_E_TEMPLATE with line, column and excerpt. */
TD_API TD_NODISCARD td_code td_template_new(td_str source, const char *name,
                                            td_template **ret_template, td_error *err);
TD_API void td_template_free(td_template *t);

/* Finds names (filters, tests, functions) that would fail only when they are executed. Calls
 * report once for each, in source order, with a finished error that report may read but not keep.
 * Returns how many there were. */
TD_API size_t td_template_warnings(const td_template *t,
                                   void (*report)(void *user, const td_error *warning), void *user);

typedef enum td_dump { TD_DUMP_TOKENS, TD_DUMP_AST, TD_DUMP_CODE } td_dump;

/* The text of one stage, NUL-terminated, for people; *ret_text is released with td_text_free. */
TD_API TD_NODISCARD td_code td_template_dump(td_str source, const char *name, td_dump stage,
                                             char **ret_text, td_error *err);
TD_API void td_text_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
