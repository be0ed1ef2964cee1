// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Everything that a generator needs: the language, schedules, and the generator itself (docs/generators.md). In CMake, link
// Ashlar::Generator or use ashlar_add_generator. Two headers are not included here: ashlar/ops.h, the operator library, and
// ashlar/schedules.h, ready-made schedules for kinds of operators.
#include <ashlar/lang.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/generator/generator.h>
