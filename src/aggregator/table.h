/* table.h - the samples in flight: one row from ISSUED to COMPLETE, found by the sample's name. */
#ifndef TD_SRC_AGGREGATOR_TABLE_H
#define TD_SRC_AGGREGATOR_TABLE_H

#include "metrics/wide.h"
#include "tokdrain/base.h"

typedef struct td_row {
    char *name; /* owned; NULL: a free slot */
    uint32_t name_len;
    uint32_t window; /* in which it was issued last */
    uint64_t hash;
    td_wide issued_ns, recv_first_ns, last_recv_ns;
    bool has_recv_first, has_last_recv;
} td_row;

/* A zeroed td_table is ready to use; seed makes its order unpredictable. One thread at a time. */
typedef struct td_table {
    td_row *rows; /* open addressing; cap is a power of two */
    size_t count, cap;
    uint64_t seed;
} td_table;

/* NULL when there is none. Rows are valid until the table changes. */
td_row *td_table_find(const td_table *t, td_str name);
/* A new row (there must be none of that name), zeroed but for its name. NULL: out of memory. */
td_row *td_table_add(td_table *t, td_str name);
void td_table_remove(td_table *t, td_row *row);
void td_table_done(td_table *t);

#endif
