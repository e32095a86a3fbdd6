/* pack.h - appends msgpack values, each in its shortest form (doubles always as 64 bits).
 *
 * Functions give TD_OK or the code of the failed append. */
#ifndef TD_SRC_METRICS_PACK_H
#define TD_SRC_METRICS_PACK_H

#include "base/buf.h"
#include "metrics/wide.h"

td_code td_pack_nil(td_buf *out);
td_code td_pack_int(td_buf *out, td_wide value); /* the nearest that msgpack has */
td_code td_pack_double(td_buf *out, double value);
td_code td_pack_str(td_buf *out, td_str text);
td_code td_pack_array(td_buf *out, uint32_t count); /* its values follow */
td_code td_pack_map(td_buf *out, uint32_t count);   /* its keys and values follow in turn */

#endif
