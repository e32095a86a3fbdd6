/* frame.h - one message of the event socket: a topic of 40 bytes, then a record or a batch. */
#ifndef TD_SRC_AGGREGATOR_FRAME_H
#define TD_SRC_AGGREGATOR_FRAME_H

#include "tokdrain/base.h"
#include "value/msgpack.h"

enum { TD_TOPIC_BYTES = 40 };

typedef struct td_records {
    td_mp_cursor cursor;
    uint32_t left; /* elements not yet given */
    td_str single; /* ptr not NULL: the one record of a frame that is no batch */
    size_t large_min; /* records of so many bytes make up most of the frame */
} td_records;

/* Starts reading a frame. Views borrow from it. A frame that is too short to mean anything has no
 * records; TD_E_INPUT when a batch cannot be decoded: then none of it may be used. */
TD_NODISCARD td_code td_frame_read(td_str frame, td_records *ret, td_error *err);

/* The next record that is not empty, in order; false at the end. */
bool td_frame_next(td_records *r, td_str *ret_record);

#endif
