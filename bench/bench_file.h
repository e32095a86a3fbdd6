/* bench_file.h - a whole file in memory, for the benches in C. */
#ifndef TD_BENCH_FILE_H
#define TD_BENCH_FILE_H

#include <stdio.h>
#include <stdlib.h>

/* The caller frees it; NULL: it cannot be read. */
static inline char *read_file(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    rewind(f);
    char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (text != NULL && fread(text, 1, (size_t)size, f) != (size_t)size) {
        free(text);
        text = NULL;
    }
    fclose(f);
    *ret_len = text != NULL ? (size_t)size : 0;
    return text;
}

#endif
