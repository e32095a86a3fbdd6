/* json_texts.h - the JSON texts of one immutable value and its parts, written once and looked up.
 *
 * Known by the container's place in memory, which nothing else can have while the value lives, and
 * by everything else that the text depends on. All functions may be called by any number of threads
 * at once; looking up takes no lock. */
#ifndef TD_SRC_VALUE_JSON_TEXTS_H
#define TD_SRC_VALUE_JSON_TEXTS_H

#include "value/json.h"

typedef struct td_json_texts td_json_texts;

/* Of root, which must not change; lives in a, as root may. Texts of the containers up to a few
 * levels below root can be remembered, bytes_max bytes of them. NULL: the arena is full. */
td_json_texts *td_json_texts_new(td_arena *a, td_value root, size_t bytes_max);
void td_json_texts_done(td_json_texts *t); /* frees what is not in the arena */

/* The text that td_json_write gives for v: valid as long as t, 32 readable bytes behind it. */
bool td_json_texts_find(const td_json_texts *t, td_value v, const td_json_style *style,
                        td_str *ret);
/* Remembers such a text, copied, if v is one of the containers and there is room. */
void td_json_texts_put(td_json_texts *t, td_value v, const td_json_style *style, td_str text);
/* Memory for texts that was used. */
size_t td_json_texts_bytes(const td_json_texts *t);

#endif
