// An LSTM over time as one program, compiled, with its products in vectors: bit for bit what the interpreter says, and what
// plain loops compute.
#include <cmath>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/support/recurrence_cells.h"
#include "tests/uses/tensors.h"

using namespace ashlar;
using cells::Lstm;

TEST_CASE("an LSTM over its steps is one kernel") {
  for (const Target& target : kernels::runnable({"host"})) {
    Lstm m;
    Schedule s(m.built, target);
    auto [t, b, j] = s[m.h].spatial<3>();
    auto [gt, gb, g] = s[m.gates].spatial<3>();
    auto [go, gi] = s[m.gates].split(g, 8);
    s[m.gates].reorder(gb, go, s[m.gates].reduction(), gi).vectorize(gi).parallel(gb);
    s[m.h].vectorize(j, 4);
    auto [xt, xb, xg] = s[m.xw].spatial<3>();
    auto [xo, xi] = s[m.xw].split(xg, 8);
    s[m.xw].reorder(xo, s[m.xw].reduction(), xi).vectorize(xi).parallel(xt);
    schedule::finish(s.scheduled(), target);
    const codegen::Compiled code = codegen::compile(lower(s.scheduled().program, options_for(target)), target);
    for (const auto& [T, B] : {std::pair{9, 3}, {1, 1}, {0, 2}, {4, 0}}) {
      CAPTURE(T);
      CAPTURE(B);
      unsigned seed = 3;
      const auto next = [&](std::size_t) {
        seed = seed * 1664525u + 1013904223u;
        return static_cast<float>(seed >> 16) / 65536.0f - 0.5f;
      };
      Dense<float> x({T, B, Lstm::I}, next), wx({Lstm::I, 4 * Lstm::H}, next), wh({Lstm::H, 4 * Lstm::H}, next),
          bias({4 * Lstm::H}, next), out({T, B, Lstm::H});
      interp::Arguments actual;
      for (Dense<float>* d : {&x, &wx, &wh, &bias, &out}) {
        interp::Array a = interp::Array::zeros(f32, d->shape);
        std::copy_n(reinterpret_cast<const std::byte*>(d->data.data()), a.bytes.size(), a.bytes.begin());
        actual.emplace_back(std::move(a));
      }
      interp::Arguments scheduled = actual;
      interp::run_algorithm(m.built.program, actual);
      interp::run(s.scheduled().program, scheduled);
      CHECK(interp::difference(scheduled[4].array, actual[4].array) == "");
      std::vector<ashlar_tensor> tensors;
      for (Dense<float>* d : {&x, &wx, &wh, &bias, &out}) tensors.push_back(d->tensor());
      std::vector<const void*> arguments;
      for (const ashlar_tensor& tensor : tensors) arguments.push_back(&tensor);
      REQUIRE(code.call(arguments) == ASHLAR_OK);
      interp::Array found = interp::Array::zeros(f32, out.shape);
      std::copy_n(reinterpret_cast<const std::byte*>(out.data.data()), found.bytes.size(), found.bytes.begin());
      CHECK(interp::difference(found, actual[4].array) == "");
      const std::vector<float> plain = Lstm::plain(x.data, wx.data, wh.data, bias.data, T, B);
      REQUIRE(plain.size() == out.data.size());
      float worst = 0;
      for (std::size_t n = 0; n < plain.size(); ++n) worst = std::max(worst, std::abs(plain[n] - out.data[n]));
      CHECK(worst < 1e-5f);
    }
  }
}
