// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a generator needs: the language, schedules, and the generator itself (docs/generators.md). In CMake, link
// Ashlar::Generator, or use ashlar_add_generator. Two headers are not included here: ashlar/ops.h has operators, and
// ashlar/schedules.h has ready-made schedules for kinds of operators.
#include <ashlar/lang.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/generator/generator.h>
