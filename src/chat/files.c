#define _DEFAULT_SOURCE /* MAP_POPULATE */
#include "chat/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "value/json.h"

enum { SLACK = 64 };
static const size_t FILE_BYTES_MAX = (size_t)1 << 30;

char *td_path_join(td_arena *a, const char *dir, const char *name)
{
    size_t dir_len = strlen(dir), name_len = strlen(name);
    char *path = td_arena_array(a, char, dir_len + name_len + 2);
    if (path == NULL)
        return NULL;
    memcpy(path, dir, dir_len);
    size_t at = dir_len;
    if (name_len != 0 && dir_len != 0 && path[at - 1] != '/')
        path[at++] = '/';
    memcpy(path + at, name, name_len + 1);
    return path;
}

bool td_path_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool td_path_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

static td_code fail_errno(td_error *err, const char *path, int why)
{
    char text[128] = "";
    if (strerror_r(why, text, sizeof text) != 0)
        snprintf(text, sizeof text, "error %d", why);
    td_fail(err, TD_E_INPUT, "cannot read %s: %s", path, text);
    return td_error_in_file(err, path);
}

/* Reads to the end, whatever the size was said to be. */
static td_code read_stream(td_arena *a, FILE *f, const char *path, size_t guess, td_str *ret_text,
                           td_error *err)
{
    size_t cap = guess + SLACK + 1, len = 0;
    char *text = td_arena_array(a, char, cap);
    for (;;) {
        if (text == NULL)
            return td_arena_fail(a, err);
        size_t got = fread(text + len, 1, cap - SLACK - len, f);
        len += got;
        if (len < cap - SLACK)
            break;
        if (len > FILE_BYTES_MAX)
            return td_fail(err, TD_E_LIMIT, "%s is longer than %zu bytes", path, FILE_BYTES_MAX);
        char *more = td_arena_array(a, char, cap * 2);
        if (more != NULL)
            memcpy(more, text, len);
        text = more;
        cap *= 2;
    }
    if (ferror(f))
        return fail_errno(err, path, errno);
    memset(text + len, 0, SLACK);
    *ret_text = (td_str){ text, len };
    return TD_OK;
}

static td_code read_path(td_arena *a, const char *path, bool optional, td_str *ret_text,
                         td_error *err)
{
    FILE *f = fopen(path, "rbe");
    if (f == NULL && optional && errno == ENOENT) {
        *ret_text = (td_str){ NULL, 0 };
        return TD_OK;
    }
    if (f == NULL)
        return fail_errno(err, path, errno);
    struct stat st;
    size_t guess = fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) ? (size_t)st.st_size : 4096;
    td_code code = S_ISDIR(st.st_mode) ? fail_errno(err, path, EISDIR)
                                       : read_stream(a, f, path, guess, ret_text, err);
    fclose(f);
    return code;
}

td_code td_file_read(td_arena *a, const char *dir, const char *name, td_str *ret_text,
                     td_error *err)
{
    char *path = td_path_join(a, dir, name);
    if (path == NULL)
        return td_arena_fail(a, err);
    return read_path(a, path, /* optional */ false, ret_text, err);
}

td_code td_file_read_optional(td_arena *a, const char *dir, const char *name, td_str *ret_text,
                              td_error *err)
{
    char *path = td_path_join(a, dir, name);
    if (path == NULL)
        return td_arena_fail(a, err);
    return read_path(a, path, /* optional */ true, ret_text, err);
}

/* NULL: it is empty, no plain file, or cannot be mapped. */
static void *map_path(const char *path, size_t *ret_size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    void *map = MAP_FAILED;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        (uintmax_t)st.st_size <= FILE_BYTES_MAX)
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    close(fd);
    *ret_size = map != MAP_FAILED ? (size_t)st.st_size : 0;
    return map != MAP_FAILED ? map : NULL;
}

td_code td_file_map(td_arena *a, const char *dir, const char *name, bool optional,
                    td_mapped_file *ret, td_error *err)
{
    *ret = (td_mapped_file){ 0 };
    char *path = td_path_join(a, dir, name);
    if (path == NULL)
        return td_arena_fail(a, err);
    ret->map = map_path(path, &ret->text.len);
    if (ret->map == NULL)
        return read_path(a, path, optional, &ret->text, err);
    ret->text.ptr = ret->map;
    return TD_OK;
}

void td_file_unmap(td_mapped_file *file)
{
    if (file->map != NULL)
        munmap(file->map, file->text.len);
    *file = (td_mapped_file){ 0 };
}

td_code td_file_read_object(td_arena *a, const char *dir, const char *name, const td_dict **ret,
                            td_error *err)
{
    td_str text;
    TD_TRY(td_file_read_optional(a, dir, name, &text, err));
    *ret = NULL;
    if (text.ptr == NULL)
        return TD_OK;
    td_value v;
    if (td_json_read(a, text, &v, err) == TD_OK && v.tag != TD_V_DICT)
        td_fail(err, TD_E_INPUT, "must hold a JSON object, not %s", td_value_type_name(v));
    if (err->code != TD_OK) {
        td_while(err, "%s", name);
        return td_error_in_file(err, name);
    }
    *ret = v.as.dict;
    return TD_OK;
}

td_code td_file_read_text(td_arena *a, const char *dir, const char *name, td_str *ret_text,
                          td_error *err)
{
    td_str raw;
    TD_TRY(td_file_read_optional(a, dir, name, &raw, err));
    *ret_text = raw;
    if (raw.ptr == NULL)
        return TD_OK;
    size_t good = td_utf8_check_strict(raw);
    if (good != raw.len) {
        td_fail_at(err, TD_E_INPUT, good, "%s is not valid UTF-8", name);
        return td_error_in_file(err, name);
    }
    char *to = (char *)raw.ptr; /* this arena's own bytes, not shared yet */
    size_t n = 0;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.ptr[i];
        if (c == '\r') {
            c = '\n';
            i += i + 1 < raw.len && raw.ptr[i + 1] == '\n';
        }
        to[n++] = c;
    }
    *ret_text = (td_str){ to, n };
    return TD_OK;
}
