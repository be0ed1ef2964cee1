// y = x + the threads of a block of the target's device: a caller can tell which profile of a device ran.
#include <ashlar/ashlar.h>

using namespace ashlar;

class Profile : public Generator {
 public:
  Symbol N{"N"};
  Input x{"x", i32, {N}};
  Output y{"y", i32, {N}};

  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return x(i) + target().device().max_threads; });
  }
  void schedule(Schedule& s) override {
    auto [block, thread] = s[y].split(s[y].spatial<1>()[0], target().device().max_threads);
    s[y].bind(block, gpu::block_x).bind(thread, gpu::thread_x);
  }
};
ASHLAR_GENERATOR(Profile, "profile");
