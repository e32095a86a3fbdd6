/* aggregator.h - the command "aggregate". */
#ifndef TD_SRC_AGGREGATOR_AGGREGATOR_H
#define TD_SRC_AGGREGATOR_AGGREGATOR_H

/* Runs the service with its command line (argv[0] is not looked at) and gives the exit status: 0
 * after a normal end, 1 when it could not start, 2 for a wrong command line. */
int td_aggregate_main(int argc, char **argv);

#endif
