// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of rows that begin at multiples of a line of 16 bytes and end anywhere: two loops, which compute what one does, and
// read nothing behind the last element.
#include <ashlar/interp/tiles.h>
#include <ashlar/ir/tile_build.h>

#include "tests/tileir/programs.h"

using namespace tiles;

namespace {

const TileOptions lines{.aligned = true, .chip = "sm_80"};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

std::string kernel(const Schedule& s, const TileOptions& options = lines) {
  return ir::tile::text(lowered(s, options)[0].kernel);
}

std::vector<Sizes> shapes() {
  std::vector<Sizes> all;
  for (const std::int64_t k : {1, 15, 16, 17, 31, 32, 33, 48, 64, 79, 100})
    all.push_back({{"M", 1 + (k * 7) % 40}, {"N", 1 + (k * 5) % 71}, {"K", k}});
  all.insert(all.end(),
             {{{"M", 16}, {"N", 64}, {"K", 64}}, {{"M", 17}, {"N", 65}, {"K", 65}}, {{"M", 3}, {"N", 1}, {"K", 40}}});
  return all;
}

// C(i, j) = sum of A B: with factors as they stand, transposed, or as formulas.
struct Factors {
  lang::DefinitionScope scope;
  Symbol G{"G"}, M{"M"}, N{"N"}, K{"K"};
  Type a, b;
  bool left, right, formula;
  Tensor A = lang::make_input("A", a, left ? std::vector<Extent>{G, K, M} : std::vector<Extent>{G, M, K}),
         B = lang::make_input("B", b, right ? std::vector<Extent>{N, K} : std::vector<Extent>{K, N}),
         C = lang::make_output("C", a.is_float() ? f32 : i32, {G, M, N});
  Tensor product;
  lang::Built built;
  Schedule s;
  Factors(Type first, Type second, bool left_turned, bool right_turned, bool of_formulas)
      : a(first),
        b(second),
        left(left_turned),
        right(right_turned),
        formula(of_formulas),
        product(defined()),
        built((lang::bind(C, product), lang::build_program("factors", {A, B, C}))),
        s(scheduled(built)) {
    auto [g, i, j] = s[product].spatial<3>();
    auto [io, jo, ii, ji] = s[product].tile(i, j, 16, 32);
    auto [ko, ki] = s[product].split(s[product].reduction(), 32);
    s[product].reorder(g, io, jo, ko, ii, ji, ki).bind(g, gpu::block_z).bind(io, gpu::block_x).bind(jo, gpu::block_y);
    s[product].as_tile(ii, ji, ki);
  }

 private:
  Tensor defined() {
    Axis k{"k", K};
    const Type to = a.is_float() ? f32 : i32;
    return compute("product", {G, M, N}, [&](Var g, Var i, Var j) {
      Expr x = left ? A(g, k, i) : A(g, i, k), y = right ? B(j, k) : B(k, j);
      if (formula) x = max(x, ir::cast(a, Expr(0))) + ir::cast(a, Expr(1));
      return sum(ir::cast(to, x) * ir::cast(to, y), k);
    });
  }
};

}  // namespace

TEST_CASE("a product of ragged rows: whole lines in one loop, the last terms in another") {
  const Product op(16, 64, 32);
  const std::string text = kernel(op.s);
  CHECK_MESSAGE(count(text, " = mma ") == 2, text);
  CHECK_MESSAGE(count(text, "view A_tiles = tiles of 16x32 of A as [M, A_lines1], zero outside") == 1, text);
  CHECK_MESSAGE(count(text, "view B_tiles = tiles of 32x64 of B as [A_lines1, B_lines1], zero outside") == 1, text);
  CHECK_MESSAGE(count(text, "view A_tiles2 = tiles of 16x16 of A, zero outside") == 1, text);
  same(op.built, op.s, shapes(), 1e-2, 1e-3, lines);
}

TEST_CASE("ragged products with transposed factors, of a batch, of formulas, of bytes") {
  for (const bool left : {false, true})
    for (const bool right : {false, true})
      for (const bool formula : {false, true})
        for (const auto& [a, b] : {std::pair{bf16, bf16}, {f32, f32}, {i8, i8}}) {
          CAPTURE(left);
          CAPTURE(right);
          CAPTURE(formula);
          CAPTURE(ir::text(a));
          const Factors op(a, b, left, right, formula);
          CHECK(count(kernel(op.s), " = mma ") == 2);
          std::vector<Sizes> all;
          for (Sizes shape : shapes()) shape["G"] = 2, all.push_back(shape);
          same(op.built, op.s, all, 0, 0, lines);
        }
}

TEST_CASE("where one loop does, there is one") {
  CHECK(count(kernel(Product(16, 64, 32, 8).s), " = mma ") == 1);                                    // rows end at lines
  CHECK(count(kernel(Product(16, 64, 32).s, {.aligned = true, .chip = "sm_90"}), " = mma ") == 1);   // copies take any row
  CHECK(count(kernel(Product(16, 64, 32).s, {.aligned = false, .chip = "sm_80"}), " = mma ") == 1);  // nothing begins at lines
  CHECK(count(kernel(Product(16, 64, 32).s, {.aligned = true}), " = mma ") == 2);                    // for any chip
  CHECK(lowered(Product(16, 64, 32).s, {.aligned = true, .chip = "sm_90"})[0].ragged);
  CHECK(!lowered(Product(16, 64, 32, 8).s, lines)[0].ragged);
}

TEST_CASE("rows that overlap are not read beyond their ends: calls with them take another form") {
  const Product op(16, 64, 32);
  const std::vector<TileLaunch> launches = lowered(op.s, lines);
  interp::Arguments args = handmade::arguments_for(op.built.program, {{"M", 16}, {"N", 20}, {"K", 40}});
  for (interp::Actual& a : args) a.array = in_lines(a.array);
  CHECK(args[1].array.strides[0] == 24);
  CHECK(may_take(op.s.scheduled().program, launches, args));
  args[1].array.strides[0] = 16;
  CHECK(!may_take(op.s.scheduled().program, launches, args));
}

TEST_CASE("the interpreter finds a view that reads behind the last element, and a store between rows") {
  for (const bool store : {false, true}) {
    CAPTURE(store);
    ir::tile::Builder b("k");
    const auto n = b.constant_extent(2), columns = b.constant_extent(6), stride = b.constant_extent(8),
               one = b.constant_extent(1);
    const ir::Id x = b.tensor("x", f32, {n, columns}, {stride, one}, 16, false),
                 y = b.tensor("y", f32, {n, columns}, {stride, one}, 16, true), row = b.block(0), zero = b.integer(i32, 0);
    const auto view = [&](ir::Id of, bool wide) {
      using Extents = std::vector<ir::tile::Extent>;
      return b.view(of, {1, 8}, ir::tile::Outside::zero, {}, wide ? Extents{n, b.constant_extent(8)} : Extents{});
    };
    b.store(view(y, store), {row, zero}, b.load(view(x, !store), {row, zero}));
    const ir::tile::Kernel k = std::move(b).kernel();
    ir::tile::verify(k);
    interp::Array from = in_lines(interp::Array::make(f32, {2, 6}, [](auto) { return 1.; })), to = from;
    to.strides = from.strides = {8, 1};
    const auto run = [&](std::int64_t blocks) {
      try {
        interp::run(k, {{&from, &to}, {}, {blocks, 1, 1}});
      } catch (const interp::RunError& e) { return std::string(e.what()); }
      return std::string();
    };
    const std::string first = run(1), both = run(2);
    if (store) CHECK_MESSAGE(first.find("stores between two rows of y") != std::string::npos, first);
    if (!store) CHECK(first == "");
    if (!store) CHECK_MESSAGE(both.find("accesses element 14 of x") != std::string::npos, both);
  }
}

namespace {

// The sum of a term over `length` places, in tiles of 16 x 32 and of 32 terms; A and B as they are given.
template <class Term>
void same_sums(const Symbol& M, const Symbol& N, const Tensor& A, const Tensor& B, const Expr& length, Term term,
               const std::vector<Sizes>& shapes) {
  const Tensor C = lang::make_output("C", f32, {M, N});
  Axis k{"k", length};
  const Tensor result = compute("result", {M, N}, [&](Var i, Var j) { return sum(term(i, j, k), k); });
  const lang::Built built = (lang::bind(C, result), lang::build_program("sums", {A, B, C}));
  Schedule s = scheduled(built);
  auto [i, j] = s[result].spatial<2>();
  auto [io, jo, ii, ji] = s[result].tile(i, j, 16, 32);
  auto [ko, ki] = s[result].split(s[result].reduction(), 32);
  s[result].reorder(io, jo, ko, ii, ji, ki).bind(io, gpu::block_x).bind(jo, gpu::block_y).as_tile(ii, ji, ki);
  same(built, s, shapes, 0, 0, lines);
}

const std::vector<Sizes> ragged_sizes = {
    {{"M", 5}, {"N", 9}, {"K", 40}}, {{"M", 17}, {"N", 33}, {"K", 33}}, {{"M", 1}, {"N", 1}, {"K", 4}}};

}  // namespace

TEST_CASE("products of rows in lines: rows that are a step apart, and a factor that is read at a second place") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K", {.min = 1}};
  const Tensor A = lang::make_input("A", bf16, {M * 2, K}), B = lang::make_input("B", bf16, {K, N}),
               columns = lang::make_input("B", bf16, {K, N * 2}), rows = lang::make_input("A", bf16, {M, K});
  same_sums(M, N, A, B, K, [&](Var i, Var j, const Axis& k) { return f32(A(i * 2, k)) * f32(B(k, j)); }, ragged_sizes);
  same_sums(
      M, N, rows, columns, K, [&](Var i, Var j, const Axis& k) { return f32(rows(i, k)) * f32(columns(k, j * 2)); },
      ragged_sizes);
  same_sums(
      M, N, rows, B, K, [&](Var i, Var j, const Axis& k) { return (f32(rows(i, k)) - f32(rows(i, K - 1))) * f32(B(k, j)); },
      ragged_sizes);
}

TEST_CASE("products of rows in lines: fewer terms than none are none") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, K{"K"};
  const Tensor A = lang::make_input("A", bf16, {M, K}), B = lang::make_input("B", bf16, {N, K});
  std::vector<Sizes> shapes = ragged_sizes;
  for (const std::int64_t k : {0, 1, 2, 3}) shapes.push_back({{"M", 1}, {"N", 1}, {"K", k}});
  same_sums(M, N, A, B, K - 3, [&](Var i, Var j, const Axis& k) { return f32(A(i, k)) * f32(B(j, k)); }, shapes);
}
