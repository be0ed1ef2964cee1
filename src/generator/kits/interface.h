// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What kits need to know of a kernel's interface: a function that takes its inputs and makes its outputs, whose shapes follow
// from those of the inputs.
//
//   Symbol M{"M"}, N{"N"}, K{"K"};  Input A{"A", f32, {M, K + 2}};  Output C{"C", f32, {M, N}};
//
//   solved    M is A.shape[0];  K is A.shape[1] - 2
//   unsolved  N, which no input tells: the function has another parameter for it
//
// Symbols are solved in the order of the inputs and their dimensions, as the runtime does (runtime/desc.h).
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/kernel.h>

#include "generator/kits/index_text.h"

namespace ashlar::generator {

struct KitArgument {
  ir::ArgumentKind kind;
  const ir::Buffer* buffer = nullptr;     // of a tensor
  const ir::ScalarArg* scalar = nullptr;  // of a scalar
  std::string name, python;               // as in messages; as a parameter of a function in Python
  bool is(ir::ArgumentKind k) const { return kind == k; }
};

struct KitSymbol {
  ir::Id id = 0;
  std::size_t argument = 0;  // whose extent along `dim` tells
  std::size_t dim = 0;
  std::string name;  // of a variable, in C and in Python
  Expr value;        // over `told` and symbols that were solved before
};

class KitInterface {
 public:
  // Refused, in the name of `kit`: arguments that are packed by the caller or have two elements to a byte, scalars of types
  // that Python has no numbers for, and functions without an input, by whose place the others are chosen.
  KitInterface(const ir::Kernel&, std::span<const ir::Argument>, const char* kit);

  const std::vector<KitArgument>& arguments() const { return arguments_; }
  const std::vector<KitSymbol>& solved() const { return solved_; }
  const std::vector<ir::Id>& unsolved() const { return unsolved_; }
  std::string symbol_name(ir::Id id) const { return names_.at(id); }
  std::vector<const KitArgument*> all(ir::ArgumentKind) const;
  static constexpr ir::Id told = ~ir::Id{0};  // in KitSymbol::value: the extent that tells

  // "N" or "ashlar_floor_div(told - 2, 4)", where `told` is what the kit writes for the extent.
  std::string value_text(const KitSymbol&, const std::string& told, Syntax) const;
  std::string extent_text(const Expr& extent, Syntax) const;  // over the names of symbols

 private:
  void solve();
  bool solve_one();
  const ir::Kernel& kernel_;
  const char* kit_;
  std::vector<KitArgument> arguments_;
  std::vector<KitSymbol> solved_;
  std::vector<ir::Id> unsolved_;
  IndexNames names_;
};

struct KitFacts {
  std::string ns;  // of the operators: torch.ops.ns
  // Of a kernel that --backward made: the operator whose derivative it is, and how many of its arguments that has in front (all
  // but its outputs) and how many outputs; backward.h has their order. Empty: an operator by itself.
  std::string backward_of;
  std::size_t forward_arguments = 0, forward_outputs = 0;
};
// Of the operator whose derivative a kernel is.
KitInterface forward_interface(const ir::Kernel&, const KitFacts&, const char* kit);

// "scale(x: f32[M, N], gain: f32) -> y: f32[M, N]": what the files of an operator, which one run writes, agree on.
std::string signature_text(const KitInterface&, const std::string& function);

// Refused, in the name of `kit`: a tensor that the caller packs, and one with two elements to a byte.
void require_plain(const ir::Buffer&, const char* kit);
std::pair<std::int64_t, std::int64_t> integer_range(Type);  // of an integer or bool scalar, clamped to int64_t
std::string python_name(std::string name);                  // never a keyword of Python, nor a name that generated modules use

}  // namespace ashlar::generator
