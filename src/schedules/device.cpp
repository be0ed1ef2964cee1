// Programs on devices: cheap stages are inlined, others taken by a family for devices, or a point of them is a thread's.
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

// All stages have threads, or none has: launches and loops of the host do not mix. What the device refuses of the whole, once
// all is scheduled, is tried without families, then left to one thread.
void schedule_on_device(Draft& d) {
  inline_stages(d);
  std::vector<Id> all;
  for (const Id id : analysis::consumers_first(d.program()))
    if (is_untouched(d.program(), d.stage(id))) all.push_back(id);
  const Draft::Told before = d.told();
  std::string why;
  for (const bool families : {true, false}) {
    const auto refused = d.s.attempt([&] {
      std::set<Id> taken;
      for (const Id id : all) {
        if (taken.count(id) || (families && schedule_on_device_by_family(d, id, taken))) continue;
        const Stage stage = d.handle(id);
        if (spatial_of(d.stage(id)).empty() && d.stage(id).is_reduction() && d.options.regroup) {
          over_threads(d, stage);
          d.done(id, "sums of 64 threads");
        } else if (spatial_of(d.stage(id)).empty() && !d.stage(id).is_reduction()) {
          d.done(id, "one thread");  // one value
        } else {
          gpu_points(d.s, stage, {.registers = families}, d.where);
          d.done(id, "a point a thread, blocks of 256 (schedules::gpu_points)");
        }
      }
      schedule::finish(d.s.scheduled(), d.s.target());
    });
    if (!refused) {
      if (!why.empty())
        for (const Id id : all) d.why(id, "no families for devices (" + why + ")");
      return;
    }
    why = refused->primitive + " expects " + refused->expected + ", found " + refused->found;
    d.take_back(before);
  }
  for (const Id id : all) d.done(id, "one thread"), d.why(id, "no launches (" + why + ")");
}

}  // namespace ashlar::schedules
