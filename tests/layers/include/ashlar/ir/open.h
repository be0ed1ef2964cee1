#pragma once
#include <ashlar/ir/own.h>
