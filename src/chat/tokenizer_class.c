/* tokenizer_class.c - AutoTokenizer's choice of a class, as transformers 5.24 makes it.
 *
 * In:    config.json, tokenizer_config.json, tokenizer.json.
 * Out:   a class name with its "Fast" ending dropped, aliases resolved.
 * Idea:  a list of rules, the first that applies decides. The model type's registered class and
 *        whether the name in a configuration is believed come from model_types.def. */
#include "chat/tokenizer_class.h"

#include "base/error.h"
#include "base/str.h"

typedef struct model_type {
    const char *name, *own_class, *registered;
    bool disbelieved, has_config;
} model_type;

#define TYPE(name, own, registered, wrong, config) { name, own, registered, wrong, config },
static const model_type types[] = {
#include "chat/model_types.def"
};
#undef TYPE

#define GENERIC "TokenizersBackend"

/* Names that stand for another class. */
static const char *const aliases[][2] = {
    { "BloomTokenizer", GENERIC },
    { "PreTrainedTokenizer", GENERIC },
    { "PythonBackend", GENERIC },
    { "BartTokenizer", "RobertaTokenizer" },
    { "LEDTokenizer", "RobertaTokenizer" },
    { "LongformerTokenizer", "RobertaTokenizer" },
    { "MvpTokenizer", "RobertaTokenizer" },
    { "ElectraTokenizer", "BertTokenizer" },
    { "LayoutLMTokenizer", "BertTokenizer" },
    { "LxmertTokenizer", "BertTokenizer" },
    { "MobileBertTokenizer", "BertTokenizer" },
    { "SqueezeBertTokenizer", "BertTokenizer" },
    { "Phi3Tokenizer", "LlamaTokenizer" },
};

/* Classes over the tokenizers library that set up parts of their own. */
static const char *const native_classes[] = {
    "AlbertTokenizer",
    "BarthezTokenizer",
    "BertTokenizer",
    "BigBirdTokenizer",
    "BlenderbotTokenizer",
    "CLIPTokenizer",
    "CamembertTokenizer",
    "CodeGenTokenizer",
    "CodeLlamaTokenizer",
    "CohereTokenizer",
    "ConvBertTokenizer",
    "DPRContextEncoderTokenizer",
    "DPRQuestionEncoderTokenizer",
    "DPRReaderTokenizer",
    "DebertaTokenizer",
    "DebertaV2Tokenizer",
    "DistilBertTokenizer",
    "EsmcTokenizer",
    "FNetTokenizer",
    "FunnelTokenizer",
    "GPT2Tokenizer",
    "GPTNeoXTokenizer",
    "GemmaTokenizer",
    "HerbertTokenizer",
    "LasrTokenizer",
    "LayoutLMv2Tokenizer",
    "LayoutLMv3Tokenizer",
    "LayoutXLMTokenizer",
    "LlamaTokenizer",
    "LukeTokenizer",
    "MBart50Tokenizer",
    "MBartTokenizer",
    "MLukeTokenizer",
    "MPNetTokenizer",
    "MarkupLMTokenizer",
    "NllbTokenizer",
    "NougatTokenizer",
    "OpenAIGPTTokenizer",
    "ParakeetTokenizer",
    "PegasusTokenizer",
    "Qwen2Tokenizer",
    "Qwen3_5Tokenizer",
    "ReformerTokenizer",
    "RemBertTokenizer",
    "RoFormerTokenizer",
    "RobertaTokenizer",
    "SeamlessM4TTokenizer",
    "Siglip2Tokenizer",
    "SplinterTokenizer",
    "T5Tokenizer",
    "Tipsv2Tokenizer",
    "UdopTokenizer",
    "VideoPrismTokenizer",
    "WhisperTokenizer",
    "XGLMTokenizer",
    "XLMRobertaTokenizer",
    "XLNetTokenizer",
};

/* Classes in plain Python, which do not use tokenizer.json at all. */
static const char *const python_classes[] = {
    "BartphoTokenizer",
    "BertGenerationTokenizer",
    "BertJapaneseTokenizer",
    "BertTokenizerLegacy",
    "BertweetTokenizer",
    "BioGptTokenizer",
    "BlenderbotSmallTokenizer",
    "ByT5Tokenizer",
    "CTRLTokenizer",
    "CanineTokenizer",
    "ClvpTokenizer",
    "CpmAntTokenizer",
    "CpmTokenizer",
    "DiaTokenizer",
    "EsmTokenizer",
    "FSMTTokenizer",
    "FastSpeech2ConformerTokenizer",
    "FlaubertTokenizer",
    "GPTNeoXJapaneseTokenizer",
    "GPTSw3Tokenizer",
    "M2M100Tokenizer",
    "MarianTokenizer",
    "MgpstrTokenizer",
    "MyT5Tokenizer",
    "PLBartTokenizer",
    "PerceiverTokenizer",
    "PhobertTokenizer",
    "Pop2PianoTokenizer",
    "ProphetNetTokenizer",
    "RagTokenizer",
    "RoCBertTokenizer",
    "SiglipTokenizer",
    "Speech2TextTokenizer",
    "SpeechT5Tokenizer",
    "TapasTokenizer",
    "VitsTokenizer",
    "Wav2Vec2CTCTokenizer",
    "Wav2Vec2PhonemeCTCTokenizer",
    "XLMTokenizer",
};

static const model_type *find_type(td_str name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (td_str_eq(name, td_str_from(types[i].name)))
            return &types[i];
    }
    return NULL;
}

static bool in_list(td_str name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (td_str_eq(name, td_str_from(list[i])))
            return true;
    }
    return false;
}
#define IN_LIST(name, list) in_list(name, list, sizeof(list) / sizeof *(list))

static td_str without_fast(td_str name)
{
    if (td_str_ends(name, TD_STR("Fast")))
        name.len -= 4;
    return name;
}

/* The class that a name means; ptr NULL: the package has none. */
static td_str resolve(td_str name)
{
    name = without_fast(name);
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (td_str_eq(name, td_str_from(aliases[i][0])))
            return td_str_from(aliases[i][1]);
    }
    if (td_str_eq(name, TD_STR(GENERIC)) || IN_LIST(name, native_classes) ||
        IN_LIST(name, python_classes))
        return name;
    return (td_str){ NULL, 0 };
}

static td_str text_of(const td_dict *d, const char *key)
{
    const td_value *v = d != NULL ? td_dict_find(d, td_str_from(key)) : NULL;
    return v != NULL && td_is_str(*v) ? td_as_str(*v) : (td_str){ NULL, 0 };
}

/* What names the tokenizer in auto_map; NULL: nothing does. */
static const td_value *auto_map_of(const td_dict *tok_config)
{
    const td_value *v = tok_config ? td_dict_find(tok_config, TD_STR("auto_map")) : NULL;
    if (v != NULL && v->tag == TD_V_DICT)
        v = td_dict_find(v->as.dict, TD_STR("AutoTokenizer"));
    return v == NULL || td_is_none(*v) ? NULL : v;
}

static td_str model_type_of(const td_dict *config)
{
    td_str type = text_of(config, "model_type");
    bool ministral =
        td_str_eq(type, TD_STR("mistral")) && td_dict_find(config, TD_STR("layer_types")) != NULL;
    return ministral ? TD_STR("ministral") : type;
}

static td_code decide(td_class_choice *ret, td_str name, const char *why, td_error *err)
{
    td_str found = resolve(name);
    ret->name = found.ptr != NULL ? found : TD_STR(GENERIC);
    ret->generic = td_str_eq(ret->name, TD_STR(GENERIC));
    ret->why = found.ptr != NULL ? why : "the class is not one of transformers: generic";
    if (IN_LIST(ret->name, python_classes))
        return td_fail(err, TD_E_TOKENIZER,
                       "%.*s is written in Python and does not use tokenizer.json; an external "
                       "worker (--worker-command) can serve it",
                       (int)ret->name.len, ret->name.ptr);
    return TD_OK;
}

/* Rule 4: the configuration names a class and the model type is registered with another. */
static td_code by_registration(const model_type *type, bool wrong, td_str hub, td_class_choice *ret,
                               td_error *err)
{
    td_str registered = td_str_from(type->registered);
    if (td_str_eq(registered, TD_STR(GENERIC)) ||
        td_str_eq(registered, TD_STR("MistralCommonBackend")))
        return decide(ret, TD_STR(GENERIC), "the model type is registered as generic", err);
    td_str name = wrong ? registered : hub;
    return decide(ret, name,
                  wrong ? "the model type's class, as its configuration is not believed"
                        : "named by the configuration",
                  err);
}

/* Remote code needs trust, which is never given here: known names go on without it. */
static td_code check_auto_map(const model_type *type, td_value own_code, td_str tok_class,
                              td_error *err)
{
    if ((own_code.tag != TD_V_LIST && !td_is_str(own_code)) || own_code.len < 2)
        return td_fail(err, TD_E_TOKENIZER,
                       "tokenizer_config.json: auto_map must name a slow and a fast tokenizer");
    bool known = (tok_class.ptr != NULL && resolve(tok_class).ptr != NULL) ||
                 (type != NULL && type->has_config && type->registered[0] != '-');
    if (known)
        return TD_OK;
    return td_fail(err, TD_E_TOKENIZER, "the tokenizer is Python code of the model's own%s%.*s; "
                   "an external worker (--worker-command) can serve it",
                   tok_class.len ? ": " : "", (int)tok_class.len,
                   tok_class.len ? tok_class.ptr : "");
}

/* Models whose names alone make them generic; a star ends those that are only a beginning. */
static bool is_generic_by_name(td_str name)
{
    static const char *const names[] = {
        "deepseek-ai/deepseek-r1-distill-llama-*",
        "deepseek-ai/deepseek-coder-*",
        "allenai/dolma2-tokenizer",
        "google/umt5-small",
        "naver-clova-ix/donut-*",
        "salesforce/blip2-opt-*",
        "salesforce/blip2-flan-t5-*",
        "salesforce/instructblip-flan-t5-*",
        "stepfun-ai/step-3.7-*",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t at = 0;
        for (; at < name.len && names[i][at] != '\0' && names[i][at] != '*'; at++) {
            char c = name.ptr[at];
            if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != names[i][at])
                break;
        }
        if (names[i][at] == '*' || (names[i][at] == '\0' && at == name.len))
            return true;
    }
    return false;
}

td_code td_class_choose(td_str name, const td_dict *config, const td_dict *tok_config, td_str json,
                        td_class_choice *ret, td_error *err)
{
    td_str tok_class = text_of(tok_config, "tokenizer_class");
    td_str config_class = text_of(config, "tokenizer_class");
    td_str hub = without_fast(tok_class.ptr != NULL ? tok_class : config_class);
    const model_type *type = find_type(model_type_of(config));
    const model_type *named = find_type(text_of(config, "model_name"));
    bool wrong = (type != NULL && type->disbelieved) || (named != NULL && named->disbelieved);
    bool registered = type != NULL && type->registered[0] != '-';
    const td_value *own_code = auto_map_of(tok_config);
    *ret = (td_class_choice){ .asked = tok_class.ptr != NULL ? tok_class : config_class };

    if (own_code != NULL) { /* a type that is not believed loses it, after all other rules */
        if (type == NULL || !type->disbelieved)
            TD_TRY(check_auto_map(type, *own_code, tok_class, err));
    } else if (type != NULL && type->has_config && is_generic_by_name(name)) {
        return decide(ret, TD_STR(GENERIC), "the model's name", err);
    } else if (hub.ptr != NULL) {
        bool common =
            registered && td_str_eq(td_str_from(type->registered), TD_STR("MistralCommonBackend"));
        if (td_str_eq(hub, TD_STR("LlamaTokenizer")) && !wrong && !common &&
            td_str_find(json, TD_STR("\"ByteLevel\""), 0) != TD_NOT_FOUND)
            return decide(ret, TD_STR(GENERIC), "LlamaTokenizer over a byte-level file", err);
        if (registered && !td_str_eq(hub, without_fast(td_str_from(type->registered))))
            return by_registration(type, wrong, hub, ret, err);
    }
    if (tok_class.ptr != NULL)
        return decide(ret, tok_class, "named by tokenizer_config.json", err);
    if (config_class.ptr != NULL) {
        if (resolve(config_class).ptr == NULL)
            return td_fail(err, TD_E_TOKENIZER, "config.json names the unknown class %.*s",
                           (int)config_class.len, config_class.ptr);
        return decide(ret, config_class, "named by config.json", err);
    }
    if (type != NULL && type->own_class[0] != '-')
        return decide(ret, td_str_from(type->own_class), "the model type's class", err);
    return decide(ret, TD_STR(GENERIC), "no class is named", err);
}
