// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Schedules by family: functions that schedule one kind of operator each, in namespace ashlar::schedules. Which function takes
// which operator: docs/ops.md, "Schedules by family". They consist of primitives, with sizes chosen for the registers and
// caches of the target, as an option of 0 asks. Stages are passed as s[tensor] and must have no schedule yet. The comments draw
// the loops that result, outermost first.
#include <ashlar/schedules/attention.h>
#include <ashlar/schedules/attention_decode.h>
#include <ashlar/schedules/by_default.h>
#include <ashlar/schedules/conv.h>
#include <ashlar/schedules/elementwise.h>
#include <ashlar/schedules/gather.h>
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/gpu_attention.h>
#include <ashlar/schedules/gpu_conv.h>
#include <ashlar/schedules/gpu_elementwise.h>
#include <ashlar/schedules/gpu_matmul.h>
#include <ashlar/schedules/gpu_reduction.h>
#include <ashlar/schedules/gpu_rows.h>
#include <ashlar/schedules/gpu_scan.h>
#include <ashlar/schedules/gpu_scatter.h>
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
#include <ashlar/schedules/tile_attention.h>
#include <ashlar/schedules/tile_matmul.h>
#include <ashlar/schedules/tile_points.h>
#include <ashlar/schedules/tile_rows.h>
#include <ashlar/schedules/transpose.h>
