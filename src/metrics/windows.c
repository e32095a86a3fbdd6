#include "metrics/windows.h"

#include <assert.h>

#include "base/alloc.h"

bool td_windows_open(td_windows *w, td_wide now)
{
    if (w->open)
        return true;
    if (w->count == w->cap) {
        uint32_t cap = w->cap != 0 ? w->cap * 2 : 8;
        td_window *list = cap > w->cap ? td_realloc(w->list, cap * sizeof *list) : NULL;
        if (list == NULL)
            return false;
        w->list = list;
        w->cap = cap;
    }
    w->list[w->count++] = (td_window){ .start = now, .last_complete = now };
    w->open = true;
    return true;
}

void td_windows_close(td_windows *w)
{
    w->open = false;
}

void td_windows_complete(td_windows *w, uint32_t window, td_wide now)
{
    assert(window < w->count);
    td_window *at = &w->list[window];
    at->completed++;
    if (now > at->last_complete)
        at->last_complete = now;
}

td_wide td_windows_duration(const td_windows *w)
{
    td_wide sum = 0;
    for (uint32_t i = 0; i < w->count; i++)
        sum += w->list[i].last_complete - w->list[i].start;
    return sum;
}

void td_windows_done(td_windows *w)
{
    td_free(w->list);
    *w = (td_windows){ 0 };
}
