/* model.c - a model from a directory, a file, a cached name or the program itself. */
#include "chat/model.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"
#include "chat/class_build.h"
#include "chat/class_post.h"
#include "chat/config_check.h"
#include "chat/default_model.h"
#include "chat/files.h"
#include "chat/mistral_fix.h"
#include "chat/model_decode.h"
#include "chat/tokenizer_class.h"
#include "chat/vocab_convert.h"
#include "chat/vocab_files.h"
#include "tokenizer/formats/formats.h"
#include "tokenizer/segments.h"
#include "value/json.h"

static const td_model_options no_options;

static const char *keep_text(td_model *m, const char *text)
{
    size_t len = strlen(text);
    char *copy = td_arena_array(&m->arena, char, len + 1);
    if (copy != NULL)
        memcpy(copy, text, len + 1);
    return copy;
}

td_code td_model_keep_tokens(td_model *m, const td_tokens *t, td_error *err)
{
    m->added.items = td_arena_array(&m->arena, td_added, t->added.count + 1);
    m->named.items = td_arena_array(&m->arena, td_named, t->named.count + 1);
    if (m->added.items == NULL || m->named.items == NULL)
        return td_arena_fail(&m->arena, err);
    for (size_t i = 0; i < t->added.count; i++) {
        m->added.items[i] = t->added.items[i];
        m->added.items[i].text = td_arena_copy(&m->arena, t->added.items[i].text);
        if (m->added.items[i].text.ptr == NULL)
            return td_arena_fail(&m->arena, err);
        m->added.count++;
    }
    for (size_t i = 0; i < t->named.count; i++) {
        td_named n = t->named.items[i];
        n.name = td_arena_copy(&m->arena, n.name);
        n.token.text = td_arena_copy(&m->arena, n.token.text);
        if (n.name.ptr == NULL || n.token.text.ptr == NULL)
            return td_arena_fail(&m->arena, err);
        m->named.items[m->named.count++] = n;
    }
    return TD_OK;
}

/* The sections with the bulk where it lies. */
static td_code set_parts(td_model *m, const td_dict *root, const td_skimmed *bulk, td_error *err)
{
    static const td_skimmed none;
    td_buf text = { 0 };
    tk_bulk parts = { bulk->vocab, bulk->merges, bulk->nearest };
    td_code code = td_skim_write(&text, root, &none, err);
    if (code == TD_OK)
        code = tk_tokenizer_new_from_parts(td_buf_view(&text), &parts, &m->tokenizer, err);
    td_buf_done(&text);
    return code;
}

td_code td_model_set_sections(td_model *m, const td_dict *root, const td_skimmed *bulk,
                              td_error *err)
{
    td_error in_parts = TD_ERROR_INIT;
    if (bulk->nearest) /* the whole text does not say so */
        return set_parts(m, root, bulk, err);
    td_code done = set_parts(m, root, bulk, &in_parts);
    td_error_clear(&in_parts);
    if (done == TD_OK) /* else what is wrong shows in the whole text */
        return TD_OK;
    td_buf text = { 0 };
    td_code code = td_skim_write(&text, root, bulk, err);
    if (code == TD_OK)
        code = td_tokenizer_new_from_json(td_buf_view(&text), &m->tokenizer, err);
    td_buf_done(&text);
    return code;
}

static td_code find_rule(td_model *m, const td_class_choice *choice, const td_class_rule **ret,
                         td_error *err)
{
    *ret = choice->generic ? NULL : td_class_rule_find(choice->name);
    if (choice->generic)
        return TD_OK;
    if (*ret == NULL || (*ret)->refused != NULL)
        return td_fail(err, TD_E_TOKENIZER,
                       "%.*s (%s) is not available: %s; --compat tokenizer.json loads the file as "
                       "it stands, an external worker (--worker-command) serves any class",
                       (int)choice->name.len, choice->name.ptr, choice->why,
                       *ret != NULL ? (*ret)->refused : "its rules are not known");
    m->rules |= (*ret)->rebuilds ? TD_RULE_PIPELINE : 0;
    return TD_OK;
}

/* Names the tokenizer file in an error that has a place but no file yet. */
static td_code in_file(td_code code, const char *name, td_error *err)
{
    return code != TD_OK && err->line != 0 ? td_error_in_file(err, name) : code;
}

static td_code load_as_it_stands(td_model *m, td_arena *a, td_str json, const td_token_files *files,
                                 td_error *err)
{
    m->class_why = "tokenizer.json as it stands";
    m->class_used = TD_STR("Tokenizer");
    TD_TRY(td_tokenizer_new_from_json(json, &m->tokenizer, err));
    td_tokens tokens = { 0 };
    if (files->tok_config != NULL) { /* templates see the named tokens in any case */
        TD_TRY(td_tokens_merge(a, files, &tokens, err));
        tokens.added = (td_token_list){ 0 };
    }
    TD_TRY(td_tokens_of_file(a, files->file, &tokens.added, err));
    return td_model_keep_tokens(m, &tokens, err);
}

static bool is_set(const td_dict *d, const char *key)
{
    const td_value *v = td_dict_find(d, td_str_from(key));
    return v != NULL && !td_is_none(*v);
}

/* What loading a directory works with. */
typedef struct loader {
    td_model *m;
    td_arena *a;
    const char *dir;        /* NULL: the built-in model */
    const td_dict *config;  /* config.json; NULL: none */
    td_str json;            /* the tokenizer file; ptr NULL: none */
    td_converted converted; /* name NULL: json is a file */
    td_skimmed skimmed;
    td_token_files files;
    td_tokens tokens;
    td_buf scratch;
    td_str kind; /* type of the finished tokenizer's model */
    td_error *err;
} loader;

static td_code skim(td_arena *a, td_str json, const char *file, td_skimmed *ret,
                    td_token_files *files, td_error *err)
{
    if (td_skim(a, json, ret, err) != TD_OK) {
        td_while(err, "%s", file);
        return td_error_in_file(err, file);
    }
    files->file = ret->root;
    return TD_OK;
}

/* Without a tokenizer.json of their own, the flags of the configuration count. */
static bool has_flags(const loader *l)
{
    const td_dict *d = l->files.tok_config;
    return l->converted.name != NULL && d != NULL &&
           (td_dict_find(d, TD_STR("add_bos_token")) != NULL ||
            td_dict_find(d, TD_STR("add_eos_token")) != NULL);
}

/* The sections of the finished tokenizer.json, but for what is added to all of them. */
static td_code make_sections(loader *l, td_dict **ret, td_skimmed *ret_bulk)
{
    bool fix = false;
    *ret_bulk = l->skimmed;
    if (l->files.rule != NULL) {
        td_class_input in = { .rule = l->files.rule,
                              .tok_config = l->files.tok_config,
                              .file = &l->skimmed,
                              .charsmap = l->converted.charsmap,
                              .has_json = l->converted.name == NULL && l->json.ptr != NULL,
                              .tokens = &l->tokens };
        bool own_post = false;
        TD_TRY(td_class_build(l->a, &l->scratch, &in, ret, ret_bulk, &own_post, l->err));
        l->m->rules |= own_post ? TD_RULE_POST : 0;
    } else if ((*ret = td_dict_copy(l->a, l->files.file, 3)) == NULL) {
        return td_arena_fail(l->a, l->err);
    } else if (has_flags(l)) {
        td_post_input in = { .tok_config = l->files.tok_config,
                             .vocab = ret_bulk->vocab,
                             .tokens = &l->tokens };
        const char *words = td_post_words_of_flags(l->files.tok_config, false);
        td_value post;
        TD_TRY(td_post_build(l->a, &in, words, &post, l->err));
        if (!td_dict_set(l->a, *ret, td_key(TD_STR("post_processor")), post))
            return td_arena_fail(l->a, l->err);
        l->m->rules |= TD_RULE_POST;
    }
    TD_TRY(td_mistral_fix_wanted(l->a, l->config, l->files.tok_config, ret_bulk->vocab,
                                 &l->tokens.added, &fix, l->err));
    l->m->rules |= fix ? TD_RULE_MISTRAL_REGEX : 0;
    return fix ? td_mistral_fix(l->a, *ret, l->err) : TD_OK;
}

static td_str model_type(const td_dict *root)
{
    const td_value *model = td_dict_find(root, TD_STR("model"));
    const td_value *type = model != NULL && model->tag == TD_V_DICT
                               ? td_dict_find(model->as.dict, TD_STR("type"))
                               : NULL;
    return type != NULL && td_is_str(*type) ? td_as_str(*type) : TD_STR("BPE");
}

/* An error in a text that was written anew stands in the file, too: takes its place from there. */
static td_code place_in_file(loader *l)
{
    td_tokenizer *tok = NULL;
    td_error there = TD_ERROR_INIT;
    td_code code = l->err->code;
    if (td_tokenizer_new_from_json(l->json, &tok, &there) == code) {
        td_error_clear(l->err);
        td_error_move(l->err, &there);
    } else {
        l->err->line = l->err->column = 0;
        l->err->offset = TD_NO_OFFSET;
    }
    td_error_clear(&there);
    td_tokenizer_free(tok);
    return code;
}

static td_code make_tokenizer(loader *l)
{
    td_dict *root;
    td_skimmed bulk;
    TD_TRY(make_sections(l, &root, &bulk));
    l->kind = model_type(root);
    td_value added;
    TD_TRY(td_tokens_to_value(l->a, &l->tokens.added, &added, l->err));
    if (!td_dict_set(l->a, root, td_key(TD_STR("truncation")), td_none()) || /* never applied */
        !td_dict_set(l->a, root, td_key(TD_STR("padding")), td_none()) ||
        !td_dict_set(l->a, root, td_key(TD_STR("added_tokens")), added))
        return td_arena_fail(l->a, l->err);
    td_code code = td_model_set_sections(l->m, root, &bulk, l->err);
    return code == TD_E_INPUT && l->json.ptr != NULL ? place_in_file(l) : code;
}

/* A vocabulary of another library becomes the tokenizer.json that is not there. */
static td_code convert(loader *l)
{
    TD_TRY(td_vocab_convert(l->a, l->dir, &l->files, &l->converted, l->err));
    l->json = l->converted.json;
    if (l->json.ptr == NULL)
        return TD_OK;
    l->m->rules |= TD_RULE_VOCAB_FILES;
    TD_TRY(skim(l->a, l->json, l->converted.name, &l->skimmed, &l->files, l->err));
    l->skimmed.nearest = l->converted.nearest;
    if (l->converted.model_only) { /* there is but a vocabulary */
        l->skimmed.root = NULL;
        l->files.file = NULL;
        l->json = (td_str){ NULL, 0 };
    }
    return TD_OK;
}

static td_code load_by_class(loader *l, const td_class_choice *choice)
{
    td_model *m = l->m;
    m->class_why = choice->why;
    m->class_used = td_arena_copy(&m->arena, choice->name);
    m->class_asked = td_arena_copy(&m->arena, choice->asked);
    if (m->class_used.ptr == NULL || m->class_asked.ptr == NULL)
        return td_arena_fail(&m->arena, l->err);
    TD_TRY(find_rule(m, choice, &l->files.rule, l->err));
    if (l->json.ptr == NULL)
        TD_TRY(convert(l));
    if (l->json.ptr == NULL && l->skimmed.vocab.ptr == NULL) {
        TD_TRY(td_vocab_files_read(l->a, l->dir, l->files.rule, &l->skimmed, l->err));
        m->rules |= TD_RULE_VOCAB_FILES;
    }
    TD_TRY(td_tokens_merge(l->a, &l->files, &l->tokens, l->err));
    m->rules |= l->tokens.changed ? TD_RULE_TOKENS : 0;
    TD_TRY(td_model_keep_tokens(m, &l->tokens, l->err));
    bool cuts = l->json.ptr != NULL &&
                (is_set(l->files.file, "truncation") || is_set(l->files.file, "padding"));
    m->rules |= cuts ? TD_RULE_UNCUT : 0;
    bool fix = l->files.tok_config != NULL && is_set(l->files.tok_config, "fix_mistral_regex");
    if (l->files.file != NULL)
        l->kind = model_type(l->files.file);
    bool as_it_is = !l->tokens.changed && !cuts && !fix && !has_flags(l) && !l->skimmed.nearest;
    if (l->files.rule == NULL && as_it_is)
        return td_tokenizer_new_from_json(l->json, &m->tokenizer, l->err);
    return make_tokenizer(l);
}

/* Everything but the templates, from what the files hold. plain is the text of the file that is
 * named tokenizer.json, whichever is used. */
static td_code load_tokenizer(loader *l, const char *json_name, td_str plain)
{
    td_model *m = l->m;
    const td_dict *tok_config = l->files.tok_config;
    if (l->json.ptr != NULL)
        TD_TRY(skim(l->a, l->json, json_name, &l->skimmed, &l->files, l->err));
    if (m->compat == TD_COMPAT_TOKENIZER_JSON)
        return in_file(load_as_it_stands(m, l->a, l->json, &l->files, l->err), json_name, l->err);
    TD_TRY(td_config_check(tok_config, l->err));
    const td_value *split =
        tok_config != NULL ? td_dict_find(tok_config, TD_STR("split_special_tokens")) : NULL;
    if (split != NULL && split->tag == TD_V_BOOL && split->as.boolean) {
        m->encode_flags |= TD_ENCODE_PLAIN_TEXT;
        m->rules |= TD_RULE_SPLIT_SPECIAL;
    }
    td_class_choice choice;
    TD_TRY(td_class_choose(td_str_from(m->name), l->config, tok_config, plain, &choice, l->err));
    td_code code = load_by_class(l, &choice);
    td_buf_done(&l->scratch);
    if (l->json.ptr != NULL)
        in_file(code, l->converted.name != NULL ? l->converted.name : json_name, l->err);
    if (code == TD_OK) {
        td_model_decode_setup(m, tok_config, l->kind);
        td_length_setup(&m->length, tok_config, m->class_used, m->tokenizer, &m->named);
    }
    if (code == TD_OK && l->files.rule != NULL && l->files.rule->words_only)
        td_tokenizer_refuse_texts(m->tokenizer, "the tokenizer's class takes lists of words, "
                                                "not text");
    return code;
}

/* The tokenizer file of a directory, and the one that is named tokenizer.json, which is the first
 * of files. */
static td_code map_tokenizer_files(loader *l, const char **ret_name, td_mapped_file files[2])
{
    static const char plain[] = "tokenizer.json";
    TD_TRY(td_file_map(l->a, l->dir, plain, true, &files[0], l->err));
    *ret_name = plain;
    l->json = files[0].text;
    if (l->m->compat != TD_COMPAT_TOKENIZER_JSON) {
        TD_TRY(td_tokenizer_file_name(l->a, l->files.tok_config, ret_name, l->err));
        if (strcmp(*ret_name, plain) != 0) {
            TD_TRY(td_file_map(l->a, l->dir, *ret_name, true, &files[1], l->err));
            l->json = files[1].text;
            l->m->rules |= TD_RULE_VERSIONED;
        }
    } else if (l->json.ptr == NULL) {
        return td_fail(l->err, TD_E_INPUT, "%s holds no tokenizer.json", l->dir);
    }
    return TD_OK;
}

static td_code load_directory(td_model *m, td_arena *a, const char *dir, td_error *err)
{
    m->kind = "directory";
    loader l = { .m = m, .a = a, .dir = dir, .err = err };
    TD_TRY(td_file_read_object(a, dir, "tokenizer_config.json", &l.files.tok_config, err));
    TD_TRY(td_model_find_templates(m, dir, l.files.tok_config, err));
    if (m->templates_only)
        return TD_OK;
    TD_TRY(td_file_read_object(a, dir, "config.json", &l.config, err));
    TD_TRY(td_file_read_object(a, dir, "special_tokens_map.json", &l.files.special_map, err));
    TD_TRY(td_file_read_object(a, dir, "added_tokens.json", &l.files.added_json, err));
    const char *name;
    td_mapped_file files[2] = { 0 };
    td_code code = map_tokenizer_files(&l, &name, files);
    if (code == TD_OK)
        code = load_tokenizer(&l, name, files[0].text);
    td_file_unmap(&files[0]);
    td_file_unmap(&files[1]);
    return code;
}

static td_code load_built_in(td_model *m, td_arena *a, td_error *err)
{
    m->kind = "built-in";
    td_str json = td_default_tokenizer_json();
    loader l = { .m = m, .a = a, .json = json, .err = err };
    TD_TRY(td_model_add_template(m, TD_STR("default"), "chat_template.jinja",
                                 td_default_chat_template(), err));
    if (m->templates_only)
        return TD_OK;
    td_value config;
    TD_TRY(td_json_read(a, td_default_tokenizer_config(), &config, err));
    l.files.tok_config = config.as.dict;
    return load_tokenizer(&l, "tokenizer.json", json);
}

/* A file of another format, as its own library reads it. */
static td_code load_vocabulary(td_model *m, td_str bytes, const td_model_options *options,
                               td_error *err)
{
    TD_TRY(td_tokenizer_new_from_vocabulary(bytes, options->encoding, &m->tokenizer, err));
    m->class_why = "a vocabulary file by itself";
    m->class_used = td_str_from(m->tokenizer->format);
    const tk_added *added = &m->tokenizer->added;
    if (added->raw == NULL && added->normalized == NULL)
        return TD_OK; /* none is found in texts */
    m->added.items = td_arena_array(&m->arena, td_added, added->count);
    if (m->added.items == NULL)
        return td_arena_fail(&m->arena, err);
    for (uint32_t i = 0; i < added->count; i++)
        m->added.items[m->added.count++] = (td_added){ .text = added->tokens[i].content,
                                                       .id = added->tokens[i].id,
                                                       .special = added->tokens[i].special };
    return TD_OK;
}

static td_code load_text(td_model *m, td_arena *a, td_str json, const char *path,
                         const td_model_options *options, td_error *err)
{
    if (tk_format_of(json) != TK_FORMAT_JSON || options->encoding != NULL) {
        if (load_vocabulary(m, json, options, err) != TD_OK)
            return td_error_in_file(err, path);
        return TD_OK;
    }
    td_token_files files = { 0 };
    td_skimmed skimmed;
    TD_TRY(skim(a, json, path, &skimmed, &files, err));
    return in_file(load_as_it_stands(m, a, json, &files, err), path, err);
}

static td_code load_file(td_model *m, td_arena *a, const char *path,
                         const td_model_options *options, td_error *err)
{
    m->kind = "file";
    td_mapped_file file;
    td_code code = td_file_map(a, path, "", false, &file, err);
    if (code == TD_OK)
        code = load_text(m, a, file.text, path, options, err);
    td_file_unmap(&file);
    return code;
}

static td_code load(td_model *m, td_arena *a, const char *name, const td_model_options *options,
                    td_error *err)
{
    m->compat = options->compat;
    m->templates_only = options->templates_only;
    m->name = keep_text(m, name != NULL ? name : "built-in");
    if (m->name == NULL)
        return td_arena_fail(&m->arena, err);
    bool is_file = name != NULL && !td_path_is_dir(name) && td_path_is_file(name);
    if (options->encoding != NULL && !is_file)
        return td_fail(err, TD_E_TOKENIZER,
                       "an encoding (\"%.60s\") can be named for files of tiktoken ranks only",
                       options->encoding);
    if (name == NULL)
        return load_built_in(m, a, err);
    if (td_path_is_dir(name))
        return load_directory(m, a, name, err);
    if (is_file)
        return load_file(m, a, name, options, err);
    const char *dir = td_hub_find(a, name, options, err);
    return dir != NULL ? load_directory(m, a, dir, err) : err->code;
}

/* What a model is made of, and from. */
typedef struct source {
    const char *name;
    const td_model_options *options;
    const td_model_parts *parts; /* NULL: the name tells */
} source;

static td_code make_model(const source *from, td_model **ret_model, td_error *err)
{
    td_error local = TD_ERROR_INIT;
    uint64_t start = td_now_ns();
    td_model *m = td_calloc(1, sizeof *m);
    td_arena work = { 0 };
    td_code code = TD_OK;
    if (m == NULL) {
        code = td_fail_nomem(&local);
    } else {
        atomic_init(&m->owners, 1);
        code = from->parts != NULL ? td_model_take_parts(m, &work, from->parts, &local)
                                   : load(m, &work, from->name, from->options, &local);
    }
    td_arena_done(&work);
    if (code == TD_OK) {
        m->load_ns = td_now_ns() - start;
        *ret_model = m;
        return TD_OK;
    }
    td_model_free(m);
    if (err != NULL)
        td_error_move(err, &local);
    td_error_clear(&local);
    return code;
}

td_code td_model_new(const char *name, const td_model_options *options, td_model **ret_model,
                     td_error *err)
{
    source from = { .name = name, .options = options != NULL ? options : &no_options };
    return make_model(&from, ret_model, err);
}

td_code td_model_new_from_parts(const td_model_parts *parts, td_model **ret_model, td_error *err)
{
    source from = { .parts = parts };
    return make_model(&from, ret_model, err);
}

td_model *td_model_ref(td_model *m)
{
    atomic_fetch_add_explicit(&m->owners, 1, memory_order_relaxed);
    return m;
}

void td_model_free(td_model *m)
{
    if (m == NULL || atomic_fetch_sub_explicit(&m->owners, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < m->template_count; i++)
        td_template_free((td_template *)m->templates[i].compiled);
    td_tokenizer_free(m->tokenizer);
    td_arena_done(&m->arena);
    td_free(m);
}

td_tokenizer *td_model_tokenizer(const td_model *m)
{
    return m->tokenizer;
}

size_t td_model_template_count(const td_model *m)
{
    return m->template_count;
}

td_model_template td_model_template_at(const td_model *m, size_t i)
{
    return m->templates[i];
}

size_t td_model_special_count(const td_model *m)
{
    return m->named.count;
}

td_str td_model_special_name(const td_model *m, size_t i)
{
    return m->named.items[i].name;
}

td_str td_model_special_text(const td_model *m, size_t i)
{
    return m->named.items[i].token.text;
}
