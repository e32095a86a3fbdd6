/* options.h - the command line of the service.
 *
 * Spelled and understood as Python's argparse would: "--flag value" and "--flag=value", unique
 * beginnings of a flag, the last one wins. Flags that are extensions of ours have no shortened
 * spelling, so that they take none away. */
#ifndef TD_SRC_AGGREGATOR_OPTIONS_H
#define TD_SRC_AGGREGATOR_OPTIONS_H

#include "tokdrain/base.h"

typedef struct td_service_options {
    const char *socket_dir, *socket_name, *metrics_socket, *output_dir;
    double publish_interval, drain_timeout; /* seconds */
    int64_t hdr_digits, buckets, workers, readiness_id;
    const char *tokenizer;      /* NULL: none */
    const char *readiness_path; /* NULL: none */
    bool streaming, early_stopping;
    /* extensions */
    unsigned series;   /* 1 << td_series_id of the token series to count */
    size_t memo_bytes; /* 0: the default */
    int64_t prometheus_port; /* -1: none; 0: any that is free */
    const char *worker_command; /* NULL: none */
    int64_t worker_count;       /* processes; 0: as many as workers */
    size_t worker_memory;       /* of all of them; 0: no bound */
} td_service_options;

typedef enum td_parsed {
    TD_PARSED_OK,
    TD_PARSED_HELP,  /* help was printed on standard output */
    TD_PARSED_WRONG, /* what is wrong was printed on standard error */
} td_parsed;

/* argv[0] is not looked at. Values borrow from argv. */
td_parsed td_service_parse(int argc, char **argv, td_service_options *ret);

#endif
