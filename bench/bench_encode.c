/* bench_encode.c - one measurement of encoding, in a process of its own.
 *
 *     bench_encode TOKENIZER.JSON TEXT DOC_BYTES PASSES ids|count [THREADS]
 *
 * Loads, makes one call with a short text, then encodes all documents of TEXT (cut into DOC_BYTES
 * each) once for the cold figure and PASSES times for the warm ones. CPU seconds of the calls as a
 * line of JSON; crc is of all ids of the first pass, so that runs of other programs can be
 * compared.
 *
 * With THREADS: seconds by the clock for warm passes over all documents, which so many threads
 * share out among them, each with an encoder of its own. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_file.h"
#include "tokdrain/tokenizer.h"

typedef struct job {
    td_encoder *enc;
    char *text;
    size_t len, doc;
    bool counting;
    double clock; /* seconds of a look at it */
    uint32_t crc;
    size_t ids;
    td_id *kept; /* room for KEPT_MAX */
    size_t kept_count;
} job;

enum {
    GROUP = 1 << 16,      /* bytes of documents that are timed together */
    KEPT_MAX = 4 * GROUP, /* their ids */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What a look at the clock takes, which between two looks is once. */
static double cost_of_now(void)
{
    double least = 1;
    for (int i = 0; i < 1000; i++) {
        double start = now(), took = now() - start;
        least = took < least ? took : least;
    }
    return least;
}

/* The most memory that was ever resident, in KB. */
static long peak(void)
{
    char line[256];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    if (f != NULL)
        fclose(f);
    return kb;
}

/* zlib's */
static uint32_t crc32_of(uint32_t crc, const void *data, size_t n)
{
    static uint32_t table[256];
    const unsigned char *p = data;
    if (table[1] == 0)
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int k = 0; k < 8; k++)
                c = (c & 1) != 0 ? 0xEDB88320u ^ c >> 1 : c >> 1;
            table[i] = c;
        }
    crc = ~crc;
    for (size_t i = 0; i < n; i++)
        crc = table[(crc ^ p[i]) & 0xFF] ^ crc >> 8;
    return ~crc;
}

static td_ids encode(const job *j, td_str text)
{
    td_error err = TD_ERROR_INIT;
    td_ids ids = { 0 };
    td_code code = j->counting ? td_count(j->enc, text, 0, &ids.count, &err)
                               : td_encode(j->enc, text, 0, &ids, &err);
    if (code != TD_OK) {
        fprintf(stderr, "bench_encode: %s\n", err.message);
        exit(1);
    }
    return ids;
}

/* The document at a place; what is left, if that is less. */
static td_str document(const job *j, size_t at)
{
    size_t end = j->len - at > j->doc ? at + j->doc : j->len;
    while (end < j->len && ((unsigned char)j->text[end] & 0xC0) == 0x80)
        end--;
    return (td_str){ j->text + at, end - at };
}

static void take(job *j, td_ids ids)
{
    j->ids += ids.count;
    if (!j->counting)
        j->crc = crc32_of(j->crc, ids.ids, ids.count * sizeof *ids.ids);
}

/* Ids are valid until the next call: those that are looked at later are copied. */
static void keep(job *j, td_ids ids)
{
    if (ids.count > KEPT_MAX - j->kept_count) {
        fprintf(stderr, "bench_encode: too many ids\n");
        exit(1);
    }
    if (!j->counting)
        memcpy(j->kept + j->kept_count, ids.ids, ids.count * sizeof *ids.ids);
    j->kept_count += ids.count;
}

/* Documents from at on, as many as make up GROUP bytes: returns the CPU seconds of the calls. A
 * look at the clock around each short one would disturb what it measures. */
static double group(job *j, size_t *at, bool check)
{
    size_t first = *at;
    td_ids ids = { 0 };
    j->kept_count = 0;
    double start = now();
    do {
        if (check && *at != first)
            keep(j, ids);
        td_str text = document(j, *at);
        ids = encode(j, text);
        *at += text.len;
    } while (*at < j->len && *at - first + j->doc <= GROUP);
    double took = now() - start - j->clock;
    if (check) {
        take(j, (td_ids){ .ids = j->kept, .count = j->kept_count });
        take(j, ids);
    }
    return took;
}

static double pass(job *j, bool check)
{
    double sum = 0;
    for (size_t at = 0; at < j->len;)
        sum += group(j, &at, check);
    return sum;
}

/* ---- threads ---- */

enum { THREADS_MAX = 64 };

typedef struct share {
    job j;
    td_tokenizer *tok;
    size_t number, of; /* takes every document whose number is number modulo of */
    long passes;
    pthread_barrier_t *barrier;
    double best;
} share;

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *run_share(void *arg)
{
    share *s = arg;
    job *j = &s->j;
    j->enc = td_encoder_new(s->tok);
    for (long i = 0; j->enc != NULL && i <= s->passes; i++) {
        pthread_barrier_wait(s->barrier);
        double start = clock_now();
        td_str text;
        for (size_t at = 0, n = 0; at < j->len; at += text.len, n++) {
            text = document(j, at);
            if (n % s->of == s->number)
                encode(j, text);
        }
        pthread_barrier_wait(s->barrier);
        double took = clock_now() - start;
        s->best = i <= 1 || took < s->best ? took : s->best;
    }
    td_encoder_free(j->enc);
    return NULL;
}

/* The first pass only fills the caches. */
static int run_threads(const job *j, td_tokenizer *tok, size_t count, long passes)
{
    static share shares[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    pthread_barrier_t barrier;
    if (count < 1 || count > THREADS_MAX ||
        pthread_barrier_init(&barrier, NULL, (unsigned)count) != 0)
        return 2;
    for (size_t i = 0; i < count; i++) {
        shares[i] = (share){ *j, tok, i, count, passes, &barrier, 0 };
        if (pthread_create(&threads[i], NULL, run_share, &shares[i]) != 0)
            return 1;
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    double best = shares[0].best;
    for (size_t i = 1; i < count; i++)
        best = shares[i].best > best ? shares[i].best : best;
    printf("{\"threads\": %zu, \"warm_s\": %.6f, \"mb_s\": %.1f}\n", count, best,
           (double)j->len / 1e6 / best);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 6 && argc != 7) {
        fprintf(stderr,
                "usage: bench_encode TOKENIZER.JSON TEXT DOC_BYTES PASSES ids|count [THREADS]\n");
        return 2;
    }
    job j = { .doc = (size_t)strtoull(argv[3], NULL, 10), .counting = argv[5][0] == 'c',
              .clock = cost_of_now() };
    long passes = strtol(argv[4], NULL, 10);
    td_tokenizer *tok = NULL;
    td_error err = TD_ERROR_INIT;
    j.text = read_file(argv[2], &j.len);
    if (j.text == NULL || j.len == 0 || j.doc < 4) {
        fprintf(stderr, "bench_encode: nothing to read in %s\n", argv[2]);
        return 1;
    }
    long before = peak();
    double start = now();
    if (td_tokenizer_new_from_file(argv[1], &tok, &err) != TD_OK) {
        fprintf(stderr, "bench_encode: %s\n", err.message);
        return 1;
    }
    if (argc == 7)
        return run_threads(&j, tok, (size_t)strtoull(argv[6], NULL, 10), passes);
    j.enc = td_encoder_new(tok);
    double load = now() - start;
    j.kept = malloc(KEPT_MAX * sizeof *j.kept);
    if (j.enc == NULL || j.kept == NULL)
        return 1;
    start = now();
    encode(&j, (td_str){ "hello", 5 });
    double first = now() - start - j.clock;
    long loaded = peak();
    double cold = pass(&j, true);
    printf("{\"load_s\": %.6f, \"first_s\": %.6f, \"cold_s\": %.6f, \"warm_s\": [", load, first,
           cold);
    for (long i = 0; i < passes; i++)
        printf("%s%.6f", i != 0 ? ", " : "", pass(&j, false));
    printf("], \"ids\": %zu, \"crc\": %u, \"loaded_kb\": %ld, \"peak_kb\": %ld}\n", j.ids, j.crc,
           loaded - before, peak() - before);
    td_encoder_free(j.enc);
    td_tokenizer_free(tok);
    free(j.kept);
    free(j.text);
    return 0;
}
