/* files.h - reading the files of a model directory. */
#ifndef TD_SRC_CHAT_FILES_H
#define TD_SRC_CHAT_FILES_H

#include "base/arena.h"
#include "tokdrain/base.h"
#include "value/value.h"

/* Reads the file dir/name into the arena; TD_E_INPUT names the file and the reason. */
td_code td_file_read(td_arena *a, const char *dir, const char *name, td_str *ret_text,
                     td_error *err);
/* The same, but a file that is not there gives TD_OK and a view with ptr NULL. */
td_code td_file_read_optional(td_arena *a, const char *dir, const char *name, td_str *ret_text,
                              td_error *err);
/* A file that lies in memory as long as it is wanted. */
typedef struct td_mapped_file {
    td_str text; /* ptr NULL: it is not there */
    void *map;   /* NULL: text is in the arena */
} td_mapped_file;

/* As td_file_read and td_file_read_optional, without a copy where the system can do that. To be
 * given back with td_file_unmap, also after a failure. */
td_code td_file_map(td_arena *a, const char *dir, const char *name, bool optional,
                    td_mapped_file *ret, td_error *err);
void td_file_unmap(td_mapped_file *file);

/* A JSON file that must hold an object; *ret is NULL when the file is not there. */
td_code td_file_read_object(td_arena *a, const char *dir, const char *name, const td_dict **ret,
                            td_error *err);
/* Text as Python's open() gives it: \r\n and \r become \n; bytes must be UTF-8. */
td_code td_file_read_text(td_arena *a, const char *dir, const char *name, td_str *ret_text,
                          td_error *err);

/* dir/name, NUL-terminated, in the arena; NULL: out of memory. An empty name gives dir itself. */
char *td_path_join(td_arena *a, const char *dir, const char *name);
bool td_path_is_dir(const char *path);
bool td_path_is_file(const char *path);

#endif
