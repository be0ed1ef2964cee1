// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fragments of fewer elements than another one, each held by all lanes that hold an element beside it.
#include <ashlar/analysis/fragment.h>

#include <algorithm>
#include <numeric>
#include <set>

#include <ashlar/ir/print.h>

namespace ashlar::analysis {

namespace {

// Digits of the elements of `whole` that `part` does not have.
int lanes_beside(const Fragment& whole, const Fragment& part, std::span<const std::vector<std::int64_t>> own) {
  int bits = whole.copies;
  for (std::size_t e = 0; e < own.size(); ++e) {
    const auto lane = static_cast<int>(whole.element_slot[e] / whole.registers);
    const auto at = part.map.at(own[e]);
    bits |= lane ^ static_cast<int>((*at)[0]);
  }
  return bits;
}

}  // namespace

FragmentRead part_of_fragment(const Fragment& whole, std::span<const ir::Id> vars, std::span<const std::int64_t> shape,
                              std::span<const Expr> at, std::span<const std::vector<std::int64_t>> own) {
  ir::Substitution to;
  for (std::size_t d = 0; d < whole.vars.size(); ++d) to.emplace_back(whole.vars[d], at[d]);
  const Expr thread = ir::substitute(whole.thread, to);
  Expr reg = ir::substitute(whole.reg, to);
  const auto read = [&](int copies) { return fragment(vars, shape, thread, reg, whole.threads, copies); };
  FragmentRead part = read(0);
  if (!part.fragment) return part;
  std::set<std::int64_t> registers;
  for (const std::int64_t slot : part.fragment->element_slot) registers.insert(slot % part.fragment->registers);
  std::int64_t apart = 0;
  for (const std::int64_t r : registers) apart = std::gcd(apart, r);
  if (apart > 1) reg = ir::div(reg, ir::index(apart));  // those between belong to elements that it does not have
  part = read(0);
  if (!part.fragment) return part;
  return read(lanes_beside(whole, *part.fragment, own));
}

}  // namespace ashlar::analysis
