#pragma once
// Everything that a generator is written in.
#include <ashlar/lang.h>
