/* proof.h - which entries of a BPE vocabulary are what merging makes of their own text.
 *
 * Mostly all are, so that a word that is an entry needs no merging; but a file may hold entries
 * that merging never reaches, or reaches as parts of others only. An entry is taken only on proof,
 * which is found when the entry is first asked for: its one merge, and those of its parts, form a
 * tree. Merging follows the tree if ranks rise towards its root, and if at each boundary between
 * two parts no merge across it comes before those that use up its sides. Entries for which that
 * is not so, or which several merges make, count as not proven. */
#ifndef TD_SRC_TOKENIZER_PROOF_H
#define TD_SRC_TOKENIZER_PROOF_H

#include <stdatomic.h>

#include "tokenizer/model/bpe.h"

/* How an entry is made. */
typedef struct tk_parent {
    td_id left, right;
    uint32_t rank; /* TK_NO_PARENT: by no merge; TK_MANY_PARENTS: by several */
} tk_parent;

#define TK_NO_PARENT UINT32_MAX
#define TK_MANY_PARENTS (UINT32_MAX - 1)

typedef struct tk_proof {
    const tk_bpe *bpe;
    tk_parent *parents;     /* of each id */
    _Atomic uint8_t *known; /* of each id; the same for all threads, whoever finds it */
    bool chars;             /* symbols are all characters of the vocabulary */
} tk_proof;

/* chars: see tk_proof; else each symbol is to be set. No id may stand for two texts. false: out of
 * memory. */
bool tk_proof_start(tk_proof *p, const tk_bpe *bpe, bool chars);
void tk_proof_done(void *proof);

/* Says that id is a symbol that words are spelled with. */
void tk_proof_set_symbol(const tk_proof *p, td_id id);

/* Whether merging the text of an entry certainly gives the entry. */
bool tk_proof_find(const tk_proof *p, td_id id, uint32_t depth);

enum { TK_PROOF_UNKNOWN, TK_PROOF_YES, TK_PROOF_NO };

static inline bool tk_is_proven(const tk_proof *p, td_id id)
{
    uint8_t known = atomic_load_explicit(&p->known[id], memory_order_relaxed);
    return known != TK_PROOF_UNKNOWN ? known == TK_PROOF_YES : tk_proof_find(p, id, 0);
}

#endif
