/* vocab_files.c - directories without a tokenizer.json: vocab.json and merges.txt, vocab.txt. */
#include "chat/vocab_files.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "chat/files.h"
#include "chat/release.h"
#include "value/json.h"

/* the release whose rules this folder follows */
static const td_release reference = { .numbers = { 5, 24, 0, 0 } };

/* "tokenizer.V.json" -> V; ptr NULL: another name */
static td_str version_of(td_str name)
{
    td_str head = TD_STR("tokenizer."), tail = TD_STR(".json");
    size_t at = td_str_find(name, head, 0);
    if (at == TD_NOT_FOUND)
        return (td_str){ NULL, 0 };
    td_str rest = td_str_from_offset(name, at + head.len);
    size_t end = td_str_rfind(rest, tail);
    return end == TD_NOT_FOUND ? (td_str){ NULL, 0 } : (td_str){ rest.ptr, end };
}

td_code td_tokenizer_file_name(td_arena *a, const td_dict *tok_config, const char **ret,
                               td_error *err)
{
    const td_value *list =
        tok_config != NULL ? td_dict_find(tok_config, TD_STR("fast_tokenizer_files")) : NULL;
    td_str best = TD_STR("tokenizer.json"), best_version = { NULL, 0 }, barrier = { NULL, 0 };
    for (int round = 0; round < 2; round++) { /* first the lowest text that is too new */
        for (uint32_t i = 0; list != NULL && list->tag == TD_V_LIST && i < list->len; i++) {
            td_str name = td_is_str(list->as.items[i]) ? td_as_str(list->as.items[i]) : best;
            td_str version = version_of(name);
            td_release release;
            if (version.ptr == NULL)
                continue;
            if (!td_release_parse(version, &release))
                return td_fail(err, TD_E_TOKENIZER,
                               "tokenizer_config.json: \"%.*s\" names no release", (int)name.len,
                               name.ptr);
            bool newer = td_release_compare(release, reference) > 0;
            if (round == 0 && newer && (barrier.ptr == NULL || td_str_cmp(version, barrier) < 0))
                barrier = version;
            if (round == 0 || newer || (barrier.ptr != NULL && td_str_cmp(version, barrier) > 0) ||
                (best_version.ptr != NULL && td_str_cmp(version, best_version) < 0))
                continue;
            best = name;
            best_version = version;
        }
    }
    char *text = td_arena_array(a, char, best.len + 1);
    if (text == NULL)
        return td_arena_fail(a, err);
    memcpy(text, best.ptr, best.len);
    text[best.len] = '\0';
    *ret = text;
    return TD_OK;
}

/* ---- lists of lines as JSON ---- */

typedef struct lines {
    td_str text;
    size_t at;
} lines;

/* The next line without its end. */
static bool next_line(lines *l, td_str *ret)
{
    if (l->at >= l->text.len)
        return false;
    const char *start = l->text.ptr + l->at;
    const char *end = memchr(start, '\n', l->text.len - l->at);
    size_t len = end != NULL ? (size_t)(end - start) : l->text.len - l->at;
    l->at += len + 1;
    if (len != 0 && end != NULL && start[len - 1] == '\r')
        len--;
    *ret = (td_str){ start, len };
    return true;
}

static td_code keep(td_arena *a, td_buf *out, td_code code, td_str *ret, td_error *err)
{
    if (code != TD_OK)
        code = td_buf_fail(out, err, code, "vocabulary");
    if (code == TD_OK) {
        *ret = td_arena_copy(a, td_buf_view(out));
        if (ret->ptr == NULL)
            code = td_arena_fail(a, err);
    }
    td_buf_done(out);
    return code;
}

static td_code read_merges(td_arena *a, td_str text, td_str *ret, td_error *err)
{
    td_buf out = { 0 };
    td_code code = td_buf_byte(&out, '[');
    lines l = { .text = text };
    td_str line;
    for (size_t n = 1; code == TD_OK && next_line(&l, &line); n++) {
        if (td_str_starts(line, TD_STR("#version")))
            continue;
        const char *space = memchr(line.ptr, ' ', line.len);
        size_t head = space != NULL ? (size_t)(space - line.ptr) : line.len;
        if (space == NULL || memchr(space + 1, ' ', line.len - head - 1) != NULL) {
            td_buf_done(&out);
            return td_fail(err, TD_E_INPUT, "merges.txt: line %zu holds no pair", n);
        }
        if (out.len > 1)
            code = td_buf_byte(&out, ',');
        if (code == TD_OK)
            code = td_json_write_string(&out, line, false);
    }
    if (code == TD_OK)
        code = td_buf_byte(&out, ']');
    return keep(a, &out, code, ret, err);
}

static td_code read_vocab_txt(td_arena *a, td_str text, td_str *ret, td_error *err)
{
    td_buf out = { 0 };
    td_code code = td_buf_byte(&out, '[');
    lines l = { .text = text };
    td_str line;
    while (code == TD_OK && next_line(&l, &line)) {
        while (line.len != 0 && (unsigned char)line.ptr[line.len - 1] <= ' ')
            line.len--;
        if (out.len > 1)
            code = td_buf_byte(&out, ',');
        if (code == TD_OK)
            code = td_json_write_string(&out, line, false);
    }
    if (code == TD_OK)
        code = td_buf_byte(&out, ']');
    return keep(a, &out, code, ret, err);
}

static td_code nothing_to_use(td_arena *a, const char *dir, td_error *err)
{
    static const char *const formats[][2] = {
        { "tekken.json", "a Tekken vocabulary" },
        { "tiktoken.model", "a tiktoken vocabulary" },
        { "tokenizer.model", "a SentencePiece or tiktoken vocabulary" },
        { "spiece.model", "a SentencePiece vocabulary" },
        { "sentencepiece.bpe.model", "a SentencePiece vocabulary" },
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *path = td_path_join(a, dir, formats[i][0]);
        if (path == NULL)
            return td_arena_fail(a, err);
        if (td_path_is_file(path))
            return td_fail(err, TD_E_TOKENIZER,
                           "%s holds no tokenizer.json but %s, %s, which is not read for this "
                           "class of tokenizer",
                           dir, formats[i][0], formats[i][1]);
    }
    return td_fail(err, TD_E_TOKENIZER, "%s holds no tokenizer.json and no vocabulary of its class",
                   dir);
}

td_code td_vocab_files_read(td_arena *a, const char *dir, const td_class_rule *rule,
                            td_skimmed *ret, td_error *err)
{
    *ret = (td_skimmed){ 0 };
    td_str text = { NULL, 0 }, merges = { NULL, 0 };
    if (rule != NULL && rule->files == TD_FILES_BPE) {
        TD_TRY(td_file_read_optional(a, dir, "vocab.json", &text, err));
        TD_TRY(td_file_read_optional(a, dir, "merges.txt", &merges, err));
        if (text.ptr != NULL && merges.ptr != NULL) {
            while (text.len != 0 && (unsigned char)*text.ptr <= ' ')
                text = td_str_from_offset(text, 1);
            ret->vocab = text;
            return read_merges(a, merges, &ret->merges, err);
        }
    }
    if (rule != NULL && rule->files == TD_FILES_VOCAB_TXT) {
        TD_TRY(td_file_read_optional(a, dir, "vocab.txt", &text, err));
        if (text.ptr != NULL)
            return read_vocab_txt(a, text, &ret->vocab, err);
    }
    return nothing_to_use(a, dir, err);
}
