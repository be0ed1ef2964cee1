// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Schedule families: each function in namespace ashlar::schedules schedules one kind of operator. docs/ops.md, "Schedules by
// family", says which function suits which operator. A family is built from primitives. An option left at 0 lets it choose the
// size from the registers and caches of the target. Negative sizes are refused, and so are lanes and accumulators that must
// be a power of two and are not. Pass stages as s[tensor]; they must not have a schedule yet. The comments draw the resulting
// loops, outermost first.
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
