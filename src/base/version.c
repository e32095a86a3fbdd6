#include "tokdrain/base.h"

const char *td_version(void)
{
    return TD_VERSION;
}
