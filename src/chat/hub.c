/* hub.c - names of models in the local Hugging Face cache: models--ORG--NAME/refs/REVISION holds
 * the hash of a folder under snapshots/. Nothing is ever fetched. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "chat/files.h"
#include "chat/model.h"

/* "org/name" -> "models--org--name"; NULL: no such form, or out of memory. */
static char *folder_name(td_arena *a, const char *name)
{
    size_t len = strlen(name), slashes = 0;
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '/')
            slashes++;
        else if ((unsigned char)name[i] <= ' ')
            return NULL;
    }
    if (len == 0 || slashes > 1 || name[0] == '/' || name[0] == '.' || name[len - 1] == '/')
        return NULL;
    char *out = td_arena_array(a, char, len + sizeof "models--" + slashes);
    if (out == NULL)
        return NULL;
    memcpy(out, "models--", 8);
    size_t at = 8;
    for (size_t i = 0; i < len; i++) {
        out[at++] = name[i] == '/' ? '-' : name[i];
        if (name[i] == '/')
            out[at++] = '-';
    }
    out[at] = '\0';
    return out;
}

const char *td_hub_find(td_arena *a, const char *name, const td_model_options *options,
                        td_error *err)
{
    const char *revision = options->revision != NULL ? options->revision : "main";
    const char *cache = options->hub_cache;
    char *folder = folder_name(a, name);
    char *root = folder != NULL && cache != NULL ? td_path_join(a, cache, folder) : NULL;
    if (root == NULL || !td_path_is_dir(root)) {
        if (cache == NULL)
            td_fail(err, TD_E_INPUT, "no model \"%s\": no such directory or file", name);
        else
            td_fail(err, TD_E_INPUT,
                    "no model \"%s\": no such directory or file, and the hub cache %s has none",
                    name, cache);
        return NULL;
    }
    char *snapshots = td_path_join(a, root, "snapshots");
    char *direct = snapshots != NULL ? td_path_join(a, snapshots, revision) : NULL;
    if (direct != NULL && td_path_is_dir(direct))
        return direct;
    char *refs = td_path_join(a, root, "refs");
    td_str hash = { NULL, 0 };
    if (refs != NULL && td_file_read_optional(a, refs, revision, &hash, err) != TD_OK)
        return NULL;
    while (hash.len != 0 && (unsigned char)hash.ptr[hash.len - 1] <= ' ')
        hash.len--;
    if (hash.len != 0 && snapshots != NULL) {
        ((char *)hash.ptr)[hash.len] = '\0'; /* the reader leaves room behind the text */
        char *dir = td_path_join(a, snapshots, hash.ptr);
        if (dir != NULL && td_path_is_dir(dir))
            return dir;
    }
    td_fail(err, TD_E_INPUT, "the local hub cache holds no revision \"%s\" of %s", revision, name);
    return NULL;
}
