/* tokdrain/direct.h - one request at a time, on the thread that asks.
 *
 * A td_counter (counter.h) has threads and a queue; a td_direct has neither: td_direct_run works on
 * the calling thread and gives the result. Any number of threads may call it at the same time; they
 * share the segments that were counted, and each call uses memory that an earlier one left.
 *
 *     td_direct *direct = NULL;
 *     if (td_direct_new(model, NULL, &direct, &err) != TD_OK) ...
 *     td_result *result = td_direct_run(direct, request, &(td_direct_call){ TD_DO_COUNT });
 *     td_result_free(result);
 *     td_direct_free(direct);
 */
#ifndef TOKDRAIN_DIRECT_H
#define TOKDRAIN_DIRECT_H

#include "tokdrain/counter.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct td_direct td_direct;

/* What one call does; zeroed: count. */
typedef struct td_direct_call {
    td_operation operation;
    bool offsets;             /* of encode */
    bool skip_special_tokens; /* of decode */
    bool owners;   /* of count and encode: which message each token came from (td_result.owned) */
    bool of_batch; /* one of several conversations: without messages it is rendered as it is */
} td_direct_call;

/* Takes a reference to model. Of options (may be NULL) the limits, the moment, the memo and the
 * defaults of requests count; queue, jobs and external workers do not. */
TD_API TD_NODISCARD td_code td_direct_new(td_model *model, const td_counter_options *options,
                                          td_direct **ret_direct, td_error *err);
/* No call may be running. */
TD_API void td_direct_free(td_direct *direct);

/* Takes the request. The result is the caller's, an error is in it; NULL: out of memory. */
TD_API TD_NODISCARD td_result *td_direct_run(td_direct *direct, td_request *request,
                                             const td_direct_call *call);

/* Memory for calls that run at the same time, and the memo: bytes held now. */
TD_API size_t td_direct_bytes(td_direct *direct);

#ifdef __cplusplus
}
#endif
#endif
