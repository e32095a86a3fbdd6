/* windows.h - the stretches of a run during which samples are tracked. */
#ifndef TD_SRC_METRICS_WINDOWS_H
#define TD_SRC_METRICS_WINDOWS_H

#include "metrics/wide.h"

typedef struct td_window {
    td_wide start, last_complete; /* ns */
    uint64_t completed;
} td_window;

/* A zeroed td_windows is ready to use. One thread at a time. */
typedef struct td_windows {
    td_window *list;
    uint32_t count, cap;
    bool open; /* tracking is on; the current window is the last one */
} td_windows;

/* Opens a window, unless one is open. false: out of memory, nothing was opened. */
bool td_windows_open(td_windows *w, td_wide now);
/* Closes it; samples issued in it still count for it. */
void td_windows_close(td_windows *w);
/* A sample of a window (its index) completed. */
void td_windows_complete(td_windows *w, uint32_t window, td_wide now);
/* Sum of all windows' times from their start to their last completion. */
td_wide td_windows_duration(const td_windows *w);
void td_windows_done(td_windows *w);

#endif
