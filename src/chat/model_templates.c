/* model_templates.c - where a model's chat templates come from, and which one a request gets. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "chat/files.h"
#include "chat/model.h"

static td_model_template *find(const td_model *m, td_str name)
{
    for (size_t i = 0; i < m->template_count; i++) {
        if (td_str_eq(m->templates[i].name, name))
            return &m->templates[i];
    }
    return NULL;
}

td_code td_model_add_template(td_model *m, td_str name, const char *file, td_str source,
                              td_error *err)
{
    td_model_template *slot = find(m, name);
    if (slot == NULL) {
        td_model_template *more =
            td_arena_array(&m->arena, td_model_template, m->template_count + 1);
        if (more == NULL)
            return td_arena_fail(&m->arena, err);
        if (m->template_count != 0)
            memcpy(more, m->templates, m->template_count * sizeof *more);
        m->templates = more;
        slot = &more[m->template_count];
        *slot = (td_model_template){ .name = td_arena_copy(&m->arena, name) };
        if (slot->name.ptr == NULL)
            return td_arena_fail(&m->arena, err);
        m->template_count++;
    }
    td_template_free((td_template *)slot->compiled);
    slot->compiled = NULL;
    slot->file = td_arena_text(&m->arena, td_str_from(file));
    const char *text = td_arena_text(&m->arena, source);
    if (slot->file == NULL || text == NULL)
        return td_arena_fail(&m->arena, err);
    slot->source = (td_str){ text, source.len };
    /* a template that does not compile fails its use, not the loading */
    td_error ignored = TD_ERROR_INIT;
    td_template *compiled = NULL;
    td_code code = td_template_new(slot->source, slot->file, &compiled, &ignored);
    td_error_clear(&ignored);
    if (code == TD_E_INTERNAL)
        return td_fail_nomem(err);
    slot->compiled = compiled;
    return TD_OK;
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The names of *.jinja files in dir, sorted, without the ending. */
static td_code list_jinja(td_arena *a, const char *dir, const char ***ret, size_t *ret_count,
                          td_error *err)
{
    *ret_count = 0;
    DIR *d = opendir(dir);
    if (d == NULL) {
        if (errno == ENOENT || errno == ENOTDIR)
            return TD_OK;
        return td_fail(err, TD_E_INPUT, "cannot list %s", dir);
    }
    size_t cap = 16, n = 0;
    const char **names = td_arena_array(a, const char *, cap);
    const struct dirent *e;
    while (names != NULL && (e = readdir(d)) != NULL) {
        td_str name = td_str_from(e->d_name);
        if (!td_str_ends(name, TD_STR(".jinja")))
            continue;
        if (n == cap) {
            const char **more = td_arena_array(a, const char *, cap * 2);
            if (more != NULL)
                memcpy(more, names, n * sizeof *names);
            names = more;
            cap *= 2;
        }
        if (names != NULL)
            names[n++] = td_arena_text(a, (td_str){ name.ptr, name.len - 6 });
        if (names == NULL || names[n - 1] == NULL)
            break;
    }
    closedir(d);
    if (names == NULL || (n != 0 && names[n - 1] == NULL))
        return td_arena_fail(a, err);
    qsort(names, n, sizeof *names, by_text);
    *ret = names;
    *ret_count = n;
    return TD_OK;
}

/* The name as Python has it: each byte that is no UTF-8 is a lone surrogate. */
static td_code decode_name(td_arena *a, td_str name, td_str *ret, td_error *err)
{
    char *text = td_arena_array(a, char, 3 * name.len + 1);
    if (text == NULL)
        return td_arena_fail(a, err);
    size_t len = 0;
    for (;;) {
        size_t good = td_utf8_check_strict(name);
        memcpy(text + len, name.ptr, good);
        len += good;
        if (good == name.len)
            break;
        len += td_utf8_put(text + len, 0xDC00U + (unsigned char)name.ptr[good]);
        name = td_str_from_offset(name, good + 1);
    }
    *ret = (td_str){ text, len };
    return TD_OK;
}

static td_code templates_from_files(td_model *m, const char *dir, bool *ret_found, td_error *err)
{
    td_str source;
    TD_TRY(td_file_read_text(&m->arena, dir, "chat_template.jinja", &source, err));
    if (source.ptr != NULL)
        TD_TRY(td_model_add_template(m, TD_STR("default"), "chat_template.jinja", source, err));
    const char *more_dir = td_path_join(&m->arena, dir, "additional_chat_templates");
    if (more_dir == NULL)
        return td_arena_fail(&m->arena, err);
    const char **names = NULL;
    size_t count = 0;
    TD_TRY(list_jinja(&m->arena, more_dir, &names, &count, err));
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(names[i]);
        char *file = td_arena_array(&m->arena, char, len + sizeof ".jinja");
        if (file == NULL)
            return td_arena_fail(&m->arena, err);
        memcpy(file, names[i], len);
        memcpy(file + len, ".jinja", sizeof ".jinja");
        TD_TRY(td_file_read_text(&m->arena, more_dir, file, &source, err));
        if (source.ptr == NULL)
            continue;
        td_str name;
        TD_TRY(decode_name(&m->arena, td_str_from(names[i]), &name, err));
        TD_TRY(td_model_add_template(m, name, file, source, err));
    }
    *ret_found = m->template_count != 0;
    return TD_OK;
}

static td_code bad_template(td_error *err)
{
    return td_fail(err, TD_E_INPUT,
                   "tokenizer_config.json: chat_template must be a text, a list of "
                   "{name, template}, or an object");
}

static td_code templates_from_config(td_model *m, td_value v, td_error *err)
{
    static const char file[] = "tokenizer_config.json";
    if (td_is_str(v))
        return td_model_add_template(m, TD_STR("default"), file, td_as_str(v), err);
    m->templates_are_map = true;
    if (v.tag == TD_V_DICT) {
        for (uint32_t i = 0; i < v.as.dict->count; i++) {
            td_entry e = v.as.dict->entries[i];
            if (!td_is_str(e.key) || !td_is_str(e.val))
                return bad_template(err);
            TD_TRY(td_model_add_template(m, td_as_str(e.key), file, td_as_str(e.val), err));
        }
        return TD_OK;
    }
    if (v.tag != TD_V_LIST)
        return bad_template(err);
    for (uint32_t i = 0; i < v.len; i++) {
        const td_dict *d = v.as.items[i].tag == TD_V_DICT ? v.as.items[i].as.dict : NULL;
        const td_value *name = d != NULL ? td_dict_find(d, TD_STR("name")) : NULL;
        const td_value *text = d != NULL ? td_dict_find(d, TD_STR("template")) : NULL;
        if (name == NULL || text == NULL || !td_is_str(*name) || !td_is_str(*text))
            return bad_template(err);
        TD_TRY(td_model_add_template(m, td_as_str(*name), file, td_as_str(*text), err));
    }
    return TD_OK;
}

td_code td_model_find_templates(td_model *m, const char *dir, const td_dict *tok_config,
                                td_error *err)
{
    bool found = false;
    TD_TRY(templates_from_files(m, dir, &found, err));
    if (found) {
        m->templates_are_map =
            m->template_count > 1 || !td_str_eq(m->templates[0].name, TD_STR("default"));
        return TD_OK;
    }
    const td_value *v =
        tok_config != NULL ? td_dict_find(tok_config, TD_STR("chat_template")) : NULL;
    return v == NULL || td_is_none(*v) ? TD_OK : templates_from_config(m, *v, err);
}

td_code td_model_pick_template(const td_model *m, td_str asked, bool has_tools, size_t *ret_index,
                               td_error *err)
{
    const td_model_template *t = NULL;
    if (asked.ptr != NULL) {
        t = m->templates_are_map ? find(m, asked) : NULL;
        *ret_index = t != NULL ? (size_t)(t - m->templates) : SIZE_MAX;
        return TD_OK;
    }
    if (m->templates_are_map && has_tools)
        t = find(m, TD_STR("tool_use"));
    if (t == NULL)
        t = find(m, TD_STR("default"));
    if (t == NULL && m->template_count != 0)
        return td_fail(err, TD_E_TEMPLATE,
                       "the model has several chat templates and none of them is the default");
    if (t == NULL)
        return td_fail(err, TD_E_TEMPLATE, "the model has no chat template");
    *ret_index = (size_t)(t - m->templates);
    return TD_OK;
}
