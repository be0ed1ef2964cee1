// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Schedules by family: functions that schedule one kind of operator each. They consist of primitives, with parameters from the
// target's table (docs/ops.md, "Schedules by family").
#include <ashlar/schedules/attention.h>
#include <ashlar/schedules/attention_decode.h>
#include <ashlar/schedules/by_default.h>
#include <ashlar/schedules/conv.h>
#include <ashlar/schedules/elementwise.h>
#include <ashlar/schedules/gather.h>
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/gpu_matmul.h>
#include <ashlar/schedules/gpu_reduction.h>
#include <ashlar/schedules/gpu_rows.h>
#include <ashlar/schedules/gpu_stencil.h>
#include <ashlar/schedules/gpu_transpose.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/matmul.h>
#include <ashlar/schedules/matmul_by_size.h>
#include <ashlar/schedules/matmul_bytes.h>
#include <ashlar/schedules/matmul_direct.h>
#include <ashlar/schedules/matmul_dot.h>
#include <ashlar/schedules/matmul_skinny.h>
#include <ashlar/schedules/reduction.h>
#include <ashlar/schedules/rows.h>
#include <ashlar/schedules/stencil.h>
#include <ashlar/schedules/transpose.h>
