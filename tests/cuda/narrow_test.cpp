// Indices of few bits: what is computed in them is right where their condition holds. With 10 to 16 bits in the place of 32,
// small shapes lie on both sides of it, and the interpreter runs them. Operators of tests/support, dense and with gaps between
// rows.
#include <doctest/doctest.h>

#include <ashlar/analysis/evaluate.h>
#include <ashlar/analysis/narrow_indices.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "tests/cuda/programs.h"
#include "tests/support/xorshift.h"

using namespace ashlar;

namespace {

using Sizes = std::map<ir::Id, std::int64_t>;

struct Random {
  std::uint64_t state;
  std::int64_t below(std::int64_t n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<std::int64_t>(state % static_cast<std::uint64_t>(n));
  }
};

std::optional<std::int64_t> value_of(const Expr& e, const Sizes& sizes) {
  analysis::Assignment at;
  for (const auto& [id, v] : sizes) at.push_back({id, "", v});
  return analysis::evaluate(e, at);
}

// Extents of which a few are large, none of them many elements together.
std::optional<Sizes> drawn(const ir::Kernel& k, Random& random) {
  Sizes sizes;
  for (const auto& [id, s] : k.symbols) {
    constexpr std::int64_t tops[] = {4, 20, 70, 300, 1200};
    std::int64_t n = random.below(tops[random.below(5)]);
    n = std::clamp(n, std::max<std::int64_t>(s.min, 0), s.max) / s.multiple_of * s.multiple_of;
    sizes[id] = n;
  }
  std::int64_t all = 0;
  for (const auto& [id, b] : k.argument_buffers) {
    std::int64_t elements = 1;
    for (const Expr& e : b.extents) elements *= value_of(e, sizes).value_or(1 << 20);
    all += elements;
  }
  return all <= 6000 ? std::optional(sizes) : std::nullopt;
}

interp::Arguments arguments_of(const ir::Kernel& k, Sizes& sizes, std::int64_t gap, Random& random) {
  interp::Arguments list;
  for (const ir::Argument& a : k.arguments) {
    if (a.kind == ir::ArgumentKind::scalar) {
      const Type t = k.scalars.at(a.id).type;
      list.emplace_back(t.is_float() ? ir::float_value(t, 0.5) : ir::int_value(t, 3));
      continue;
    }
    const ir::Buffer& b = k.argument_buffers.at(a.id);
    std::vector<std::int64_t> shape;
    for (const Expr& e : b.extents) shape.push_back(value_of(e, sizes).value());
    interp::Array x = interp::Array::make(b.type, shape, [&](auto) { return static_cast<double>(random.below(16)); });
    if (b.order != ir::Buffer::Order::dense && shape.size() > 1) {
      x.strides.assign(shape.size(), 1);
      for (std::size_t d = shape.size() - 1; d-- > 0;)
        x.strides[d] = x.strides[d + 1] * std::max<std::int64_t>(shape[d + 1], 1) + (d + 2 == shape.size() ? gap : 0);
      const std::int64_t elements = std::max<std::int64_t>(shape[0], 1) * x.strides[0];
      std::vector<std::byte> bytes(static_cast<std::size_t>(elements * b.type.bytes()));
      std::copy_n(x.bytes.begin(), std::min(bytes.size(), x.bytes.size()), bytes.begin());
      x.bytes = std::move(bytes);
    }
    for (const ir::StrideArg& s : k.strides)
      if (s.buffer == a.id) {
        std::int64_t dense = 1;
        for (std::size_t d = shape.size(); d-- > static_cast<std::size_t>(s.dim) + 1;)
          dense *= std::max<std::int64_t>(shape[d], 1);
        sizes[s.id] = x.strides.empty() ? dense : x.strides[static_cast<std::size_t>(s.dim)];
      }
    list.emplace_back(std::move(x));
  }
  return list;
}

struct Tally {
  int compared = 0, refused = 0, differ = 0;
};

// Runs that the condition of `allowed` bits lets through, computed in `bits`.
Tally run(const ir::Kernel& k, int bits, int allowed, int count, std::uint64_t seed) {
  Tally tally;
  Random random{seed};
  const analysis::NarrowIndices narrow = analysis::narrow_indices(k, allowed);
  if (ir::is_int(narrow.condition, std::int64_t{0})) return tally;
  const ir::Kernel wrapped = analysis::with_narrow_indices(k, narrow, bits);
  const analysis::NarrowIndices right = analysis::narrow_indices(k, bits);
  for (int n = 0; n < count; ++n) {
    std::optional<Sizes> sizes;
    while (!sizes) sizes = drawn(k, random);
    interp::Arguments expected = arguments_of(k, *sizes, random.below(2) * random.below(40), random);
    interp::Arguments found = expected;
    const auto holds = value_of(narrow.condition, *sizes);
    if (!holds || !*holds || (allowed != bits && value_of(right.condition, *sizes).value_or(0))) {
      ++tally.refused;
      continue;
    }
    try {
      interp::run(k, expected);
    } catch (const interp::RunError& e) {
      if (e.kind != interp::RunError::Kind::arguments) throw;
      continue;
    }
    ++tally.compared;
    bool same = true;
    try {
      interp::run(wrapped, found);
      for (std::size_t a = 0; a < found.size(); ++a)
        same = same && (found[a].is_scalar || found[a].array.bytes == expected[a].array.bytes);
    } catch (const interp::RunError& e) {
      if (bits == allowed) MESSAGE(e.what());
      same = false;
    }
    tally.differ += !same;
  }
  return tally;
}

}  // namespace

TEST_CASE("what the condition lets through is the same in few bits") {
  int compared = 0, refused = 0;
  for (const auto& [name, make] : cuda::operators()) {
    CAPTURE(name);
    const ir::Kernel k = make("cuda-sm_90a");
    for (const int bits : {10, 12, 14}) {
      CAPTURE(bits);
      const Tally tally = run(k, bits, bits, 6, static_cast<std::uint64_t>(bits) * 7919 + 5);
      CHECK(tally.differ == 0);
      compared += tally.compared, refused += tally.refused;
    }
  }
  MESSAGE("compared " << compared << ", refused " << refused);
  CHECK(compared > 150);
  CHECK(refused > 50);
}

TEST_CASE("a condition that is one bit too generous is noticed") {
  int noticed = 0, compared = 0;
  for (const auto& [name, make] : cuda::operators()) {
    const ir::Kernel k = make("cuda-sm_90a");
    for (const int bits : {10, 11}) {
      const Tally tally = run(k, bits, bits + 1, 12, static_cast<std::uint64_t>(bits) * 104729 + 3);
      noticed += tally.differ, compared += tally.compared;
    }
  }
  MESSAGE("noticed " << noticed << " of " << compared);
  CHECK(noticed > 10);
}
