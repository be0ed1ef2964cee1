// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What back ends ask of an address: is it base + lane * stride, and of what is it a multiple.
#include <cstdint>
#include <map>
#include <optional>

#include <ashlar/ir/expr.h>

namespace ashlar::codegen {

// A vector of addresses of the form base + lane * stride; both are scalar.
struct Ramp {
  Expr base, stride;
};
std::optional<Ramp> as_ramp(const Expr&);

// a - b, where it is the same number whatever the variables are.
std::optional<std::int64_t> constant_difference(const Expr& a, const Expr& b);

using Multiples = std::map<ir::Id, std::int64_t>;  // variables, and numbers that they are always a multiple of

// A number that the value is always a multiple of; 0 for the constant 0.
std::int64_t known_multiple(const Expr&, const Multiples&);

}  // namespace ashlar::codegen
