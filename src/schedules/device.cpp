// Programs on devices: cheap stages are inlined, of each other one a point is a thread's.
#include <ashlar/schedules/gpu.h>

#include "schedules/draft.h"

namespace ashlar::schedules {

namespace {

// One result: the threads of a block have sums of their own.
void over_threads(Draft& d, const Stage& stage) {
  const auto terms = whole_loops(d, stage, true);
  const Split split = stage.split(terms.back(), 64, Tail::guard, d.where);
  stage.cross_thread_reduce(split.inner, d.where).bind(split.inner, gpu::thread_x, d.where);
}

}  // namespace

// All stages have threads, or none has: launches and loops of the host do not mix.
void schedule_on_device(Draft& d) {
  inline_stages(d);
  std::vector<Id> all;
  for (const Id id : analysis::consumers_first(d.program()))
    if (is_untouched(d.program(), d.stage(id))) all.push_back(id);
  std::map<Id, std::string> done;
  const auto refused = d.s.attempt([&] {
    for (const Id id : all) {
      const Stage stage = d.handle(id);
      if (spatial_of(d.stage(id)).empty() && d.stage(id).is_reduction() && d.options.regroup) {
        over_threads(d, stage);
        done[id] = "sums of 64 threads";
      } else {
        gpu_points(d.s, stage, {}, d.where);
        done[id] = "a point a thread, blocks of 256 (schedules::gpu_points)";
      }
    }
    schedule::finish(d.s.scheduled(), d.s.target());
  });
  for (const Id id : all) {
    if (!refused) {
      d.done(id, done.at(id));
      continue;
    }
    d.done(id, "one thread");
    d.why(id, "no launches (" + refused->primitive + " expects " + refused->expected + ", found " + refused->found + ")");
  }
}

}  // namespace ashlar::schedules
