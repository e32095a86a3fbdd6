/* tokdrain/tokdrain.h - the whole API: exact token counts of chat prompts, fast. */
#ifndef TOKDRAIN_TOKDRAIN_H
#define TOKDRAIN_TOKDRAIN_H

#include "tokdrain/base.h"
#include "tokdrain/build.h"
#include "tokdrain/counter.h"
#include "tokdrain/direct.h"
#include "tokdrain/model.h"
#include "tokdrain/request.h"
#include "tokdrain/template.h"
#include "tokdrain/tokenizer.h"

#endif
