// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The operator library: the algorithms of common operators, as functions on tensors in namespace ashlar::ops. They come without
// schedules. docs/ops.md describes their conventions and the schedule family for each. Sums are computed in accumulator(type):
// f32 for narrower floats, i32 for integers of at most 16 bits, otherwise the type itself. The parameter `where` records the
// caller's line for refusals; leave it at its default.
#include <ashlar/ops/activation.h>
#include <ashlar/ops/attention.h>
#include <ashlar/ops/attention_keys.h>
#include <ashlar/ops/conv.h>
#include <ashlar/ops/conv_forms.h>
#include <ashlar/ops/elementwise.h>
#include <ashlar/ops/image.h>
#include <ashlar/ops/image_sampling.h>
#include <ashlar/ops/image_statistics.h>
#include <ashlar/ops/index.h>
#include <ashlar/ops/loss.h>
#include <ashlar/ops/matmul.h>
#include <ashlar/ops/norm.h>
#include <ashlar/ops/pool.h>
#include <ashlar/ops/quantized.h>
#include <ashlar/ops/random.h>
#include <ashlar/ops/recurrent.h>
#include <ashlar/ops/reduce.h>
#include <ashlar/ops/resize.h>
#include <ashlar/ops/shape.h>
#include <ashlar/ops/sort.h>
