// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// compile: turns a scheduled program into a function in this process, without a generator class.
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
// Meant for tools and tests. If you have a generator class, use instantiate (generator/generator.h).
#include <ashlar/codegen/jit.h>
#include <ashlar/schedule/schedule.h>

namespace ashlar {

// Compiles the scheduled program for its target. Refused: a target that this machine cannot execute, and a schedule that needs
// more stack or registers than the target has.
codegen::Compiled compile(const Schedule&, Where = Where::current());
// Compiles a program as it is. Without a schedule all loops are serial.
codegen::Compiled compile(const ir::Program&, const Target&, Where = Where::current());

}  // namespace ashlar
