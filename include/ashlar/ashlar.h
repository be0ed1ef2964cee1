// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Everything that a generator is written in: the language, the schedule, and the generator itself.
#include <ashlar/lang.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/generator/generator.h>
