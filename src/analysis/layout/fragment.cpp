// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a fragment, and its inverse: who holds what, and what is held by whom.
#include <ashlar/analysis/fragment.h>

#include <algorithm>
#include <unordered_map>

#include <ashlar/ir/print.h>

#include <ashlar/analysis/evaluate.h>
#include "analysis/simplify/linear.h"
#include "analysis/simplify/memo.h"
#include "analysis/nodes.h"

namespace ashlar::analysis {

namespace {

constexpr std::int64_t most_elements = 65'536;

std::string index_text(std::span<const std::int64_t> x) {
  std::string s;
  for (std::int64_t v : x) s += (s.empty() ? "" : ", ") + std::to_string(v);
  return "(" + s + ")";
}

bool next(std::vector<std::int64_t>& x, std::span<const std::int64_t> shape) {
  for (std::size_t d = x.size(); d-- > 0;) {
    if (++x[d] < shape[d]) return true;
    x[d] = 0;
  }
  return false;
}

FragmentRead read_fragment(std::span<const Id> vars, std::span<const std::int64_t> shape, const Expr& thread, const Expr& reg,
                           int threads, int copies) {
  const auto no = [](std::string why) { return FragmentRead{std::nullopt, std::move(why)}; };
  if (vars.size() != shape.size()) return no("a fragment needs a variable for each dimension");
  Fragment f;
  f.vars.assign(vars.begin(), vars.end());
  f.shape.assign(shape.begin(), shape.end());
  f.thread = thread;
  f.reg = reg;
  f.threads = threads;
  f.copies = copies;
  Facts facts;
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 1 || (elements *= shape[d]) > most_elements)
      return no("a fragment of 1 to " + std::to_string(most_elements) + " elements");
    facts.bound(vars[d], 0, shape[d] - 1);
  }
  const std::vector<Expr> outputs{thread, reg};
  IndexMapRead read = index_map(vars, outputs, facts);
  if (!read.map) return no(read.why);
  f.map = std::move(*read.map);
  std::vector<std::pair<std::int64_t, std::int64_t>> slots;
  std::vector<std::int64_t> x(shape.size(), 0);
  do {
    const auto at = f.map.at(x);
    if (!at) return no("the fragment depends on more than its index");
    if ((*at)[0] < 0 || (*at)[0] >= threads)
      return no("element " + index_text(x) + " is held by thread " + std::to_string((*at)[0]) + " of " +
                std::to_string(threads));
    if ((*at)[0] & copies)
      return no("element " + index_text(x) + " is held by thread " + std::to_string((*at)[0]) + ", which is a copy");
    if ((*at)[1] < 0) return no("element " + index_text(x) + " is held in register " + std::to_string((*at)[1]));
    slots.emplace_back((*at)[0], (*at)[1]);
    f.registers = std::max(f.registers, static_cast<int>((*at)[1]) + 1);
  } while (next(x, shape));
  std::unordered_map<std::int64_t, std::size_t> held;
  for (std::size_t e = 0; e < slots.size(); ++e) {
    f.element_slot.push_back(slots[e].first * f.registers + slots[e].second);
    const auto [it, fresh] = held.emplace(f.element_slot.back(), e);
    if (fresh) continue;
    const auto index_of = [&](std::size_t k) {
      std::vector<std::int64_t> i(shape.size());
      for (std::size_t d = shape.size(); d-- > 0;) {
        i[d] = static_cast<std::int64_t>(k) % shape[d];
        k /= static_cast<std::size_t>(shape[d]);
      }
      return i;
    };
    return no("elements " + index_text(index_of(it->second)) + " and " + index_text(index_of(e)) + " are both in register " +
              std::to_string(slots[e].second) + " of thread " + std::to_string(slots[e].first));
  }
  return {std::move(f), {}};
}

// Fragments that were read lately: those of a few instructions are asked for at every step of a schedule.
struct RememberedRead {
  std::vector<Id> vars;
  std::vector<std::int64_t> shape;
  Expr thread, reg;
  int threads, copies;
  FragmentRead read;
};
constexpr std::size_t most_fragments = 32;

}  // namespace

FragmentRead fragment(std::span<const Id> vars, std::span<const std::int64_t> shape, const Expr& thread, const Expr& reg,
                      int threads, int copies) {
  thread_local std::vector<RememberedRead> remembered;
  const SameWithNames same;
  for (const RememberedRead& r : remembered) {
    if (r.threads != threads || r.copies != copies || !std::ranges::equal(r.vars, vars) ||
        !std::ranges::equal(r.shape, shape) || !same(r.thread, thread) || !same(r.reg, reg))
      continue;
    FragmentRead read = r.read;
    if (read.fragment) {
      read.fragment->thread = thread;
      read.fragment->reg = reg;
    }
    return read;
  }
  FragmentRead read = read_fragment(vars, shape, thread, reg, threads, copies);
  if (remembered.size() == most_fragments) remembered.clear();
  remembered.push_back({{vars.begin(), vars.end()}, {shape.begin(), shape.end()}, thread, reg, threads, copies, read});
  return read;
}

FragmentRead fragment(const ir::IntrinsicOperand& o, int group) {
  if (o.place != ir::IntrinsicOperand::Place::registers || o.map.size() != 2)
    return {std::nullopt, "operand " + o.name + " is not in registers"};
  return held_by_lanes(o.vars, o.shape, o.map[0], o.map[1], group);
}

FragmentRead held_by_lanes(std::span<const Id> vars, std::span<const std::int64_t> shape, const Expr& thread, const Expr& reg,
                           int threads) {
  FragmentRead read = fragment(vars, shape, thread, reg, threads);
  if (!read.fragment) return read;
  int used = 0;
  for (const std::int64_t slot : read.fragment->element_slot) used |= static_cast<int>(slot / read.fragment->registers);
  const int copies = (threads - 1) & ~used;
  return copies ? fragment(vars, shape, thread, reg, threads, copies) : read;
}

std::optional<std::vector<std::int64_t>> element_of(const Fragment& f, int thread, int reg) {
  if (thread < 0 || thread >= f.threads || reg < 0 || reg >= f.registers) return std::nullopt;
  const std::int64_t slot = static_cast<std::int64_t>(thread & ~f.copies) * f.registers + reg;
  const auto it = std::find(f.element_slot.begin(), f.element_slot.end(), slot);
  if (it == f.element_slot.end()) return std::nullopt;
  std::vector<std::int64_t> index(f.shape.size());
  std::int64_t k = it - f.element_slot.begin();
  for (std::size_t d = index.size(); d-- > 0;) {
    index[d] = k % f.shape[d];
    k /= f.shape[d];
  }
  return index;
}

FragmentInverse inverse(const Fragment& f, const Expr& thread, const Expr& reg) {
  const auto core = inverse(f.map.core);
  if (!core) return {{}, "two elements of the core are held at one place"};
  std::vector<Expr> places{thread, reg};
  if (f.copies) {  // the bits that matter
    Expr sum = ir::index(0);
    for (int b = 0; b < 16; ++b)
      if (!(f.copies >> b & 1) && (1 << b) < f.threads)
        sum = ir::add(sum, ir::mul(ir::mod(ir::div(thread, ir::index(1 << b)), ir::index(2)), ir::index(1 << b)));
    places[0] = sum;
  }
  // Outer digits, from the largest stride down: each is a quotient, if the ones below fit beneath it.
  std::vector<Expr> index(f.shape.size(), ir::index(0));
  std::vector<Expr> rest = places;
  for (std::size_t o = 0; o < 2; ++o) {
    std::vector<const Digit*> own;
    for (const Digit& d : f.map.digits)
      if (d.output == o) own.push_back(&d);
    const auto stride = [](const Digit* d) { return d->stride.node()->i; };
    for (const Digit* d : own)
      if (!ir::is_int(d->stride) || stride(d) <= 0) return {{}, "a stride of " + ir::text(d->stride)};
    std::sort(own.begin(), own.end(), [&](const Digit* a, const Digit* b) { return stride(a) > stride(b); });
    for (std::size_t k = 0; k < own.size(); ++k) {
      std::int64_t below = std::int64_t{1} << f.map.core.out[o];
      for (std::size_t j = k + 1; j < own.size(); ++j) {
        std::int64_t count = (f.shape[own[j]->dim] - 1) / own[j]->divisor + 1;
        if (own[j]->modulus) count = std::min(count, own[j]->modulus);
        below += stride(own[j]) * (count - 1);
      }
      if (below > stride(own[k])) return {{}, "digits of stride " + std::to_string(stride(own[k])) + " overlap those below"};
      const Expr s = ir::index(stride(own[k]));
      Expr& i = index[own[k]->dim];
      i = ir::add(i, ir::mul(ir::div(rest[o], s), ir::index(own[k]->divisor)));
      rest[o] = ir::mod(rest[o], s);
    }
    if (!ir::is_int(f.map.offset[o], std::int64_t{0})) return {{}, "an offset of " + ir::text(f.map.offset[o])};
  }
  FragmentInverse r;
  Facts facts;
  for (const auto& [place, count] : {std::pair{thread, f.threads}, std::pair{reg, f.registers}})
    if (ir::is(place, ir::Op::var)) facts.bound(place.node()->id, 0, count - 1);
  for (std::size_t d = 0; d < index.size(); ++d)
    r.index.push_back(simplify(ir::add(index[d], expression(*core, d, rest)), facts));
  return r;
}

}  // namespace ashlar::analysis
