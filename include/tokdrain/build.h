/* tokdrain/build.h - requests from a program's own objects, without JSON in between.
 *
 * A td_build takes one value, item by item and depth first, as a reader of JSON would meet it:
 *
 *     td_build_map(b);
 *     td_build_text(b, TD_STR("text"), true);
 *     td_build_text(b, TD_STR("How many tokens?"), false);
 *     td_build_end(b);
 *     td_request *request = NULL;
 *     if (td_build_request(b, &request, &err) != TD_OK) ...
 *
 * Every function copies what it is given. One that fails gives false and makes all later ones fail;
 * td_build_request tells why. One thread uses a builder at a time; it can be used again. */
#ifndef TOKDRAIN_BUILD_H
#define TOKDRAIN_BUILD_H

#include "tokdrain/request.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct td_build td_build;

TD_API TD_NODISCARD td_build *td_build_new(void); /* NULL: out of memory */
TD_API void td_build_free(td_build *b);
/* Forgets everything taken so far. */
TD_API void td_build_reset(td_build *b);

/* ---- one value each; inside a map keys and values alternate ---- */

TD_API bool td_build_null(td_build *b);
TD_API bool td_build_bool(td_build *b, bool value);
TD_API bool td_build_int(td_build *b, int64_t value);
TD_API bool td_build_float(td_build *b, double value);
/* Digits of base 16 with an optional sign in front: integers of any size. */
TD_API bool td_build_hex(td_build *b, td_str digits);
/* text is UTF-8 as td_str has it, which is not checked. ascii: it is known to hold no byte above
 * 0x7F; false: not known. */
TD_API bool td_build_text(td_build *b, td_str text, bool ascii);
/* Begin a container; what follows, up to its td_build_end, are its items. A key that comes again
 * replaces the value at the first place; lists and maps cannot be keys. */
TD_API bool td_build_list(td_build *b);
TD_API bool td_build_tuple(td_build *b);
TD_API bool td_build_map(td_build *b);
TD_API bool td_build_end(td_build *b);

/* A request from the value, which must be one whole map with the keys of a request (docs/cli.md);
 * the builder is empty afterwards, also on failure. What is wrong with the request itself is the
 * item's own error, later, as with td_request_new. */
TD_API TD_NODISCARD td_code td_build_request(td_build *b, td_request **ret_request, td_error *err);

#ifdef __cplusplus
}
#endif
#endif
