// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// From a scheduled program to a function in this process, without a generator class.
//
//   lang::DefinitionScope scope;
//   Symbol N{"N"};
//   Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
//   lang::bind(y, compute("y", {N}, [&](Var i) { return x(i) * 2; }));
//   Schedule s(lang::build_program("twice", {x, y}), Target::host());
//   s[y].vectorize(s[y].spatial<1>()[0], 8);
//   codegen::Compiled twice = compile(s);
//   const void* arguments[] = {&tx, &ty};                  // ashlar_tensor*, or the address of a scalar
//   if (twice.call(arguments) != ASHLAR_OK) …
//
// For tools and tests; a generator written as a class is instantiated (generator/generator.h).
#include <ashlar/codegen/jit.h>
#include <ashlar/schedule/schedule.h>

namespace ashlar {

// Refused: capacities that the schedule does not keep, and a target that this machine cannot execute.
codegen::Compiled compile(const Schedule&, Where = Where::current());
// A program as it stands, every loop serial if it was never scheduled.
codegen::Compiled compile(const ir::Program&, const Target&, Where = Where::current());

}  // namespace ashlar
