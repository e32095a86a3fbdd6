/* components.h - the constructors that the .def tables name. */
#ifndef TD_SRC_TOKENIZER_LOAD_COMPONENTS_H
#define TD_SRC_TOKENIZER_LOAD_COMPONENTS_H

#include "tokenizer/load/load.h"

#define TK_COMPONENT(type, make) td_code make(const tk_at *at, const tk_norm **ret);
#include "tokenizer/norm/norm.def"
#undef TK_COMPONENT
#define TK_COMPONENT(type, make) td_code make(const tk_at *at, const tk_pretok **ret);
#include "tokenizer/pretok/pretok.def"
#undef TK_COMPONENT
#define TK_COMPONENT(type, make) td_code make(const tk_at *at, const tk_model **ret);
#include "tokenizer/model/model.def"
#undef TK_COMPONENT
#define TK_COMPONENT(type, make) td_code make(const tk_at *at, const tk_post **ret);
#include "tokenizer/post/post.def"
#undef TK_COMPONENT
#define TK_COMPONENT(type, make) td_code make(const tk_at *at, const tk_dec **ret);
#include "tokenizer/dec/dec.def"
#undef TK_COMPONENT

#endif
