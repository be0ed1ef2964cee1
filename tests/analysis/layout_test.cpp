// The algebra of layouts against enumeration: what is read of an expression, rank, kernel, inverse, and who is injective.
#include <map>
#include <set>

#include "layouts.h"

namespace ashlar::test {
namespace {

bool one_to_one(const Case& k) {  // by looking at every element
  std::set<std::int64_t> places;
  std::int64_t elements = 0;
  each(k.extents, [&](auto x) { places.insert(k(x)), ++elements; });
  return static_cast<std::int64_t>(places.size()) == elements;
}

void read_is_exact(const Case& k, const IndexMap& m) {
  long wrong = 0;
  each(k.extents, [&](auto x) {
    const auto at = m.at(x);
    wrong += !at || at->front() != k(x);
  });
  CHECK_MESSAGE(wrong == 0, k.name << ": " << ir::text(k.address));
}

void verdicts_are_true(const Case& k, int* unknown) {
  const std::array<Expr, 1> map{k.address};
  const Verdict v = injective_on(k.vars, map, k.box(), {});
  INFO(k.name << ": " << ir::text(k.address) << ": " << v.why);
  *unknown += v.answer == Answer::unknown;
  if (v.answer != Answer::unknown) CHECK((v.answer == Answer::proved) == one_to_one(k));
  if (v.answer == Answer::refuted) {
    const auto a = evaluate(k.address, v.first), b = evaluate(k.address, v.second);
    REQUIRE(a);
    REQUIRE(b);
    CHECK(*a == *b);
    bool differ = false;
    for (std::size_t d = 0; d < k.vars.size(); ++d) differ = differ || v.first[d].value != v.second[d].value;
    CHECK(differ);
  }
}

}  // namespace

TEST_CASE("known layouts are read as digits and a core") {
  for (const Case& k : known_layouts()) {
    const IndexMapRead read = index_map(k.vars, std::array{k.address}, k.facts());
    REQUIRE_MESSAGE(read.map, k.name << ": " << read.why);
    read_is_exact(k, *read.map);
    int unknown = 0;
    verdicts_are_true(k, &unknown);
    CHECK_MESSAGE(unknown == 0, k.name);
  }
}

TEST_CASE("random layouts: what is read is exact, what is said of them is true") {
  int unread = 0, unknown = 0, injective = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const Case k = random_layout(seed);
    const IndexMapRead read = index_map(k.vars, std::array{k.address}, k.facts());
    if (read.map)
      read_is_exact(k, *read.map);
    else
      ++unread;
    verdicts_are_true(k, &unknown);
    injective += one_to_one(k);
  }
  CHECK(unknown == 0);  // the boxes are small: enumeration decides what the algebra leaves open
  MESSAGE("of 1500, " << unread << " have no digits, " << injective << " are layouts");
  CHECK(unread < 300);
  CHECK(injective > 700);
}

TEST_CASE("a swizzled shared tile of any number of rows: what the header says") {
  Facts f;
  f.bound(1, 0, {});
  f.bound(2, 0, 63);
  const IndexMapRead read = index_map(std::array<Id, 2>{1, 2}, std::array{r * 64 + (c ^ (r % 8 * 8))}, f);
  REQUIRE_MESSAGE(read.map, read.why);
  const IndexMap& m = *read.map;
  REQUIRE(m.digits.size() == 1);
  CHECK(m.digits[0].divisor == 8);
  CHECK(ir::is_int(m.digits[0].stride, 512));
  CHECK(m.core.in == std::vector<int>{3, 6});
  CHECK(m.core.columns == std::vector<std::uint64_t>{64 ^ 8, 128 ^ 16, 256 ^ 32, 1, 2, 4, 8, 16, 32});
  CHECK(rank(m.core) == 9);
}

TEST_CASE("symbolic strides and extents") {
  Facts f;
  f.bound(1, 0, {});
  f.bound(2, 0, {});
  f.bound(9, 0, {});
  // panels of 16 columns, S rows
  const Expr panels = c / 16 * (S * 16) + r * 16 + c % 16;
  const IndexMapRead read = index_map(std::array<Id, 2>{1, 2}, std::array{panels}, f);
  REQUIRE_MESSAGE(read.map, read.why);
  for (const std::int64_t rows : {1, 5, 16})
    each(std::array<std::int64_t, 2>{rows, 40}, [&](auto x) {
      const auto at = read.map->at(x, {{9, "S", rows}});
      REQUIRE(at);
      CHECK(at->front() == *evaluate(panels, {{1, "r", x[0]}, {2, "c", x[1]}, {9, "S", rows}}));
    });
  const Verdict v = injective_on(std::array<Id, 2>{1, 2}, std::array{panels}, {{num(0), num(0)}, {S, S * 3}}, f);
  CHECK_MESSAGE(v.answer == Answer::proved, v.why);
  // one row too few
  const Expr overlapping = c / 16 * (S * 16 - num(16)) + r * 16 + c % 16;
  const Verdict w = injective_on(std::array<Id, 2>{1, 2}, std::array{overlapping}, {{num(0), num(0)}, {S, S * 3}}, f);
  CHECK(w.answer != Answer::proved);
}

TEST_CASE("a tile away from the origin is the tile at the origin") {
  const Expr jo = ir::var(7, "jo"), N = ir::var(8, "N");
  Facts f;
  f.bound(8, 1, {});
  f.range(7, num(0), ir::sub(ir::ceil_div(N, num(32)), num(1)));
  const std::array<Id, 2> rc{1, 2};
  const IndexBox tile{{num(0), jo * 32}, {num(16), ir::min(N - jo * 32, num(32))}};
  CHECK(injective_on(rc, std::array{r, c ^ (r % 4 * 8)}, tile, f).step == Step::bits);
  CHECK(injective_on(rc, std::array{r * 33 + c}, tile, f).step == Step::bits);  // padded by one
  CHECK(injective_on(rc, std::array{r, c % 32 ^ (r % 4 * 8)}, tile, f).answer == Answer::proved);
  const Verdict lossy = injective_on(rc, std::array{r, c ^ (c / 8 % 4 * 8)}, tile, f);
  REQUIRE(lossy.answer == Answer::refuted);
  CHECK(lossy.why.find(") both map to (") != std::string::npos);
  CHECK(lossy.why.find("where ") != std::string::npos);
  const auto value = [](const Assignment& a, Id id) {
    for (const Binding& b : a)
      if (b.id == id) return b.value;
    return std::int64_t{-1};
  };
  for (const Assignment& a : {lossy.first, lossy.second}) {  // both in the tile
    CHECK(value(a, 2) >= value(a, 7) * 32);
    CHECK(value(a, 2) < std::min(value(a, 8), value(a, 7) * 32 + 32));
  }
}

TEST_CASE("what is neither digit nor bit-linear is named") {
  Facts f;
  f.bound(1, 0, {});
  f.bound(2, 0, {});
  const IndexMapRead product = index_map(std::array<Id, 2>{1, 2}, std::array{r * c}, f);
  CHECK(!product.map);
  CHECK(product.why == "the term c * r is neither a digit nor bit-linear");
  f.bound(9, -5, 5);
  CHECK(index_map(std::array<Id, 1>{9}, std::array{S}, f).why == "S may be negative");
}

TEST_CASE("matrices over GF(2): rank, kernel, preimage, inverse and the expression of a map") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random g(seed);
    BitLinear m;
    m.in = {static_cast<int>(g.in(0, 4)), static_cast<int>(g.in(0, 4))};
    m.out = {static_cast<int>(g.in(0, 3)), static_cast<int>(g.in(0, 6))};
    const std::uint64_t mask = (std::uint64_t{1} << m.out_bits()) - 1;
    for (int k = 0; k < m.in_bits(); ++k)
      m.columns.push_back(g.coin(3) ? (std::uint64_t{1} << g.in(0, 8)) & mask : g.next() & mask);
    m.constant = g.coin(2) ? 0 : g.next() & mask;
    std::map<std::uint64_t, std::uint64_t> images;
    const std::uint64_t inputs = std::uint64_t{1} << m.in_bits();
    for (std::uint64_t x = 0; x < inputs; ++x) images.emplace(m.image(x), x);
    CHECK((std::uint64_t{1} << rank(m)) == images.size());
    const auto basis = kernel(m);
    CHECK((std::uint64_t{1} << basis.size()) == inputs / images.size());
    for (const std::uint64_t x : basis) {
      CHECK(x != 0);
      CHECK(m.image(x) == m.constant);
    }
    for (std::uint64_t y = 0; y <= mask; ++y) {
      const auto x = preimage(m, y);
      CHECK(x.has_value() == (images.count(y) == 1));
      if (x) CHECK(m.image(*x) == y);
    }
    const auto back = inverse(m);
    CHECK(back.has_value() == basis.empty());
    if (back)
      for (std::uint64_t x = 0; x < inputs; ++x) CHECK(back->image(m.image(x)) == x);
    const std::array<Expr, 2> vars{r, c};
    for (std::size_t o = 0; o < 2; ++o) {
      const Expr e = expression(m, o, vars);
      for (std::int64_t x = 0; x < 1 << m.in[0]; ++x)
        for (std::int64_t y = 0; y < 1 << m.in[1]; ++y)
          CHECK(*evaluate(e, {{1, "r", x}, {2, "c", y}}) == m(std::array{x, y})[o]);
    }
  }
}

}  // namespace ashlar::test
