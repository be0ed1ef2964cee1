#pragma once
#include <ashlar/lower/lower.h>
