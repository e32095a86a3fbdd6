/* entities.h - the character references of HTML 5, generated into entities.c by
 * tools/gen_entities.py. */
#ifndef TD_SRC_JINJA_BUILTINS_ENTITIES_H
#define TD_SRC_JINJA_BUILTINS_ENTITIES_H

#include "tokdrain/base.h"

/* The text of a name as it stands behind &, with its ; if it has one; empty: unknown. */
td_str jj_entity(td_str name);
/* Numbers that stand for another character (Windows-1252), and numbers that stand for none. */
bool jj_entity_invalid_ref(uint32_t number, uint32_t *ret);
bool jj_entity_invalid_code_point(uint32_t c);

#endif
