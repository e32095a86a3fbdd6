/* driver.c - runs a fuzz target on the files and folders of files given as arguments, so that a
 * corpus and past findings are replayed by any compiler, in any build. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static size_t runs;

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return 1;
    size_t len = 0, cap = 4096;
    uint8_t *data = malloc(cap);
    size_t got = 1;
    while (data != NULL && got > 0) {
        got = fread(data + len, 1, cap - len, f);
        len += got;
        if (len == cap) {
            uint8_t *more = realloc(data, cap *= 2);
            if (more == NULL)
                free(data);
            data = more;
        }
    }
    fclose(f);
    if (data == NULL)
        return 1;
    uint8_t *exact = realloc(data, len > 0 ? len : 1); /* sanitizers see reads behind it */
    data = exact != NULL ? exact : data;
    LLVMFuzzerTestOneInput(data, len);
    free(data);
    runs++;
    return 0;
}

static int run_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return 1;
    if (!S_ISDIR(st.st_mode))
        return run_file(path);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return 1;
    int failed = 0;
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        char name[4096];
        int n = snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.' && n < (int)sizeof name)
            failed |= run_path(name);
    }
    closedir(dir);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        if (run_path(argv[i]) != 0) {
            fprintf(stderr, "cannot read %s\n", argv[i]);
            failed = 1;
        }
    fprintf(stderr, "%zu inputs\n", runs);
    return failed;
}
