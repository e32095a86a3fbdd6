#include "count/shared.h"

#include <string.h>

#include "base/error.h"
#include "value/json.h"

static const size_t MEMO_BYTES = (size_t)256 << 20, KEEP_BYTES_MAX = (size_t)32 << 20;

static td_code copy_text(td_arena *a, td_str *text, td_error *err)
{
    if (text->ptr == NULL)
        return TD_OK;
    char *copy = td_arena_array(a, char, text->len + 64);
    if (copy == NULL)
        return td_arena_fail(a, err);
    memcpy(copy, text->ptr, text->len);
    memset(copy + text->len, 0, 64);
    text->ptr = copy;
    return TD_OK;
}

static td_code set_defaults(td_shared *sh, td_arena *texts, td_error *err)
{
    td_counter_options *o = &sh->options;
    td_chat_env *env = &sh->env;
    td_str file = { o->template_file, o->template_file != NULL ? strlen(o->template_file) : 0 };
    TD_TRY(copy_text(texts, &o->chat_template, err));
    TD_TRY(copy_text(texts, &file, err));
    TD_TRY(copy_text(texts, &o->chat_template_kwargs, err));
    env->model = sh->model;
    env->default_template = o->chat_template;
    env->default_template_file = file.ptr != NULL ? file.ptr : "chat_template";
    env->parse_arguments = o->parse_arguments;
    env->now = (jj_now){ o->now.fixed, o->now.unix_seconds, o->now.microseconds,
                         o->now.utc_offset_seconds };
    if (o->chat_template_kwargs.ptr == NULL)
        return TD_OK;
    td_value kwargs;
    if (td_json_read(texts, o->chat_template_kwargs, &kwargs, err) != TD_OK)
        return td_while(err, "chat_template_kwargs");
    if (kwargs.tag != TD_V_DICT)
        return td_fail(err, TD_E_INPUT, "chat_template_kwargs must be a JSON object, not %s",
                       td_value_type_name(kwargs));
    env->default_kwargs = kwargs.as.dict;
    return TD_OK;
}

/* An eighth of the memory for reuse is for tools, the rest for segments. */
static bool init_reuse(td_shared *sh, size_t bytes)
{
    size_t for_tools = bytes / 8 < KEEP_BYTES_MAX ? bytes / 8 : KEEP_BYTES_MAX;
    sh->memo = td_memo_new(bytes - for_tools);
    sh->keep = td_keep_new(for_tools);
    return sh->memo != NULL && sh->keep != NULL;
}

uint64_t td_shared_reuse_bytes(const td_shared *sh)
{
    return (sh->memo != NULL ? td_memo_get_stats(sh->memo).bytes : 0) +
           (sh->keep != NULL ? td_keep_get_stats(sh->keep).bytes : 0);
}

td_code td_shared_init(td_shared *sh, td_model *model, const td_counter_options *options,
                       td_arena *texts, td_error *err)
{
    sh->options = *options;
    if (model != NULL)
        sh->model = td_model_ref(model);
    sh->env.templates = td_template_cache_new();
    bool ok = options->no_reuse ||
              init_reuse(sh, options->memo_bytes != 0 ? options->memo_bytes : MEMO_BYTES);
    if (sh->env.templates == NULL || !ok)
        return td_fail_nomem(err);
    return set_defaults(sh, texts, err);
}

void td_shared_done(td_shared *sh, td_arena *texts)
{
    td_memo_free(sh->memo);
    td_keep_free(sh->keep);
    td_template_cache_free(sh->env.templates);
    td_arena_done(texts);
    td_model_free(sh->model);
}
