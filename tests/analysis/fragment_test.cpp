// Fragments of the instructions (PTX ISA: "Matrix Fragments for mma.m16n8k16", "ldmatrix", "wgmma, register fragments"):
// inverse, equality against a look at every element, and random ones.
#include <ashlar/analysis/fragment.h>
#include <ashlar/ir/intrinsics.h>

#include "layouts.h"

namespace ashlar::test {
namespace {

const Expr t = ir::var(30, "t"), s = ir::var(31, "s");

Fragment operand(const ir::Intrinsic& f, const char* name) {
  for (const ir::IntrinsicOperand& o : f.operands)
    if (o.name == name) {
      FragmentRead read = fragment(o, f.group);
      REQUIRE_MESSAGE(read.fragment, read.why);
      return *read.fragment;
    }
  FAIL("no operand " << std::string(name));
  return {};
}

std::pair<std::int64_t, std::int64_t> holder(const Fragment& f, std::span<const std::int64_t> x) {
  Assignment at;
  for (std::size_t d = 0; d < f.vars.size(); ++d) at.push_back({f.vars[d], "", x[d]});
  return {*evaluate(f.thread, at), *evaluate(f.reg, at)};
}

void inverse_is_right(const Fragment& f) {
  const FragmentInverse back = inverse(f, t, s);
  REQUIRE_MESSAGE(back.index.size() == f.shape.size(), back.why);
  each(f.shape, [&](auto x) {
    const auto [thread, reg] = holder(f, x);
    REQUIRE(element_of(f, static_cast<int>(thread), static_cast<int>(reg)) == std::vector<std::int64_t>(x.begin(), x.end()));
    for (std::int64_t copy = 0; copy < f.threads; ++copy) {
      if ((copy & ~f.copies) != thread) continue;
      for (std::size_t d = 0; d < x.size(); ++d) REQUIRE(*evaluate(back.index[d], {{30, "t", copy}, {31, "s", reg}}) == x[d]);
    }
  });
}

// By looking at every element: is there a renaming?
bool same_up_to_names(const Fragment& a, const Fragment& b, bool threads_too) {
  std::map<std::int64_t, std::int64_t> to[2], from[2];
  bool same = true;
  each(a.shape, [&](auto x) {
    const auto [ta, ra] = holder(a, x);
    const auto [tb, rb] = holder(b, x);
    if (!threads_too) same = same && ta == tb;
    for (const auto& [k, p, q] : {std::tuple{0, ta, tb}, std::tuple{1, ra, rb}}) {
      same = same && to[k].emplace(p, q).first->second == q;
      same = same && from[k].emplace(q, p).first->second == p;
    }
  });
  return same;
}

std::optional<Fragment> random_fragment(std::uint64_t seed) {  // bits of (r, c) dealt to thread and register
  Random g(seed);
  const int rows = static_cast<int>(g.in(1, 3)), columns = static_cast<int>(g.in(1, 3));
  std::vector<Expr> bits;
  for (int k = 0; k < rows; ++k) bits.push_back(r / (std::int64_t{1} << k) % 2);
  for (int k = 0; k < columns; ++k) bits.push_back(c / (std::int64_t{1} << k) % 2);
  for (std::size_t i = bits.size(); i > 1; --i)
    std::swap(bits[i - 1], bits[static_cast<std::size_t>(g.in(0, static_cast<std::int64_t>(i) - 1))]);
  Expr thread = num(0), reg = num(0);
  const std::int64_t in_thread = g.in(0, static_cast<std::int64_t>(bits.size()));
  for (std::size_t k = 0; k < bits.size(); ++k) {
    const auto at = static_cast<std::int64_t>(k);
    Expr bit = bits[k];
    if (k && g.coin(3)) bit = bit ^ bits[k - 1];
    Expr& place = at < in_thread ? thread : reg;
    place = place + bit * (std::int64_t{1} << (at < in_thread ? at : at - in_thread));
  }
  const std::array<Id, 2> vars{1, 2};
  return fragment(vars, std::array<std::int64_t, 2>{1 << rows, 1 << columns}, thread, reg, 64).fragment;
}

}  // namespace

TEST_CASE("fragments of the instructions and their inverses") {
  for (const Type type : {f16, bf16})
    for (const char* name : {"d", "a", "b"}) {
      const Fragment f = operand(ir::mma_m16n8k16(type), name);
      CHECK(f.map.bit_linear());
      CHECK(f.registers == (name[0] == 'a' ? 8 : 4));
      inverse_is_right(f);
    }
  for (const int matrices : {1, 2, 4})
    for (const bool transposed : {false, true}) inverse_is_right(operand(ir::ldmatrix(f16, matrices, transposed), "to"));
  for (const int width : {8, 24, 64, 200, 256}) {
    const Fragment f = operand(ir::wgmma(width, f16, true), "d");
    CHECK(f.registers == width / 2);
    inverse_is_right(f);
  }
  inverse_is_right(operand(ir::wgmma(64, bf16, true), "a"));
}

TEST_CASE("the inverse reads as index arithmetic") {
  const FragmentInverse back = inverse(operand(ir::mma_m16n8k16(f16), "d"), t, s);
  CHECK(ir::text(back.index[0]) == "s / 2 * 8 + t / 4");
  CHECK(ir::text(back.index[1]) == "t % 4 * 2 + s % 2");
}

TEST_CASE("a replicated fragment: a column that four threads hold") {
  const std::array<Id, 1> vars{1};
  const FragmentRead f = fragment(vars, std::array<std::int64_t, 1>{16}, r % 8 * 4, r / 8, 32, 3);
  REQUIRE_MESSAGE(f.fragment, f.why);
  inverse_is_right(*f.fragment);
  CHECK(element_of(*f.fragment, 5, 1) == std::vector<std::int64_t>{9});
  CHECK(element_of(*f.fragment, 7, 1) == std::vector<std::int64_t>{9});
}

TEST_CASE("what is no fragment") {
  const std::array<Id, 2> vars{1, 2};
  const std::array<std::int64_t, 2> shape{8, 8};
  CHECK(fragment(vars, shape, r, c / 2, 32).why == "elements (0, 0) and (0, 1) are both in register 0 of thread 0");
  CHECK(fragment(vars, shape, r * 8, c, 32).why == "element (4, 0) is held by thread 32 of 32");
  CHECK(fragment(vars, shape, r, c - num(1), 32).why == "element (0, 0) is held in register -1");
  CHECK(fragment(vars, shape, r, c, 32, 1).why == "element (1, 0) is held by thread 1, which is a copy");
  CHECK(fragment(vars, shape, r * c, c, 32).why.find("neither a digit nor bit-linear") != std::string::npos);
}

TEST_CASE("equality up to names: random pairs") {
  int equal = 0, pairs = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto a = random_fragment(seed), b = random_fragment(seed * 31 + 7);
    if (!a || !b || a->shape != b->shape) continue;
    for (const bool threads_too : {false, true}) {
      ++pairs;
      const FragmentMatch m = fragments_equal(*a, *b, threads_too);
      INFO(ir::text(a->thread) << ", " << ir::text(a->reg) << " and " << ir::text(b->thread) << ", " << ir::text(b->reg) << ": "
                               << m.why);
      REQUIRE(m.equal == same_up_to_names(*a, *b, threads_too));
      equal += m.equal;
      if (m.equal)
        each(a->shape, [&](auto x) {
          const auto [ta, ra] = holder(*a, x);
          const auto [tb, rb] = holder(*b, x);
          REQUIRE(m.registers[static_cast<std::size_t>(ra)] == rb);
          REQUIRE(m.threads[static_cast<std::size_t>(ta)] == tb);
        });
      else
        CHECK(m.witness.size() == 2);
    }
    // itself, with its registers in another order
    const auto same = fragments_equal(*a, *a);
    CHECK(same.equal);
  }
  CHECK(pairs > 300);
  CHECK(equal > 20);
}

TEST_CASE("renamed registers and threads are found; another distribution is shown by an element") {
  const Fragment d = operand(ir::mma_m16n8k16(f16), "d");
  const Expr i = ir::var(d.vars[0], "i"), j = ir::var(d.vars[1], "j");
  const Fragment swapped = *fragment(d.vars, d.shape, d.thread, j % 2 * 2 + i / 8, 32).fragment;
  const FragmentMatch m = fragments_equal(d, swapped);
  REQUIRE(m.equal);
  CHECK(m.registers == std::vector<int>{0, 2, 1, 3});
  const Fragment turned = *fragment(d.vars, d.shape, i % 8 + j / 2 * 8, d.reg, 32).fragment;
  CHECK(!fragments_equal(d, turned).equal);
  CHECK(fragments_equal(d, turned).why == "element (1, 0) is in register 0 of thread 4, and in register 0 of thread 1");
  CHECK(fragments_equal(d, turned, true).equal);
  CHECK(fragments_equal(d, operand(ir::mma_m16n8k16(f16), "a")).why == "shapes 16, 8 and 16, 16");
}

}  // namespace ashlar::test
