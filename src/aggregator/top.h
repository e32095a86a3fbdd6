/* top.h - the command "top": watches the metrics socket of a running aggregator. */
#ifndef TD_SRC_AGGREGATOR_TOP_H
#define TD_SRC_AGGREGATOR_TOP_H

/* Runs with its command line (argv[0] is not looked at); the exit status: 0, 1 when nothing was
 * received, 2 for a wrong command line, 3 when the socket cannot be used. */
int td_top_main(int argc, char **argv);

#endif
