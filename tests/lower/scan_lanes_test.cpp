// Scans by operators that associate exactly are taken a vector at a time, in the text of the kernel and by its values.
#include "check.h"
#include "launched.h"

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/support/text_parts.h"

using namespace ashlar;

namespace {

using text_parts::count;

struct Running {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x, out;
  lang::Built built;
  Running(Type t, Combine how, bool plain = true, Scan kind = Scan::inclusive)
      : x(lang::make_input("x", t, {N})), out(lang::make_output("out", t, {N})), built(make(how, plain, kind)) {}
  lang::Built make(Combine how, bool plain, Scan kind) {
    lang::bind(out, scan("y", {N}, Along{0}, how, [&](Var i) { return plain ? Expr(x(i)) : x(i / 2) + x(i); }, kind));
    return lang::build_program("running", {lang::ArgumentRef(x), lang::ArgumentRef(out)});
  }
  ir::Kernel kernel(const char* target) {
    Schedule s(built, Target::parse(target));
    schedule::finish(s.scheduled(), s.target());
    return lower(s.scheduled().program, handmade::options_for(s.target()));
  }
};

const std::vector<handmade::Sizes> lengths{{{"N", 0}},  {{"N", 1}},  {{"N", 8}}, {{"N", 9}},
                                           {{"N", 17}}, {{"N", 64}}, {{"N", 83}}};

}  // namespace

TEST_CASE("a running maximum takes a vector of steps: one comparison a doubling, and one with what is before") {
  Running r(f32, Combine::max);
  const ir::Kernel k = r.kernel("x86-64-v3");
  const std::string text = ir::text(k);
  CAPTURE(text);
  CHECK(count(text, "_lanes[ramp8(8, 1)] = max(") == 4);
  for (const char* other : {"_lanes[ramp8(7, 1)])", "_lanes[ramp8(6, 1)])", "_lanes[ramp8(4, 1)])", "x8(out_carried_last[0]))"})
    CHECK(count(text, other) == 1);
  CHECK(count(text, "= max(out_carried[1], x[i0])") == 1);  // what is left over
  handmade::check_kernel(r.built.program, k, lengths);
}

TEST_CASE("integers, bits and narrow numbers; sums of floats keep the order of their terms") {
  for (const Type t : {i32, u32, u8, i16})
    for (const Combine how :
         {Combine::add, Combine::multiply, Combine::max, Combine::min, Combine::bit_or, Combine::bit_and, Combine::bit_xor})
      for (const Scan kind : {Scan::inclusive, Scan::exclusive}) {
        Running r(t, how, true, kind);
        const ir::Kernel k = r.kernel("x86-64-v3");
        CHECK(count(ir::text(k), "_block in") == 1);
        handmade::check_kernel(r.built.program, k, lengths);
      }
  for (const Type t : {f32, f64})
    for (const Combine how : {Combine::max, Combine::min}) {
      Running r(t, how);
      const ir::Kernel k = r.kernel("x86-64-v3");
      CHECK(count(ir::text(k), "_block in") == 1);
      handmade::check_kernel(r.built.program, k, lengths);
    }
  Running sum(f32, Combine::add);
  CHECK(count(ir::text(sum.kernel("x86-64-v3")), "_block in") == 0);
}

TEST_CASE("backwards, and over terms backwards, the same") {
  for (const bool store : {false, true})
    for (const bool load : {false, true}) {
      lang::DefinitionScope scope;
      const Symbol N{"N"};
      const Tensor x = lang::make_input("x", i32, {N}), out = lang::make_output("out", i32, {N});
      lang::bind(out, scan("y", {N}, store ? Along{0}.backwards() : Along{0}, Combine::add,
                           [&](Var i) { return load ? x(N - 1 - i) * 3 + x(i) : Expr(x(i)); }));
      const lang::Built built = lang::build_program("running", {lang::ArgumentRef(x), lang::ArgumentRef(out)});
      Schedule s(built, Target::parse("x86-64-v3"));
      schedule::finish(s.scheduled(), s.target());
      const ir::Kernel k = lower(s.scheduled().program, handmade::options_for(s.target()));
      const std::string text = ir::text(k);
      CAPTURE(text);
      CHECK(count(text, "_block in") == 1);
      const std::size_t at = text.find("  out[ramp8(");
      REQUIRE(at != text.npos);
      CHECK(text.substr(at, text.find(" = ", at) - at).find(", 1)]") != std::string::npos);  // in the order of memory
      handmade::check_kernel(built.program, k, lengths);
    }
}

TEST_CASE("terms that are not neighbors, and steps that read their own results, stay one after the other") {
  Running r(i32, Combine::add, false);  // x(i / 2)
  CHECK(count(ir::text(r.kernel("x86-64-v3")), "_block in") == 0);
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", i32, {N}), out = lang::make_output("out", i32, {N});
  lang::bind(out, recur(
                      "y", {N}, Along{0}, Lag{9}, [&](Var t) { return x(t); },
                      [&](Prior y, Var t) { return max(y(t - 1), y(t - 9) + x(t)); }));
  const lang::Built built = lang::build_program("far", {lang::ArgumentRef(x), lang::ArgumentRef(out)});
  Schedule s(built, Target::parse("x86-64-v3"));
  schedule::finish(s.scheduled(), s.target());
  const ir::Kernel k = lower(s.scheduled().program, handmade::options_for(s.target()));
  CHECK(count(ir::text(k), "_block in") == 0);
  handmade::check_kernel(built.program, k, lengths);
}
