// The running sum of a row of floats, as it is defined or in blocks.
#include <ashlar/ashlar.h>

namespace {

using namespace ashlar;

class RunningSum : public Generator {
 public:
  Param<bool> blocks{"blocks", false, "blocks of 4096 elements apart, on all threads"};
  Symbol N{"N"};
  Input x{"x", f32, {N}};
  Output y{"y", f32, {N}};
  Tensor sums;

  void algorithm() override {
    sums = scan("sums", {N}, Along{0}, Combine::add, [&](Var i) { return x(i); });
    y = sums;
  }

  void schedule(Schedule& s) override {
    if (!blocks) {
      s[sums].peel(s[sums].spatial<1>()[0], Peel::first);  // the others have one before them, which stays in a register
      return;
    }
    auto [o, i] = s[sums].split(s[sums].spatial<1>()[0], 4096);
    auto [total, carry, block] = s[sums].associative_scan(o);
    block.compute_at(o).peel(block.spatial<2>()[1], Peel::first);
    s[sums].parallel(o).vectorize(i, s.target().lanes(f32));
    // a total is summed in lanes
    const Loop of_block = total.spatial<1>()[0];
    Stage lanes = total.rfactor(total.split(total.reduction(), s.target().lanes(f32)).inner);
    lanes.compute_at(of_block).store_in(Scope::stack).vectorize(lanes.spatial<2>()[1]);
    total.parallel(of_block);
    (void)carry;
  }
};

ASHLAR_GENERATOR(RunningSum, "scan");

}  // namespace
