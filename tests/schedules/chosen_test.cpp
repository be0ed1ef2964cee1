// What families and schedules by default choose for processors that nobody needs to have: sizes of tiles and blocks, stores
// past the caches, and the choices in words, as goldens. A change here is a change of what runs there.
#include <sstream>

#include <doctest/doctest.h>

#include <ashlar/lang/build_program.h>
#include <ashlar/ops.h>
#include <ashlar/schedules.h>
#include <ashlar/schedules/by_default.h>

#include "apps/unsharp/unsharp.h"
#include "tests/golden.h"
#include "tests/ops/check.h"

namespace {

using namespace ashlar;
using ops_test::Maker;
using Steps = std::function<void(Schedule&)>;
using Program = std::function<Steps(Maker&)>;

constexpr const char* targets[] = {"x86-64-v3", "zen3", "zen4", "zen5", "sapphire-rapids", "neoverse-n1", "neoverse-v2"};

// Of a trace the steps that hold a number which was chosen: "split(i of C, 13, shift, keep)".
std::string numbers(const std::string& trace) {
  std::istringstream lines(trace);
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    const std::string step = line.substr(0, line.find(") "));
    const std::string word = step.substr(0, step.find('('));
    if (word == "split" || word == "tile" || word == "stream_store" || word == "prefetch" || word == "specialize" ||
        word == "fold")
      all += "  " + step + (step.find(')') == step.npos ? ")" : "") + "\n";
  }
  return all;
}

template <class E>  // Symbol, or numbers
Program product(E m, E n, E k) {
  return [=](Maker& maker) -> Steps {
    const Tensor A = maker.in("A", f32, {m, k}), B = maker.in("B", f32, {k, n});
    Axis r("k", k);
    const Tensor C = compute("C", {{"i", m}, {"j", n}}, [&](Var i, Var j) { return sum(A(i, r) * B(r, j), r); });
    maker.out(C);
    return [=](Schedule& s) { schedules::matmul_by_size(s, s[C], A, B); };
  };
}
Program layer(int size, int channels, const Target& target) {
  const int block = 2 * target.lanes(f32);
  return [=](Maker& m) -> Steps {
    const Tensor x = m.in("x", f32, {1, channels / 32, size, size, 32}),
                 w = m.in("w", f32, {channels / block, channels / 32, 3, 3, 32, block});
    const Tensor rim = ops::pad(x, {0, 0, {1, 1}, {1, 1}, 0});
    const Tensor y = ops::conv2d(rim, w, {}, {.layout = ops::Layout::channels_blocked});
    m.out(y);
    return [=](Schedule& s) {
      schedules::rim(s, s[rim], 1, 1);
      schedules::conv2d(s, s[y], w);
    };
  };
}
Program turned(Type t) {
  return [=](Maker& m) -> Steps {
    const Symbol M{"M"}, N{"N"};
    const Tensor x = m.in("x", t, {M, N});
    const Tensor y = compute("y", {{"i", N}, {"j", M}}, [&](Var i, Var j) { return x(j, i); });
    m.out(y);
    return [=](Schedule& s) { schedules::transpose(s, s[y], x); };
  };
}
Program depthwise() {
  return [](Maker& m) -> Steps {
    const Tensor x = m.in("x", f32, {1, 56, 56, 144}), w = m.in("w", f32, {3, 3, 144, 1});
    const Tensor y = ops::depthwise_conv2d(x, w, {}, {.padding = {1, 1}, .layout = ops::Layout::channels_last}).sum;
    m.out(y);
    return [=](Schedule& s) { schedules::stencil(s, s[y], {.channels_last = true}); };
  };
}
Program relu(std::int64_t n) {
  return [=](Maker& m) -> Steps {
    m.out(ops::relu(m.in("x", f32, {n, 4096})));
    return nullptr;
  };
}
Program softmax() {
  return [](Maker& m) -> Steps {
    const Symbol M{"M"}, N{"N"};
    m.out(ops::softmax(m.in("x", f32, {M, N})).result);
    return nullptr;
  };
}

// The same program, whose schedule is the default one.
Program by_default(const Program& p) {
  return [=](Maker& m) -> Steps {
    p(m);
    return nullptr;
  };
}

std::string chosen(const Program& build, const Target& target) {
  lang::DefinitionScope scope;
  Maker m;
  const Steps steps = build(m);
  std::vector<lang::ArgumentRef> arguments;
  for (const Maker::Input& in : m.inputs) arguments.emplace_back(in.tensor);
  for (const Tensor& t : m.results) {
    const Tensor out = lang::make_output("result", t.type(), t.shape().extents());
    lang::bind(out, t);
    arguments.emplace_back(out);
  }
  Schedule s(lang::build_program("chosen", arguments), target);
  if (!steps) return schedule_by_default(s).text();
  steps(s);
  return numbers(s.trace());
}

}  // namespace

TEST_CASE("what families choose for processors that are not here") {
  for (const char* name : targets) {
    const Target target = Target::parse(name);
    std::string all;
    const auto add = [&](const std::string& what, const std::string& text) { all += what + "\n" + text; };
    add("product of any size", chosen(product(Symbol{"M"}, Symbol{"N"}, Symbol{"K"}), target));
    add("3 x 3, 56 x 56 x 64", chosen(layer(56, 64, target), target));
    add("3 x 3, 14 x 14 x 256", chosen(layer(14, 256, target), target));
    add("3 x 3, 7 x 7 x 512", chosen(layer(7, 512, target), target));
    add("transposition, f32", chosen(turned(f32), target));
    add("transposition, u8", chosen(turned(u8), target));
    add("depthwise, 56 x 56 x 144", chosen(depthwise(), target));
    add("unsharp mask", numbers(instantiate<unsharp::Unsharp>(target, {{"stream", "true"}}).trace()));
    CHECK(golden("schedules/chosen/" + std::string(target.base()) + ".txt", all) == "");
  }
}

TEST_CASE("what schedules by default choose for processors that are not here") {
  for (const char* name : targets) {
    const Target target = Target::parse(name);
    std::string all;
    const auto add = [&](const std::string& what, const std::string& text) { all += "# " + what + "\n" + text; };
    add("product, 256 cubed", chosen(by_default(product(256, 256, 256)), target));
    add("product, 1024 cubed", chosen(by_default(product(1024, 1024, 1024)), target));
    add("3 x 3, 14 x 14 x 256", chosen(by_default(layer(14, 256, target)), target));
    add("transposition", chosen(by_default(turned(f32)), target));
    add("relu of 16 MB", chosen(relu(1024), target));
    add("relu of 64 MB", chosen(relu(4096), target));
    add("softmax", chosen(softmax(), target));
    CHECK(golden("schedules/chosen/" + std::string(target.base()) + "-default.txt", all) == "");
  }
}

TEST_CASE("caches that a user states are what is chosen by") {
  const Program any = product(Symbol{"M"}, Symbol{"N"}, Symbol{"K"});
  CHECK(chosen(any, Target::parse("zen4+l2:512K")) != chosen(any, Target::parse("zen4")));
  CHECK(chosen(any, Target::parse("zen4+l2:1M+l1:32768")) == chosen(any, Target::parse("zen4")));
}
