// The operators of fixed-point and pixel arithmetic, compiled, against ir/numeric.h: all pairs of 8 bits and random ones of the
// wider types, scalar and in vectors; and the instructions that a machine has for them.
#include <random>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/ir/print.h>

#include "tests/codegen/kernels.h"

using namespace ashlar;
using namespace ashlar::ir;
using kernels::Maker;

namespace {

const auto kOperators = {Op::add_sat,  Op::sub_sat,  Op::halving_add,       Op::rounding_halving_add, Op::halving_sub,
                         Op::abs_diff, Op::mul_high, Op::mul_high_rounding, Op::rounding_shr};

Type result_of(Op op, Type t) { return op == Op::abs_diff ? Type{Type::Code::unsigned_, t.bits} : t; }

// out_n[i] = op_n(a[i], b[i])
ir::Kernel kernel(std::initializer_list<Op> ops, Type t, std::int64_t n, int lanes) {
  Maker m("fixed");
  const ir::Id a = m.tensor("a", t, {ir::index(n)}), b = m.tensor("b", t, {ir::index(n)});
  std::vector<ir::Id> outs;
  for (Op op : ops) outs.push_back(m.tensor(op_name(op), result_of(op, t), {ir::index(n)}, true));
  const Expr i = ir::var(m.fresh(), "i"), first = ir::mul(i, ir::index(lanes));
  const Expr at = lanes == 1 ? first : ir::ramp(first, ir::index(1), lanes);
  std::vector<ir::KStmt> body;
  std::size_t k = 0;
  for (Op op : ops) {
    const Expr args[] = {m.load(a, at), m.load(b, at)};
    body.push_back(kernels::store(outs[k++], at, ir::make(op, result_of(op, t).with_lanes(lanes), args)));
  }
  m.k.body = {kernels::loop(i, ir::index(n / lanes), body)};
  return m.k;
}

void compare(Type t, const std::vector<Value>& a, const std::vector<Value>& b) {
  const std::size_t n = a.size(), bytes = static_cast<std::size_t>(t.bytes());
  std::vector<std::vector<unsigned char>> memory(2 + kOperators.size(), std::vector<unsigned char>(n * bytes));
  for (std::size_t k = 0; k < n; ++k) {
    write_value(memory[0].data() + k * bytes, a[k]);
    write_value(memory[1].data() + k * bytes, b[k]);
  }
  std::vector<std::vector<Value>> want;
  for (Op op : kOperators) {
    want.emplace_back();
    for (std::size_t k = 0; k < n; ++k) {
      const Value args[] = {a[k], b[k]};
      want.back().push_back(*evaluate(op, result_of(op, t), args));
    }
  }
  for (const Target& target : kernels::runnable({"x86-64", "x86-64-v3", "x86-64-v4"}))
    for (int lanes : {1, target.lanes(t)}) {
      std::vector<const void*> args;
      for (auto& m : memory) args.push_back(m.data());
      REQUIRE(codegen::compile(kernel(kOperators, t, static_cast<std::int64_t>(n), lanes), target).run(args.data(), nullptr) ==
              ASHLAR_OK);
      std::size_t c = 0;
      for (Op op : kOperators) {
        int wrong = 0;
        for (std::size_t k = 0; k < n; ++k) {
          const Value got = read_value(result_of(op, t), memory[2 + c].data() + k * bytes);
          if (same_value(got, want[c][k]) || wrong++) continue;
          MESSAGE(target.text() << " " << op_name(op) << " of " << ir::text(t) << " in " << lanes
                                << " lanes: " << ir::text(a[k]) << ", " << ir::text(b[k]) << " gives " << ir::text(got)
                                << ", expected " << ir::text(want[c][k]));
        }
        CHECK(wrong == 0);
        ++c;
      }
    }
}

}  // namespace

TEST_CASE("all pairs of 8 bits") {
  for (Type t : {i8, u8}) {
    std::vector<Value> a, b;
    for (int x = 0; x < 256; ++x)
      for (int y = 0; y < 256; ++y) a.push_back(int_value(t, x)), b.push_back(int_value(t, y));
    compare(t, a, b);
  }
}

TEST_CASE("edges and random pairs of the wider types") {
  std::mt19937_64 random(3);
  for (Type t : {i16, u16, i32, u32, i64, u64}) {
    std::vector<Value> edges, a, b;
    for (std::int64_t v : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, lowest_of(t), highest_of(t), lowest_of(t) + 1,
                           std::int64_t{1} << (t.bits / 2)})
      edges.push_back(int_value(t, v));
    for (const Value& x : edges)
      for (const Value& y : edges) a.push_back(x), b.push_back(y);
    while (a.size() < 4096) {
      a.push_back(int_value(t, static_cast<std::int64_t>(random())));
      b.push_back(int_value(t, static_cast<std::int64_t>(random() >> random() % 64)));
    }
    compare(t, a, b);
  }
}

TEST_CASE("a vector of them is the machine's instruction") {
  struct Row {
    Op op;
    Type t;
    const char* instruction;
  };
  const Target target = Target::parse("x86-64-v3");
  for (const Row& row : {Row{Op::rounding_halving_add, u8, "vpavgb"}, Row{Op::rounding_halving_add, u16, "vpavgw"},
                         Row{Op::add_sat, i8, "vpaddsb"}, Row{Op::add_sat, u8, "vpaddusb"}, Row{Op::add_sat, i16, "vpaddsw"},
                         Row{Op::add_sat, u16, "vpaddusw"}, Row{Op::sub_sat, i8, "vpsubsb"}, Row{Op::sub_sat, u8, "vpsubusb"},
                         Row{Op::sub_sat, i16, "vpsubsw"}, Row{Op::sub_sat, u16, "vpsubusw"}, Row{Op::mul_high, i16, "vpmulhw"},
                         Row{Op::mul_high, u16, "vpmulhuw"}, Row{Op::mul_high_rounding, i16, "vpmulhrsw"},
                         Row{Op::abs_diff, u8, "vpminub"}, Row{Op::abs_diff, i32, "vpmaxsd"}}) {
    const std::string text =
        codegen::emit(kernel({row.op}, row.t, 1024, target.lanes(row.t)), target, codegen::Output::assembly);
    CHECK_MESSAGE(text.find(row.instruction) != text.npos, op_name(row.op)
                                                               << " of " << ir::text(row.t) << " without " << row.instruction);
  }
}
