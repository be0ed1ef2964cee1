// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/report/figures.h>

#include <algorithm>

#include <ashlar/analysis/evaluate.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/text.h>
#include <ashlar/schedule/step.h>

#include "report/count.h"
#include "report/device_figures.h"
#include "report/explain_worst.h"
#include "report/figures_text.h"
#include "report/stage_figures.h"

namespace ashlar {
namespace {

using namespace report;
using ir::KStmt;

class Collector {
 public:
  Collector(const Schedule& s, const ir::Kernel& k, const ExplainSizes& sizes, Where where)
      : k_(k),
        target_(s.target()),
        symbols_(sizes_of(k.symbols, k.name, sizes, where)),
        counter_(k, values(symbols_)),
        device_(target_.is_gpu() ? figures_of(target_.device().name) : nullptr) {}

  Figures all(const ir::Program& p) {
    Figures f;
    f.target = target_.text();
    for (const auto& [id, s] : k_.symbols) f.sizes.emplace_back(s.name, symbols_.at(id));
    if (device_) f.model = device_->model, f.bandwidth = device_->bandwidth;
    f.argument_bytes = counter_.argument_bytes();
    if (target_.is_gpu()) {
      launches(k_.body, f);
      return f;
    }
    // Counting on the lowered kernel of a processor takes long where much is unrolled; the stages say the same of operations.
    const ir::Variant* variant = variant_at(p, symbols_);
    const ir::Program& taken = variant ? *variant->program : p;
    const std::vector<StageFigures> stages = stage_figures(taken, target_, symbols_);
    for (const Loss& loss : losses(taken, target_, stages)) f.losses.push_back(loss.text);
    for (const StageFigures& stage : stages) {
      f.stages.push_back(cost(stage));
      add(ir::text(stage.type), stage.operations(), 0, f);
    }
    return f;
  }

 private:
  static ir::Substitution values(const std::map<ir::Id, std::int64_t>& sizes) {
    ir::Substitution result;
    for (const auto& [id, n] : sizes) result.emplace_back(id, ir::index(n));
    return result;
  }

  void add(const Counted& c, Figures& f) const {
    f.requested_bytes += c.global_bytes;
    for (const Operations& o : c.kinds)
      add(ir::text(o.type) + (o.matrix ? ", matrix units" : ""), o.count,
          device_ ? operations_a_second(*device_, o.type, o.matrix) : 0, f);
  }
  static void add(const std::string& kind, double count, double rate, Figures& f) {
    if (count == 0) return;
    const auto at = std::find_if(f.operations.begin(), f.operations.end(),
                                 [&](const OperationFigures& known) { return known.kind == kind; });
    if (at == f.operations.end())
      f.operations.push_back({kind, count, rate});
    else
      at->count += count;
  }

  StageCost cost(const StageFigures& f) const {
    StageCost s{f.name, f.inside, f.points, f.distinct, f.operations(), f.vectors.empty() ? 0 : f.vectors.front().used, {}};
    for (int level = 1; level <= 3; ++level) {
      const std::int64_t bytes = target_.cache_bytes(level);
      if (!bytes) continue;
      CacheFigures c{level, bytes, "-"};
      const auto held = std::find_if(f.loops.begin(), f.loops.end(),
                                     [&](const LoopFigures& l) { return l.footprint() <= static_cast<double>(bytes); });
      if (held != f.loops.end()) {
        c.holds = held->name, c.footprint = held->footprint(), c.moved = held->loaded() + held->stored();
        if (c.moved > 0) c.intensity = f.operations() / c.moved;
      }
      s.caches.push_back(std::move(c));
    }
    return s;
  }

  // As explain(): of a choice of the host, the side that a call of these sizes takes.
  void launches(const std::vector<KStmt>& list, Figures& f) {
    for (const KStmt& s : list) {
      if (const auto* one = s.as<ir::KLaunch>()) {
        const Counted c = counter_.count(one->body, one);
        add(c, f);
        f.launches.push_back(launch(*one, c));
        continue;
      }
      const auto* choice = s.as<ir::KIf>();
      const std::int64_t taken = choice ? counter_.value(choice->condition, -1) : -1;
      if (taken != -1)
        launches(taken ? choice->body : choice->otherwise, f);
      else
        for (const auto* part : s.bodies()) launches(*part, f);
    }
  }

  LaunchFigures launch(const ir::KLaunch& l, const Counted& c) {
    const Device& d = target_.device();
    LaunchFigures f;
    f.name = l.name, f.threads = l.threads, f.shared_bytes = l.shared_bytes, f.shared_most = d.shared_bytes;
    for (int k = 0; k < 3; ++k) f.grid[k] = std::max<std::int64_t>(0, counter_.value(l.grid[k], 1));
    f.registers = c.registers, f.registers_most = d.max_registers;
    if (device_) {
      const Resident r = resident_blocks(d, *device_, l.threads, c.registers, l.shared_bytes);
      f.limits = {
          {"threads", r.by_threads}, {"blocks", r.by_blocks}, {"shared memory", r.by_shared}, {"registers", r.by_registers}};
      f.warps_of_block = (l.threads + d.warp - 1) / d.warp, f.warps_most = d.multiprocessor_threads / d.warp;
    }
    for (ir::Id id : c.order)
      for (bool store : {false, true})
        if (const auto traffic = c.traffic.find({id, store}); traffic != c.traffic.end())
          for (const Site& site : traffic->second.sites) {
            if (f.warps.size() == 24) return f;
            if (!site.spread) f.warps.push_back(warp(l, id, store, site));
          }
    return f;
  }

  WarpFigures warp(const ir::Launch& l, ir::Id id, bool store, const Site& site) const {
    const ir::KBuffer& b = k_.buffers.at(id);
    WarpFigures w{b.name, store, b.storage == ir::Storage::shared, site.elements, b.type.bytes(), {}};
    for (std::int64_t lane = 0; lane < std::min<std::int64_t>(32, l.threads); ++lane) {
      analysis::Assignment at{{l.thread, "thread", lane}};
      for (ir::Id block : l.block)
        if (block) at.push_back({block, "block", 0});
      for (const ir::KFor* loop : site.loops)
        at.push_back({loop->var, "loop", analysis::evaluate(counter_.known(loop->begin), at).value_or(0)});
      const auto address = analysis::evaluate(counter_.known(site.address), at);
      w.bytes.push_back(address ? *address * b.type.bytes() : -1);
    }
    return w;
  }

  const ir::Kernel& k_;
  const Target target_;
  const std::map<ir::Id, std::int64_t> symbols_;
  Counter counter_;
  const DeviceFigures* device_;
};

}  // namespace

Figures explain_figures(const Schedule& s, const ir::Kernel& kernel, const ExplainSizes& sizes, Where where) {
  return Collector(s, kernel, sizes, where).all(s.scheduled().program);
}

}  // namespace ashlar
