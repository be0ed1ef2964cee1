// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equality of fragments up to names: the register (the thread) in the one is a function of that in the other, the same for all
// elements, and the other way round. Of two linear maps that is a question of kernels; digits beside the core are looked at.
#include <algorithm>

#include <ashlar/analysis/fragment.h>

namespace ashlar::analysis {

namespace {

// One output of a map alone.
BitLinear part(const BitLinear& m, std::size_t o) {
  int first = 0;
  for (std::size_t k = 0; k < o; ++k) first += m.out[k];
  const std::uint64_t mask = m.out[o] >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << m.out[o]) - 1;
  BitLinear r{m.in, {m.out[o]}, {}, m.out[o] ? m.constant >> first & mask : 0};
  for (const std::uint64_t c : m.columns) r.columns.push_back(m.out[o] ? c >> first & mask : 0);
  return r;
}

std::vector<std::int64_t> index_of(const Fragment& f, std::int64_t element) {
  std::vector<std::int64_t> x(f.shape.size());
  for (std::size_t d = x.size(); d-- > 0;) {
    x[d] = element % f.shape[d];
    element /= f.shape[d];
  }
  return x;
}

std::string holder(const Fragment& f, std::span<const std::int64_t> x) {
  const auto at = *f.map.at(x);
  return "register " + std::to_string(at[1]) + " of thread " + std::to_string(at[0]);
}

std::string text(std::span<const std::int64_t> x) {
  std::string s;
  for (std::int64_t v : x) s += (s.empty() ? "" : ", ") + std::to_string(v);
  return s;
}

FragmentMatch differ(const Fragment& a, const Fragment& b, std::vector<std::int64_t> x) {
  FragmentMatch m;
  m.why = "element (" + text(x) + ") is in " + holder(a, x) + ", and in " + holder(b, x);
  m.witness = std::move(x);
  return m;
}

// One output (0 thread, 1 register): the renaming from a to b, or an element at which there is none.
struct Renaming {
  std::vector<int> names;
  std::optional<std::vector<std::int64_t>> broken;
};

Renaming by_kernels(const Fragment& a, const Fragment& b, std::size_t o, int names, bool identity) {
  const BitLinear x = part(a.map.core, o), y = part(b.map.core, o);
  Renaming r;
  const auto element = [&](std::uint64_t packed) {
    std::vector<std::int64_t> e;
    for (const int bits : x.in) {
      e.push_back(bits ? static_cast<std::int64_t>(packed & (~std::uint64_t{0} >> (64 - bits))) : 0);
      packed = bits >= 64 ? 0 : packed >> bits;
    }
    return e;
  };
  if (identity) {
    if (x.constant != y.constant) r.broken = element(0);
    for (std::size_t k = 0; k < x.columns.size() && !r.broken; ++k)
      if (x.columns[k] != y.columns[k]) r.broken = element(std::uint64_t{1} << k);
    if (r.broken) return r;
  }
  for (const auto& [from, to] : {std::pair{&x, &y}, std::pair{&y, &x}})
    for (const std::uint64_t k : kernel(*from))
      if (to->image(k) != to->constant) {  // 0 and k have one name here, two there
        r.broken = element(k);
        return r;
      }
  for (int n = 0; n < names; ++n) {
    const auto e = n >> x.out[0] ? std::nullopt : preimage(x, static_cast<std::uint64_t>(n));
    r.names.push_back(e ? static_cast<int>(y.image(*e)) : -1);
  }
  return r;
}

Renaming by_elements(const Fragment& a, const Fragment& b, std::size_t o, int names, int back_names, bool identity) {
  Renaming r;
  r.names.assign(static_cast<std::size_t>(names), -1);
  std::vector<int> back(static_cast<std::size_t>(back_names), -1);
  for (std::size_t e = 0; e < a.element_slot.size(); ++e) {
    const auto name = [&](const Fragment& f) {
      return static_cast<std::size_t>(o ? f.element_slot[e] % f.registers : f.element_slot[e] / f.registers);
    };
    const std::size_t x = name(a), y = name(b);
    if ((identity && x != y) || (r.names[x] >= 0 && r.names[x] != static_cast<int>(y)) ||
        (back[y] >= 0 && back[y] != static_cast<int>(x))) {
      r.broken = index_of(a, static_cast<std::int64_t>(e));
      return r;
    }
    r.names[x] = static_cast<int>(y);
    back[y] = static_cast<int>(x);
  }
  return r;
}

}  // namespace

FragmentMatch fragments_equal(const Fragment& a, const Fragment& b, bool rename_threads) {
  FragmentMatch m;
  if (a.shape != b.shape) {
    m.why = "shapes " + text(a.shape) + " and " + text(b.shape);
    return m;
  }
  if (a.threads != b.threads || a.copies != b.copies) {
    m.why = "groups of " + std::to_string(a.threads) + " and " + std::to_string(b.threads) + " threads, or other copies";
    return m;
  }
  const bool linear = a.map.bit_linear() && b.map.bit_linear() && a.map.core.in == b.map.core.in;
  for (const std::size_t o : {std::size_t{0}, std::size_t{1}}) {
    const int names = o ? a.registers : a.threads, back = o ? b.registers : b.threads;
    const bool identity = o == 0 && !rename_threads;
    Renaming r = linear ? by_kernels(a, b, o, names, identity) : by_elements(a, b, o, names, back, identity);
    if (r.broken) return differ(a, b, std::move(*r.broken));
    (o ? m.registers : m.threads) = std::move(r.names);
  }
  m.equal = true;
  return m;
}

}  // namespace ashlar::analysis
