// y[j] = sum over q, r of x[q, r] w[q, j, r], u8 and i8 in i32: a schedule that takes the instruction that a target has for
// four of these products, and plain vectors where it has none; and a parameter that differs between targets.
#include <ashlar/ashlar.h>
#include <ashlar/instructions/arm.h>
#include <ashlar/instructions/x86.h>

using namespace ashlar;

class Dot : public Generator {
 public:
  Param<int> registers{"registers", 1, {{1, 2, 4}}, "vectors of sums beside each other"};
  Symbol N{"N", {.multiple_of = 64}}, Q{"Q"};
  Input x{"x", u8, {Q, 4}}, w{"w", i8, {Q, N, 4}, {.order = Layout::dense}};
  Output y{"y", i32, {N}};
  Tensor sums;

  void algorithm() override {
    Axis q{"q", Q}, r{"r", 4};
    sums = compute("sums", {{"j", N}}, [&](Var j) { return sum(i32(x(q, r)) * i32(w(q, j, r)), {q, r}); });
    y = compute("y", {{"j", N}}, [&](Var j) { return sums(j); });
  }

  void schedule(Schedule& s) override {
    const Target& t = s.target();
    const int lanes = t.vector_bits() > 0 ? t.lanes(i32) : 4;
    auto [jo, ji] = s[y].split(s[y].spatial<1>()[0], registers * lanes, Tail::exact);
    auto [j_register, j_lane] = s[y].split(ji, lanes, Tail::exact);
    s[y].unroll(j_register).vectorize(j_lane);

    s[sums].compute_at(jo).store_in(Scope::registers);
    auto [half, lane] = s[sums].split(s[sums].spatial<1>()[0], lanes, Tail::exact);
    auto [q, r] = s[sums].reduction<2>();
    const bool x86_dot = t.has("avx512vnni"), arm_dot = t.has("i8mm");
    if (x86_dot || arm_dot) {
      s[sums].reorder(q, half, lane, r).unroll(half).decompose_init(q);
      s[sums].tensorize(lane, x86_dot ? x86::vpdpbusd(lanes) : arm::usdot());
    } else {
      s[sums].reorder(q, r, half, lane).unroll(half).decompose_init(q).vectorize(lane);
    }
    const auto start = s[sums].init().nest();
    s[sums].init().unroll(start[start.size() - 2]).vectorize(start.back());
  }
};
ASHLAR_GENERATOR(Dot, "dot");
