/* Models: which class a directory gets, which tokens, which templates. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "chat/added_tokens.h"
#include "chat/model.h"
#include "chat/tokenizer_class.h"
#include "value/json.h"

static const td_dict *parse(td_arena *a, const char *json)
{
    td_value v;
    td_error err = TD_ERROR_INIT;
    if (json == NULL)
        return NULL;
    assert_int_equal(td_json_read(a, td_str_from(json), &v, &err), TD_OK);
    return v.as.dict;
}

static const struct {
    const char *config, *tok_config, *json, *expected; /* expected NULL: refused */
} choices[] = {
    { NULL, NULL, "{}", "TokenizersBackend" },
    { NULL, "{\"tokenizer_class\": \"Qwen2Tokenizer\"}", "{}", "Qwen2Tokenizer" },
    { NULL, "{\"tokenizer_class\": \"Qwen2TokenizerFast\"}", "{}", "Qwen2Tokenizer" },
    { NULL, "{\"tokenizer_class\": \"PreTrainedTokenizerFast\"}", "{}", "TokenizersBackend" },
    { NULL, "{\"tokenizer_class\": \"Qwen3Tokenizer\"}", "{}", "TokenizersBackend" },
    { NULL, "{\"tokenizer_class\": \"LlamaTokenizer\"}", "{}", "LlamaTokenizer" },
    { NULL, "{\"tokenizer_class\": \"LlamaTokenizer\"}", "{\"type\": \"ByteLevel\"}",
      "TokenizersBackend" },
    { NULL,
      "{\"tokenizer_class\": \"LlamaTokenizer\", "
      "\"auto_map\": {\"AutoTokenizer\": [\"a\", null]}}",
      "{\"type\": \"ByteLevel\"}", "LlamaTokenizer" },
    { NULL,
      "{\"tokenizer_class\": \"MyOwn\", \"auto_map\": {\"AutoTokenizer\": [\"a\", null]}}", "{}",
      NULL },
    { NULL, "{\"tokenizer_class\": \"ByT5Tokenizer\"}", "{}", NULL },
    { NULL, "{\"tokenizer_class\": \"ElectraTokenizerFast\"}", "{}", "BertTokenizer" },
    { "{\"model_type\": \"qwen3\"}", NULL, "{}", "Qwen2Tokenizer" },
    { "{\"model_type\": \"llama\"}", NULL, "{}", "TokenizersBackend" },
    { "{\"model_type\": \"glm4\"}", "{\"tokenizer_class\": \"Qwen2Tokenizer\"}", "{}",
      "TokenizersBackend" },
    { "{\"model_type\": \"gemma3\"}", "{\"tokenizer_class\": \"LlamaTokenizer\"}", "{}",
      "LlamaTokenizer" },
    { "{\"model_type\": \"phi3\"}", "{\"tokenizer_class\": \"LlamaTokenizer\"}", "{}",
      "TokenizersBackend" },
    { "{\"model_type\": \"unheard-of\"}", NULL, "{}", "TokenizersBackend" },
    { "{\"tokenizer_class\": \"GPT2Tokenizer\"}", NULL, "{}", "GPT2Tokenizer" },
    { "{\"tokenizer_class\": \"NopeTokenizer\"}", NULL, "{}", NULL },
};

static void test_class_choice(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        td_arena a = { 0 };
        td_error err = TD_ERROR_INIT;
        td_class_choice got;
        td_code code = td_class_choose(TD_STR("dir"), parse(&a, choices[i].config),
                                       parse(&a, choices[i].tok_config),
                                       td_str_from(choices[i].json), &got, &err);
        if (choices[i].expected == NULL) {
            assert_int_equal(code, TD_E_TOKENIZER);
        } else {
            assert_int_equal(code, TD_OK);
            if (!td_str_eq(got.name, td_str_from(choices[i].expected)))
                fail_msg("case %zu: expected %s, got %.*s", i, choices[i].expected,
                         (int)got.name.len, got.name.ptr);
        }
        td_error_clear(&err);
        td_arena_done(&a);
    }
}

#define TINY                                                                                       \
    "{\"added_tokens\": [{\"id\": 3, \"content\": \"<s>\", \"special\": true, \"normalized\": "    \
    "false, \"lstrip\": true, \"rstrip\": false, \"single_word\": false}], \"model\": {\"type\": " \
    "\"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"<pad>\": 2, \"<s>\": 3}, \"merges\": []}}"

static td_tokens merge(td_arena *a, const char *tok_config, const char *map, const char *added)
{
    td_token_files files = { .tok_config = parse(a, tok_config), .special_map = parse(a, map),
                             .added_json = parse(a, added), .file = parse(a, TINY) };
    td_tokens t;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_tokens_merge(a, &files, &t, &err), TD_OK);
    return t;
}

static void test_tokens_of_the_file_stay(void **state)
{
    (void)state;
    td_arena a = { 0 };
    td_tokens t = merge(&a, "{\"bos_token\": \"<s>\"}", NULL, NULL);
    assert_false(t.changed);
    assert_int_equal(t.added.count, 1);
    assert_int_equal(t.named.count, 1);
    assert_str(t.named.items[0].name, "bos_token");
    assert_true(t.named.items[0].token.lstrip); /* the table's flags */
    td_arena_done(&a);
}

static void test_named_tokens_become_added_tokens(void **state)
{
    (void)state;
    td_arena a = { 0 };
    td_tokens t = merge(&a,
                        "{\"pad_token\": \"<pad>\", \"eos_token\": \"<new>\", \"unk_token\": null, "
                        "\"audio_token\": \"<au>\", \"additional_special_tokens\": [\"<x>\"]}",
                        NULL, NULL);
    static const char *const texts[] = { "<s>", "<new>", "<pad>", "<au>", "<x>" };
    assert_true(t.changed);
    assert_int_equal(t.added.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(td_str_eq(t.added.items[i].text, td_str_from(texts[i])));
        assert_true(t.added.items[i].special);
    }
    assert_int_equal(t.named.count, 3); /* the extra one is none */
    assert_str(t.named.items[2].name, "audio_token");
    td_arena_done(&a);
}

static void test_added_tokens_decoder_beats_the_other_files(void **state)
{
    (void)state;
    td_arena a = { 0 };
    td_tokens t = merge(&a, "{\"added_tokens_decoder\": {\"9\": {\"content\": \"<z>\", "
                            "\"special\": false, \"normalized\": true}}}",
                        "{\"bos_token\": \"<map>\"}", "{\"<json>\": 7}");
    assert_int_equal(t.added.count, 2);
    assert_str(t.added.items[1].text, "<z>");
    assert_int_equal(t.named.count, 0);
    t = merge(&a, "{\"bos_token\": \"<cfg>\"}", "{\"bos_token\": {\"content\": \"<map>\"}}",
              "{\"<json>\": 7}");
    assert_int_equal(t.added.count, 3);
    assert_str(t.named.items[0].token.text, "<map>");
    assert_str(t.added.items[1].text, "<json>");
    assert_false(t.added.items[1].special);
    assert_true(t.added.items[1].normalized);
    td_arena_done(&a);
}

/* ---- directories ---- */

static char dir[64];

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "td_model_XXXXXX");
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    static const char *const names[] = {
        "chat_template.jinja", "tokenizer_config.json", "tokenizer.json",
        "additional_chat_templates/rag.jinja", "additional_chat_templates/tool_use.jinja",
        "additional_chat_templates", ""
    };
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        if (unlink(path) != 0)
            rmdir(path);
    }
    return 0;
}

static td_model *templates_of(void)
{
    td_model *m = NULL;
    td_error err = TD_ERROR_INIT;
    td_model_options options = { .templates_only = true };
    assert_int_equal(td_model_new(dir, &options, &m, &err), TD_OK);
    return m;
}

static const char *picked(const td_model *m, const char *asked, bool tools)
{
    size_t i;
    td_error err = TD_ERROR_INIT;
    td_str name = asked != NULL ? td_str_from(asked) : (td_str){ NULL, 0 };
    td_code code = td_model_pick_template(m, name, tools, &i, &err);
    td_error_clear(&err);
    if (code != TD_OK)
        return "error";
    static char found[32];
    td_str own = i == SIZE_MAX ? TD_STR("text") : m->templates[i].name;
    assert_true(own.len < sizeof found);
    memcpy(found, own.ptr, own.len);
    found[own.len] = '\0';
    return found;
}

static void test_one_template(void **state)
{
    (void)state;
    write_file("chat_template.jinja", "a\r\nb\rc");
    write_file("tokenizer_config.json", "{\"chat_template\": \"not this\"}");
    td_model *m = templates_of();
    assert_int_equal(td_model_template_count(m), 1);
    td_model_template t = td_model_template_at(m, 0);
    assert_str(t.source, "a\nb\nc");
    assert_string_equal(t.file, "chat_template.jinja");
    assert_string_equal(picked(m, NULL, true), "default");
    assert_string_equal(picked(m, "default", false), "text"); /* one template has no name */
    td_model_free(m);
}

static void test_templates_by_name(void **state)
{
    (void)state;
    write_file("tokenizer_config.json",
               "{\"chat_template\": [{\"name\": \"default\", \"template\": \"d\"}, "
               "{\"name\": \"tool_use\", \"template\": \"t\"}, "
               "{\"name\": \"broken\", \"template\": \"{{\"}]}");
    td_model *m = templates_of();
    assert_int_equal(td_model_template_count(m), 3);
    assert_string_equal(picked(m, NULL, false), "default");
    assert_string_equal(picked(m, NULL, true), "tool_use");
    assert_string_equal(picked(m, "broken", true), "broken");
    assert_string_equal(picked(m, "other", true), "text");
    assert_null(td_model_template_at(m, 2).compiled); /* fails its use only */
    td_model_free(m);
}

static void test_names_with_nul(void **state)
{
    (void)state;
    write_file("tokenizer_config.json",
               "{\"chat_template\": {\"default\": \"d\", \"a\\u0000b\": \"1\", \"a\": \"2\", "
               "\"a\\u0000c\": \"3\"}}");
    td_model *m = templates_of();
    assert_int_equal(td_model_template_count(m), 4);
    assert_str(td_model_template_at(m, 1).name, "a\0b");
    assert_str(td_model_template_at(m, 2).name, "a");
    size_t index;
    for (size_t i = 1; i < 4; i++) {
        td_str name = td_model_template_at(m, i).name;
        assert_int_equal(td_model_pick_template(m, name, false, &index, NULL), TD_OK);
        assert_int_equal(index, i);
    }
    td_model_free(m);
}

static void test_files_beat_the_configuration(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/additional_chat_templates", dir);
    assert_int_equal(mkdir(path, 0777), 0);
    write_file("additional_chat_templates/rag.jinja", "r");
    write_file("tokenizer_config.json", "{\"chat_template\": \"not this\"}");
    td_model *m = templates_of();
    assert_int_equal(td_model_template_count(m), 1);
    assert_string_equal(picked(m, NULL, false), "error"); /* no default among them */
    assert_string_equal(picked(m, "rag", false), "rag");
    td_model_free(m);
    write_file("chat_template.jinja", "d");
    m = templates_of();
    assert_string_equal(picked(m, NULL, true), "default");
    td_model_free(m);
}

static void test_no_template(void **state)
{
    (void)state;
    td_model *m = templates_of();
    assert_string_equal(picked(m, NULL, false), "error");
    td_model_free(m);
}

static void test_what_cannot_be_loaded(void **state)
{
    (void)state;
    td_model *m = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_model_new(dir, NULL, &m, &err), TD_E_TOKENIZER);
    td_error_clear(&err);
    write_file("tokenizer.json", "{\"model\":");
    assert_int_equal(td_model_new(dir, NULL, &m, &err), TD_E_INPUT);
    assert_string_equal(err.file, "tokenizer.json");
    td_error_clear(&err);
    assert_int_equal(td_model_new("no/such/model", NULL, &m, &err), TD_E_INPUT);
    td_error_clear(&err);
    assert_null(m);
}

static void test_built_in_model(void **state)
{
    (void)state;
    td_model *m = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_model_new(NULL, NULL, &m, &err), TD_OK);
    assert_int_equal(td_tokenizer_vocab_size(td_model_tokenizer(m)), 4096);
    assert_int_equal(td_model_template_count(m), 1);
    assert_non_null(td_model_template_at(m, 0).compiled);
    assert_int_equal(td_model_special_count(m), 2);
    char *text = td_model_describe(m);
    assert_non_null(strstr(text, "\"kind\": \"built-in\""));
    td_text_free(text);
    assert_ptr_equal(td_model_ref(m), m);
    td_model_free(m);
    td_model_free(m);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_choice),
        cmocka_unit_test(test_tokens_of_the_file_stay),
        cmocka_unit_test(test_named_tokens_become_added_tokens),
        cmocka_unit_test(test_added_tokens_decoder_beats_the_other_files),
        IN_DIR(test_one_template),
        IN_DIR(test_templates_by_name),
        IN_DIR(test_names_with_nul),
        IN_DIR(test_files_beat_the_configuration),
        IN_DIR(test_no_template),
        IN_DIR(test_what_cannot_be_loaded),
        cmocka_unit_test(test_built_in_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
