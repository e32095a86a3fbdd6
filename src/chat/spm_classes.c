/* spm_classes.c - classes whose ids are not those of the pieces.
 *
 * In:    the class's rule, and named tokens as the configuration has them.
 * Out:   entries before and behind the pieces, and how many of these are left out.
 * Holds: a named token that is set to null is spelled None, as Python does. */
#include "chat/spm_classes.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

enum { FRONT_MAX = 6, BACK_MAX = 128, NUMBERED_MAX = 100000, TEXT_MAX = 32 };

/* Named tokens are put by their name, other entries as they are; scores are 0 but for -name. */
static const struct {
    const char *name;
    const char *front[FRONT_MAX];
    uint8_t skip;
    bool languages; /* the class's extra tokens behind the pieces */
    bool mask;      /* and a mask behind them */
    int ids;
} classes[] = {
    { "CamembertTokenizer",
      { "<s>NOTUSED", "pad_token", "</s>NOTUSED", "unk_token", "-<unk>NOTUSED" },
      1,
      false,
      true,
      TK_SPM_KEPT },
    { "LayoutXLMTokenizer",
      { "bos_token", "pad_token", "eos_token", "unk_token" },
      3,
      false,
      true,
      TK_SPM_KEPT },
    { "MBart50Tokenizer",
      { "cls_token", "pad_token", "eos_token", "unk_token" },
      3,
      true,
      true,
      TK_SPM_KEPT },
    { "MBartTokenizer",
      { "bos_token", "pad_token", "eos_token", "unk_token" },
      3,
      true,
      true,
      TK_SPM_KEPT },
    { "NllbTokenizer",
      { "bos_token", "pad_token", "eos_token", "unk_token" },
      0,
      false,
      false,
      TK_SPM_FILLED },
    { "SeamlessM4TTokenizer", { "<pad>", "<unk>", "<s>", "</s>" }, 0, false, false, TK_SPM_MOVED },
    { "XLMRobertaTokenizer",
      { "bos_token", "pad_token", "eos_token", "unk_token" },
      3,
      false,
      true,
      TK_SPM_KEPT },
};

static const td_value *key_of(const td_dict *d, const char *key)
{
    return d != NULL ? td_dict_find(d, td_str_from(key)) : NULL;
}

/* A named token as the files have it; missing: what it is when they do not. */
static td_str configured(const td_token_files *files, const char *name, td_str missing)
{
    bool with_map = key_of(files->tok_config, "added_tokens_decoder") == NULL;
    const td_value *v = with_map ? key_of(files->special_map, name) : NULL;
    if (v == NULL)
        v = key_of(files->tok_config, name);
    if (v == NULL)
        return missing;
    if (v->tag == TD_V_DICT)
        v = key_of(v->as.dict, "content");
    return v != NULL && td_is_str(*v) ? td_as_str(*v) : TD_STR("None");
}

static td_str named(const td_token_files *files, const char *name)
{
    const td_class_named *n = files->rule->named;
    while (n->name != NULL && strcmp(n->name, name) != 0)
        n++;
    return configured(files, name, n->text != NULL ? td_str_from(n->text) : TD_STR("None"));
}

static bool is_name(const char *entry)
{
    size_t n = strlen(entry);
    return n > 6 && strcmp(entry + n - 6, "_token") == 0;
}

static tk_spm_entry *entries(td_arena *a, size_t count, td_error *err)
{
    tk_spm_entry *to = td_arena_array(a, tk_spm_entry, count + 1);
    if (to == NULL)
        td_arena_fail(a, err);
    return to;
}

static td_code arrange_by_table(td_arena *a, const td_token_files *files, size_t at,
                                tk_spm_options *o, td_error *err)
{
    tk_spm_entry *front = entries(a, FRONT_MAX, err), *back = entries(a, BACK_MAX, err);
    if (front == NULL || back == NULL)
        return TD_E_INTERNAL;
    o->front = front;
    o->back = back;
    o->skip = classes[at].skip;
    o->ids = classes[at].ids;
    for (int i = 0; i < FRONT_MAX && classes[at].front[i] != NULL; i++) {
        const char *entry = classes[at].front[i];
        bool low = entry[0] == '-';
        front[o->front_count++] =
            (tk_spm_entry){ is_name(entry) ? named(files, entry) : td_str_from(entry + low),
                            low ? -100.0 : 0.0 };
    }
    const td_class_extra *e = files->rule->extra;
    for (; classes[at].languages && e->text != NULL && o->back_count < BACK_MAX - 1; e++)
        back[o->back_count++] = (tk_spm_entry){ td_str_from(e->text), 0.0 };
    if (classes[at].mask)
        back[o->back_count++] = (tk_spm_entry){ named(files, "mask_token"), 0.0 };
    return TD_OK;
}

/* ---- numbered tokens ---- */

static td_code put_numbered(td_arena *a, const char *format, int64_t number, tk_spm_entry *to,
                            double score, td_error *err)
{
    char *text = td_arena_array(a, char, TEXT_MAX);
    if (text == NULL)
        return td_arena_fail(a, err);
    snprintf(text, TEXT_MAX, format, (long long)number);
    *to = (tk_spm_entry){ td_str_from(text), score };
    return TD_OK;
}

/* An option that counts tokens. What is no number is refused when the tokens are merged. */
static int64_t count_option(const td_token_files *files, const char *key, int64_t missing)
{
    const td_value *v = key_of(files->tok_config, key);
    int64_t n = v == NULL ? missing : v->tag == TD_V_INT ? v->as.integer : 0;
    return n < 0 ? 0 : n > NUMBERED_MAX ? NUMBERED_MAX : n;
}

/* T5: its extra ids behind the pieces, the last first. */
static td_code arrange_extra_ids(td_arena *a, const td_token_files *files, tk_spm_options *o,
                                 td_error *err)
{
    int64_t count = count_option(files, "extra_ids", 100);
    tk_spm_entry *back = entries(a, (size_t)count, err);
    if (back == NULL)
        return TD_E_INTERNAL;
    o->back = back;
    for (int64_t i = count - 1; i >= 0; i--)
        TD_TRY(put_numbered(a, "<extra_id_%lld>", i, &back[o->back_count++], 0.0, err));
    return TD_OK;
}

/* Pegasus: its masks, and numbers up to the option offset, with a low score. */
static td_code arrange_pegasus(td_arena *a, const td_token_files *files, tk_spm_options *o,
                               td_error *err)
{
    int64_t offset = count_option(files, "offset", 103);
    tk_spm_entry *front = entries(a, (size_t)offset + FRONT_MAX, err);
    if (front == NULL)
        return TD_E_INTERNAL;
    td_str mask = configured(files, "mask_token", TD_STR("<mask_1>"));
    td_str sent = configured(files, "mask_token_sent", TD_STR("<mask_2>"));
    o->front = front;
    o->skip = 2;
    front[o->front_count++] = (tk_spm_entry){ named(files, "pad_token"), 0.0 };
    front[o->front_count++] = (tk_spm_entry){ named(files, "eos_token"), 0.0 };
    if (!td_str_eq(mask, TD_STR("None")))
        front[o->front_count++] = (tk_spm_entry){ mask, 0.0 };
    if (!td_str_eq(sent, TD_STR("None")) && !td_str_eq(sent, mask))
        front[o->front_count++] = (tk_spm_entry){ sent, 0.0 };
    for (int64_t i = 2; i < offset; i++)
        TD_TRY(put_numbered(a, "<unk_%lld>", i, &front[o->front_count++], -100.0, err));
    return TD_OK;
}

td_code td_spm_arrange(td_arena *a, const td_token_files *files, tk_spm_options *o, td_error *err)
{
    const td_class_rule *rule = files->rule;
    o->model = rule->any_kind              ? TK_SPM_BY_KIND
               : rule->kind == TD_KIND_BPE ? TK_SPM_BPE
                                           : TK_SPM_UNIGRAM;
    if (strcmp(rule->name, "PegasusTokenizer") == 0)
        return arrange_pegasus(a, files, o, err);
    if (strcmp(rule->name, "T5Tokenizer") == 0 || strcmp(rule->name, "VideoPrismTokenizer") == 0)
        return arrange_extra_ids(a, files, o, err);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(rule->name, classes[i].name) == 0)
            return arrange_by_table(a, files, i, o, err);
    return TD_OK;
}
