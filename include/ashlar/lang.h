// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The language of algorithms: tensors, index variables, and the ways to define a tensor (docs/language.md), in namespace
// ashlar. Var, Axis and Symbol are in lang/index.h, Tensor in lang/tensor.h, functions such as exp and select in lang/math.h,
// sum and other reductions in lang/reduce.h.
//
// An Operand is a number or a formula. The last parameter of every function, Where, records the caller's line for refusals;
// leave it at its default.
#include <ashlar/lang/boundary.h>
#include <ashlar/lang/compute.h>
#include <ashlar/lang/constant.h>
#include <ashlar/lang/einsum.h>
#include <ashlar/lang/external.h>
#include <ashlar/lang/function.h>
#include <ashlar/lang/gradient.h>
#include <ashlar/lang/recur.h>
#include <ashlar/lang/scan.h>
#include <ashlar/lang/scatter.h>
#include <ashlar/lang/std_names.h>
#include <ashlar/lang/tf32.h>
#include <ashlar/lang/view.h>
