#include "aggregator/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"

#define FINAL "final_snapshot.json"

bool td_output_is_dir(const char *dir)
{
    struct stat st;
    return stat(dir, &st) == 0 && S_ISDIR(st.st_mode);
}

/* dir/name as text, in *path (td_buf_done). */
static td_code join(td_buf *path, const char *dir, const char *name, td_error *err)
{
    td_code code = td_buf_printf(path, "%s/%s", dir, name);
    if (code != TD_OK)
        return td_buf_fail(path, err, code, "path");
    path->ptr[path->len] = '\0'; /* lies in the slack */
    return TD_OK;
}

static td_code fail_system(td_error *err, const char *what, const char *path)
{
    char reason[128] = "";
    int number = errno;
    if (strerror_r(number, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", number);
    return td_fail(err, TD_E_INPUT, "%s %s: %s", what, path, reason);
}

td_code td_output_mark_ready(const char *dir, td_error *err)
{
    td_buf path = { 0 };
    td_code code = join(&path, dir, ".ready", err);
    if (code == TD_OK) {
        int fd = open(path.ptr, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
        if (fd < 0 || close(fd) != 0)
            code = fail_system(err, "cannot create", path.ptr);
    }
    td_buf_done(&path);
    return code;
}

static bool write_all(int fd, td_str text)
{
    while (text.len != 0) {
        ssize_t n = write(fd, text.ptr, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text.ptr += n;
        text.len -= (size_t)n;
    }
    return true;
}

static td_code write_synced(const char *path, td_str text, td_error *err)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail_system(err, "cannot create", path);
    bool ok = write_all(fd, text) && fsync(fd) == 0;
    td_code code = ok ? TD_OK : fail_system(err, "cannot write", path);
    if (close(fd) != 0 && code == TD_OK)
        code = fail_system(err, "cannot write", path);
    return code;
}

/* So that the new name survives a crash of the machine, too; there is nothing to do about a
 * failure: the file is complete either way. */
static void sync_dir(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

td_code td_output_write_final(const char *dir, td_str text, td_error *err)
{
    td_buf path = { 0 }, temporary = { 0 };
    td_code code = join(&path, dir, FINAL, err);
    if (code == TD_OK)
        code = join(&temporary, dir, FINAL ".tmp", err);
    if (code == TD_OK) {
        code = write_synced(temporary.ptr, text, err);
        if (code == TD_OK && rename(temporary.ptr, path.ptr) != 0)
            code = fail_system(err, "cannot rename", temporary.ptr);
        if (code == TD_OK)
            sync_dir(dir);
        else
            (void)unlink(temporary.ptr);
    }
    td_buf_done(&path);
    td_buf_done(&temporary);
    return code;
}
