/* counter.h - what tests see of a td_counter beyond the public header. */
#ifndef TD_SRC_COUNT_COUNTER_H
#define TD_SRC_COUNT_COUNTER_H

#include "tokdrain/counter.h"

/* Calls probe when a worker begins and ends to render an item. Before the first submit only. */
void td_counter_set_probe(td_counter *c, void (*probe)(void *user, uint64_t index, bool begins),
                          void *user);

#endif
