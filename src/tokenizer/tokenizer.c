/* tokenizer.c - the public life of tokenizers and encoders. */
#define _GNU_SOURCE /* MAP_POPULATE */
#include "tokdrain/tokenizer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "tokenizer/formats/formats.h"
#include "tokenizer/fast_words.h"
#include "tokenizer/internal.h"
#include "tokenizer/regex.h"
#include "tokenizer/segments.h"

enum { JSON_MAX = 1 << 30 };
static const size_t CALL_MEMORY_MAX = (size_t)4 << 30;

static void destroy(td_tokenizer *tok)
{
    for (const tk_cleanup *c = tok->cleanup; c != NULL; c = c->next)
        c->fn(c->ptr);
    td_arena_done(&tok->arena);
    td_free(tok);
}

/* any: the format is told by the content; else it is tokenizer.json. */
static td_code load(td_str bytes, bool any, const char *encoding, td_tokenizer **ret_tok,
                    td_error *err)
{
    td_error local = TD_ERROR_INIT;
    td_tokenizer *tok = td_calloc(1, sizeof *tok);
    td_code code;
    if (tok == NULL)
        code = td_fail_nomem(&local);
    else if (bytes.len > JSON_MAX)
        code = td_fail(&local, TD_E_LIMIT, "%s is larger than 1 GiB",
                       any ? "the vocabulary" : "tokenizer.json");
    else
        code = any ? tk_load_format(tok, bytes, encoding, &local)
                   : tk_load_tokenizer(tok, bytes, NULL, &local);
    if (code == TD_OK) {
        atomic_init(&tok->refs, 1);
        *ret_tok = tok;
        return TD_OK;
    }
    if (tok != NULL)
        destroy(tok);
    bool has_lines = !any || tk_format_of(bytes) != TK_FORMAT_SENTENCEPIECE;
    if (err != NULL && local.offset != TD_NO_OFFSET && has_lines)
        td_error_locate(&local, bytes);
    if (err != NULL)
        td_error_move(err, &local);
    td_error_clear(&local);
    return code;
}

td_code tk_tokenizer_new_from_parts(td_str json, const tk_bulk *bulk, td_tokenizer **ret_tok,
                                    td_error *err)
{
    td_tokenizer *tok = td_calloc(1, sizeof *tok);
    if (tok == NULL)
        return td_fail_nomem(err);
    td_code code = tk_load_tokenizer(tok, json, bulk, err);
    atomic_init(&tok->refs, 1);
    if (code == TD_OK)
        *ret_tok = tok;
    else
        destroy(tok);
    return code;
}

td_code td_tokenizer_new_from_json(td_str json, td_tokenizer **ret_tok, td_error *err)
{
    return load(json, false, NULL, ret_tok, err);
}

td_code td_tokenizer_new_from_vocabulary(td_str bytes, const char *encoding, td_tokenizer **ret_tok,
                                         td_error *err)
{
    return load(bytes, true, encoding, ret_tok, err);
}

static td_code cannot_open(const char *path, td_error *err)
{
    if (err != NULL) {
        td_fail(err, TD_E_INPUT, "cannot open: %s", strerror(errno));
        td_error_in_file(err, path);
    }
    return TD_E_INPUT;
}

/* Reads a file that cannot be mapped (a pipe, say). */
static td_code read_stream(int fd, td_buf *out, const char *path, td_error *err)
{
    out->limit = JSON_MAX;
    for (;;) {
        td_code code = td_buf_reserve(out, 1 << 16);
        if (code != TD_OK)
            return err != NULL ? td_buf_fail(out, err, code, "tokenizer.json") : code;
        ssize_t n = read(fd, out->ptr + out->len, 1 << 16);
        if (n == 0)
            return TD_OK;
        if (n < 0 && errno != EINTR)
            return cannot_open(path, err);
        if (n > 0)
            out->len += (size_t)n;
    }
}

td_code td_tokenizer_new_from_file(const char *path, td_tokenizer **ret_tok, td_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cannot_open(path, err);
    struct stat st;
    td_code code;
    td_buf bytes = { 0 };
    void *map = MAP_FAILED;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (map != MAP_FAILED) {
        code = td_tokenizer_new_from_json((td_str){ map, (size_t)st.st_size }, ret_tok, err);
        munmap(map, (size_t)st.st_size);
    } else {
        code = read_stream(fd, &bytes, path, err);
        if (code == TD_OK)
            code = td_tokenizer_new_from_json(td_buf_view(&bytes), ret_tok, err);
        td_buf_done(&bytes);
    }
    close(fd);
    if (code != TD_OK && err != NULL)
        td_error_in_file(err, path);
    return code;
}

td_tokenizer *td_tokenizer_ref(td_tokenizer *tok)
{
    atomic_fetch_add_explicit(&tok->refs, 1, memory_order_relaxed);
    return tok;
}

void td_tokenizer_free(td_tokenizer *tok)
{
    if (tok != NULL && atomic_fetch_sub_explicit(&tok->refs, 1, memory_order_acq_rel) == 1)
        destroy(tok);
}

size_t td_tokenizer_vocab_size(const td_tokenizer *tok)
{
    return tok->model->vocab_size(tok->model) + tok->added.fresh;
}

td_str td_token_text(const td_tokenizer *tok, td_id id)
{
    const tk_added_token *t = tk_added_by_id(&tok->added, id);
    if (t != NULL)
        return t->normalized_form;
    td_str s = tok->model->id_to_token(tok->model, id);
    return s.ptr != NULL ? s : TD_STR("");
}

bool td_token_id(const td_tokenizer *tok, td_str text, td_id *ret_id)
{
    const tk_added_token *t = tk_added_by_content(&tok->added, text);
    if (t != NULL) {
        *ret_id = t->id;
        return true;
    }
    return tok->model->token_to_id(tok->model, text, ret_id);
}

bool td_token_is_special(const td_tokenizer *tok, td_id id)
{
    return tk_added_is_special(&tok->added, id);
}

char *td_tokenizer_describe(const td_tokenizer *tok)
{
    td_buf out = { 0 };
    char *text = tk_describe(tok, &out) == TD_OK ? td_buf_detach(&out) : NULL;
    td_buf_done(&out);
    return text;
}

td_encoder *td_encoder_new(td_tokenizer *tok)
{
    td_encoder *enc = td_calloc(1, sizeof *enc);
    if (enc == NULL)
        return NULL;
    enc->tok = td_tokenizer_ref(tok);
    enc->ctx.tok = tok;
    td_encoder_set_memory(enc, 0);
    return enc;
}

void td_tokenizer_refuse_texts(td_tokenizer *tok, const char *why)
{
    tok->no_texts = why;
}

void td_encoder_set_memory(td_encoder *enc, size_t bytes_max)
{
    enc->ctx.arena.limit = bytes_max != 0 ? bytes_max : CALL_MEMORY_MAX;
}

td_code tk_encoder_reset(td_encoder *enc, const void **ptr, size_t size, td_error *err)
{
    if (size != 0 && td_arena_holds(&enc->ctx.arena, *ptr)) {
        enc->given.len = 0;
        if (td_buf_append(&enc->given, *ptr, size) != TD_OK)
            return td_fail_nomem(err);
        *ptr = enc->given.ptr;
    }
    td_arena_reset(&enc->ctx.arena);
    return TD_OK;
}

void td_encoder_free(td_encoder *enc)
{
    if (enc == NULL)
        return;
#ifdef TD_SELFCHECK
    td_encoder_free(enc->twin);
#endif
    tk_regex_release(&enc->ctx);
    td_free(enc->run);
    tk_cache_done(&enc->cache);
    td_free(enc->sink.ids);
    tk_lists_done(&enc->batch);
    td_buf_done(&enc->given);
    td_arena_done(&enc->ctx.arena);
    td_tokenizer_free(enc->tok);
    td_free(enc);
}

size_t td_encoder_bytes(const td_encoder *enc)
{
    return sizeof *enc + (enc->run != NULL ? sizeof *enc->run : 0) + enc->ctx.arena.total +
           enc->sink.cap * sizeof(td_id) + tk_cache_bytes(&enc->cache) +
           tk_lists_bytes(&enc->batch) + enc->given.cap;
}

void tk_encoder_force(td_encoder *enc, unsigned how)
{
    enc->general = (how & TK_FORCE_GENERAL) != 0;
    enc->cache.off = (how & TK_FORCE_UNCACHED) != 0;
}
