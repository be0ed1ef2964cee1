#pragma once
// Types and expressions.
#include <ashlar/lang/math.h>
