// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a generator needs: the language, schedules, and the generator itself.
#include <ashlar/lang.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/generator/generator.h>
