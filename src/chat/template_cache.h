/* template_cache.h - templates that requests bring along: compiled once, bounded, shared. */
#ifndef TD_SRC_CHAT_TEMPLATE_CACHE_H
#define TD_SRC_CHAT_TEMPLATE_CACHE_H

#include "tokdrain/template.h"

typedef struct td_template_cache td_template_cache;
typedef struct td_cached_template td_cached_template;

td_template_cache *td_template_cache_new(void); /* NULL: out of memory */
void td_template_cache_free(td_template_cache *c);

/* The compiled template of a source; *ret stays valid until td_template_cache_release. */
td_code td_template_cache_get(td_template_cache *c, td_str source, const char *name,
                              td_cached_template **ret, td_error *err);
void td_template_cache_release(td_template_cache *c, td_cached_template *t);
const td_template *td_cached_template_get(const td_cached_template *t);
/* How many were compiled since the cache was made. */
uint64_t td_template_cache_compiled(td_template_cache *c);

#endif
