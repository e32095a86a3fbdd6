/* arrow_json.h - rows of Arrow arrays as JSON text.
 *
 * The two structures are those of the Arrow C data interface, a stable ABI: no header or library
 * of Arrow's is needed. */
#ifndef TD_SRC_PYTHON_ARROW_JSON_H
#define TD_SRC_PYTHON_ARROW_JSON_H

#include "python/core.h"

typedef struct arrow_schema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct arrow_schema **children, *dictionary;
    void (*release)(struct arrow_schema *);
    void *private_data;
} arrow_schema;

typedef struct arrow_array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct arrow_array **children, *dictionary;
    void (*release)(struct arrow_array *);
    void *private_data;
} arrow_array;

/* Text that grows; failed: out of memory, and what was appended since then is lost. */
typedef struct tdpy_text_buf {
    char *ptr;
    size_t len, cap;
    bool failed;
} tdpy_text_buf;

void tdpy_append(tdpy_text_buf *out, td_str text);
void tdpy_append_string(tdpy_text_buf *out, td_str text); /* as a JSON string */

/* One array with its type. */
typedef struct tdpy_column {
    const arrow_schema *schema;
    const arrow_array *array;
    bool drop_nulls; /* fields of structs that are null are left out */
} tdpy_column;

/* Whether all types in the column can be written; *ret_format is that of the first that cannot. */
bool tdpy_column_known(const tdpy_column *column, const char **ret_format);
bool tdpy_column_is_text(const tdpy_column *column);
bool tdpy_row_is_null(const tdpy_column *column, int64_t row);
/* The bytes of a row of texts, which is not null; false: its offsets are not in order. */
bool tdpy_row_text(const tdpy_column *column, int64_t row, td_str *ret);
/* Appends a row's value; false: the array contradicts itself (offsets or indices out of bounds), or
 * is nested too deep. */
bool tdpy_row_json(const tdpy_column *column, int64_t row, tdpy_text_buf *out);

#endif
