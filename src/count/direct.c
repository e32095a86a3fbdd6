/* direct.c - counting on the caller's thread.
 *
 * Scratch memory is kept from call to call: a call takes the one that was used last (its caches are
 * warm) or makes one, so there are as many as calls ever ran at once. */
#include "tokdrain/direct.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "count/shared.h"

typedef struct spare {
    td_worker_scratch scratch;
    struct spare *next;
} spare;

struct td_direct {
    td_shared shared;
    td_arena texts;
    atomic_bool interrupt; /* always false: nothing stops a call but its limits */
    td_mutex lock;
    spare *spares; /* under the lock, the last used first */
};

td_code td_direct_new(td_model *model, const td_counter_options *options, td_direct **ret_direct,
                      td_error *err)
{
    static const td_counter_options no_options;
    td_error local = TD_ERROR_INIT;
    td_direct *d = td_calloc(1, sizeof *d);
    if (d != NULL && !td_mutex_init(&d->lock)) {
        td_free(d);
        d = NULL;
    }
    td_code code;
    if (d == NULL) {
        code = td_fail_nomem(&local);
    } else if (model == NULL) {
        code = td_fail(&local, TD_E_INPUT, "a model is needed");
    } else {
        atomic_init(&d->interrupt, false);
        d->shared.interrupt = &d->interrupt;
        td_counter_options own = options != NULL ? *options : no_options;
        own.worker_command = NULL;
        code = td_shared_init(&d->shared, model, &own, &d->texts, &local);
    }
    if (code == TD_OK) {
        *ret_direct = d;
        return TD_OK;
    }
    td_direct_free(d);
    if (err != NULL)
        td_error_move(err, &local);
    td_error_clear(&local);
    return code;
}

static void free_spare(spare *s)
{
    td_scratch_done(&s->scratch);
    td_free(s);
}

void td_direct_free(td_direct *d)
{
    if (d == NULL)
        return;
    while (d->spares != NULL) {
        spare *s = d->spares;
        d->spares = s->next;
        free_spare(s);
    }
    td_shared_done(&d->shared, &d->texts);
    td_mutex_done(&d->lock);
    td_free(d);
}

static spare *take_spare(td_direct *d)
{
    td_mutex_lock(&d->lock);
    spare *s = d->spares;
    if (s != NULL)
        d->spares = s->next;
    td_mutex_unlock(&d->lock);
    if (s != NULL)
        return s;
    s = td_calloc(1, sizeof *s);
    if (s != NULL && td_scratch_init(&s->scratch, d->shared.model, &d->shared.options.limits))
        return s;
    td_free(s);
    return NULL;
}

td_result *td_direct_run(td_direct *d, td_request *request, const td_direct_call *call)
{
    spare *s = take_spare(d);
    if (s == NULL) {
        td_request_free(request);
        return NULL;
    }
    td_shared shared = d->shared;
    shared.options.operation = call->operation;
    shared.options.offsets = call->offsets;
    shared.options.skip_special_tokens = call->skip_special_tokens;
    shared.owners = call->owners;
    shared.env.empty_allowed = call->of_batch;
    (void)td_process(&shared, &s->scratch, request); /* never interrupted */
    td_result_box *box = request->box;
    request->box = NULL;
    td_request_free(request);

    td_mutex_lock(&d->lock);
    s->next = d->spares;
    d->spares = s;
    td_mutex_unlock(&d->lock);
    return &box->pub;
}

size_t td_direct_bytes(td_direct *d)
{
    size_t bytes = sizeof *d + d->texts.total;
    td_mutex_lock(&d->lock);
    for (const spare *s = d->spares; s != NULL; s = s->next)
        bytes += sizeof *s + td_scratch_bytes(&s->scratch);
    td_mutex_unlock(&d->lock);
    return bytes + (size_t)td_shared_reuse_bytes(&d->shared);
}
