#include "apps/unsharp/unsharp.h"

ASHLAR_GENERATOR(unsharp::Unsharp, "unsharp");
