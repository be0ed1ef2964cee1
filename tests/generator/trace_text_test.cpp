#include <ashlar/ashlar.h>
#include <ashlar/ir/print.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>
#include <doctest/doctest.h>

#include "generator/trace_text.h"

using namespace ashlar;
using ashlar::generator::TraceText;

TEST_CASE("a trace has the program once, then what each step changed, and what is gone") {
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), out = lang::make_output("out", f32, {N}),
               other = lang::make_output("other", f32, {N});
  const Tensor twice = compute("twice", {N}, [&](Var i) { return x(i) * 2; });
  const Tensor y = compute("y", {N}, [&](Var i) { return twice(i) + 1; });
  const Tensor z = compute("z", {N}, [&](Var i) { return x(i) - 1; });
  lang::bind(out, y), lang::bind(other, z);
  Schedule s(lang::build_program("p", {x, out, other}), Target::parse("x86-64"));
  TraceText trace;
  const Loop i = s[y].spatial<1>()[0];
  const std::string first = trace.add("first", s.text());
  CHECK(first == "first\n" + s.text() + "\n");
  CHECK(trace.whole() == "");

  s[y].split(i, 8);
  const std::string split = trace.add("split", s.text());
  CAPTURE(split);
  CHECK(split.find("nest y i0 [0, +N)\n  for i0o in (N + 7) / 8\n") != std::string::npos);
  CHECK(split.find("nest z") == std::string::npos);
  CHECK(split.find("program") == std::string::npos);
  CHECK(trace.whole() == s.text());

  s[twice].inline_();
  const std::string inlined = trace.add("inline", s.text());
  CHECK(inlined ==
        "inline\ngone: twice[i0] = x[i0] * 2.0\ngone: alloc twice: f32 in global\ngone: nest twice i0 [0, +N)\n"
        "  out[i0] = x[i0] * 2.0 + 1.0\n\n");
}
