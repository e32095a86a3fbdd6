/* files.h - what the service leaves in its output directory. */
#ifndef TD_SRC_AGGREGATOR_FILES_H
#define TD_SRC_AGGREGATOR_FILES_H

#include "tokdrain/base.h"

bool td_output_is_dir(const char *dir);
/* Makes the empty file dir/.ready. */
TD_NODISCARD td_code td_output_mark_ready(const char *dir, td_error *err);
/* Puts text into dir/final_snapshot.json so that, whatever happens at any moment, the file holds
 * either all of it or what it held before. */
TD_NODISCARD td_code td_output_write_final(const char *dir, td_str text, td_error *err);

#endif
