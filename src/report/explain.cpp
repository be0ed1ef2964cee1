// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/report/explain.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <ashlar/analysis/memory_access.h>
#include <ashlar/analysis/narrow_indices.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "report/count.h"
#include "report/device_figures.h"
#include "report/explain_worst.h"
#include "report/figures_text.h"

namespace ashlar {
namespace {

using ir::Id;
using ir::KStmt;
using ir::Storage;
using report::Counted;
using report::counted;
using report::Counter;
using report::number;
using report::Operations;
using report::scaled;
using report::Site;
using report::Traffic;

class Explainer {
 public:
  Explainer(const ir::Kernel& k, const Target& target, const ExplainSizes& sizes, Where where)
      : k_(k), target_(target), symbols_(values(k, sizes, where)), counter_(k, symbols_) {}

  std::string text(const std::string& opening) {  // which stands between what is explained and its figures
    out_ = "kernel " + k_.name + " for " + std::string(target_.text());
    figures_ = target_.is_gpu() ? report::figures_of(target_.device().name) : nullptr;
    if (figures_)
      out_ += " (" + std::string(figures_->model) + ": " + counted(target_.device().multiprocessors, "multiprocessor") + ", " +
              scaled(figures_->bandwidth, "B/s") + ", " + scaled(figures_->f32_operations(), "operations/s in f32") + ")";
    out_ += "\n";
    std::string at;
    for (const auto& [id, s] : k_.symbols) at += (at.empty() ? "at " : ", ") + s.name + " = " + std::to_string(symbol(id));
    if (!at.empty()) out_ += at + "\n";
    out_ += opening;
    Counted all;
    if (target_.is_gpu()) {
      if (!target_.has_tiles()) indices();
      launches(k_.body, all);
      if (!all.order.empty()) {
        out_ += "\nthe whole call\n";
        balance(all);
      }
    } else {
      out_ += "\n";
      processor();
    }
    return out_;
  }

 private:
  // ---- sizes ------------------------------------------------------------------------------------------------------------
  static ir::Substitution values(const ir::Kernel& k, const ExplainSizes& sizes, Where where) {
    ir::Substitution result;
    for (const auto& [id, n] : report::sizes_of(k.symbols, k.name, sizes, where)) result.emplace_back(id, ir::index(n));
    return result;
  }
  std::int64_t symbol(Id id) const {
    for (const auto& [s, e] : symbols_)
      if (s == id) return e.node()->i;
    return 0;
  }

  void line(const std::string& what, const std::string& text) {
    std::string s = "  " + what;
    if (s.size() < 22) s.append(22 - s.size(), ' ');
    out_ += s + "  " + text + "\n";
  }

  // As the back ends choose (codegen/ptx.h, codegen/spirv.h): on Vulkan all indices have one width.
  void indices() {
    const bool vulkan = target_.device().kind == Device::Kind::vulkan;
    const auto narrow = analysis::narrow_indices(k_, 32, vulkan ? analysis::Reach::bytes : analysis::Reach::elements);
    const bool never = ir::is_int(narrow.condition, std::int64_t{0}) || (vulkan && !narrow.whole);
    const bool always = ir::is_int(narrow.condition, 1);
    out_ += never    ? "indices of 64 bits\n"
            : always ? "indices of 32 bits\n"
                     : "indices of 32 bits where " + in_words(narrow) + ", else of 64\n";
  }

  // "M and N <= 2147418112, A and C reach <= 2130706431 elements, the strides of A and C fit": conditions by what they are
  // about.
  std::string in_words(const analysis::NarrowIndices& narrow) const {
    using About = analysis::NarrowIndices::Condition::About;
    std::map<std::pair<About, std::int64_t>, std::vector<std::string>> subjects;
    std::vector<std::string> parts;
    for (const auto& c : narrow.conditions) {
      if (c.about == About::values) continue;
      const std::string& name = c.about == About::extent ? k_.symbols.at(c.id).name : k_.buffers.at(c.id).name;
      auto& names = subjects[{c.about, c.most}];
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    for (const auto& [what, names] : subjects) {
      std::string list;
      for (std::size_t k = 0; k < names.size(); ++k) list += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + names[k];
      const std::string reach = names.size() == 1 ? " reaches <= " : " reach <= ";
      switch (what.first) {
        case About::extent:
          parts.push_back(list + " <= " + std::to_string(what.second));
          break;
        case About::reach:
          parts.push_back(list + reach + std::to_string(what.second) + " elements");
          break;
        default:
          parts.push_back("the strides of " + list + " fit");
      }
    }
    for (const auto& c : narrow.conditions)
      if (c.about == About::values) parts.push_back(ir::text(c.holds));
    std::string all;
    for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
    return all;
  }

  // ---- launches -----------------------------------------------------------------------------------------------------------
  void launches(const std::vector<KStmt>& list, Counted& all) {
    for (const KStmt& s : list) {
      if (const auto* one = s.as<ir::KLaunch>(); one && one->tile) {
        tiles(*one);
        continue;
      }
      if (const auto* one = s.as<ir::KLaunch>()) {
        const Counted c = counter_.count(one->body, one);
        launch(*one, c);
        for (const Operations& o : c.kinds) all.operations(o.type, o.matrix, o.count);
        all.global_bytes += c.global_bytes;
        all.order.insert(all.order.end(), c.order.begin(), c.order.end());
        continue;
      }
      const auto* choice = s.as<ir::KIf>();  // of the host: the call at these sizes, on aligned arguments, takes one side
      const std::int64_t taken = choice ? counter_.value(choice->condition, -1) : -1;
      if (taken != -1)
        launches(taken ? choice->body : choice->otherwise, all);
      else
        for (const auto* part : s.bodies()) launches(*part, all);
    }
  }

  // The assembler chooses all else.
  void tiles(const ir::KLaunch& l) {
    std::int64_t grid[3], blocks = 1;
    for (int k = 0; k < 3; ++k) blocks *= grid[k] = std::max<std::int64_t>(0, counter_.value(l.grid[k], 1));
    out_ += "\nlaunch " + l.name + ": " + counted(blocks, "block") + " (" + std::to_string(grid[0]) + " x " +
            std::to_string(grid[1]) + " x " + std::to_string(grid[2]) + ") of tiles\n";
    std::string tensors;
    for (const Id id : l.tensors) tensors += (tensors.empty() ? "" : ", ") + k_.buffers.at(id).name;
    line("tensors", tensors);
    line("not counted", "threads, registers, shared memory and traffic, which the assembler of tiles chooses");
  }

  void launch(const ir::Launch& l, const Counted& c) {
    const Device& d = target_.device();
    std::int64_t grid[3], blocks = 1;
    for (int k = 0; k < 3; ++k) blocks *= grid[k] = std::max<std::int64_t>(0, counter_.value(l.grid[k], 1));
    out_ += "\nlaunch " + l.name + ": " + counted(blocks, "block") + " (" + std::to_string(grid[0]) + " x " +
            std::to_string(grid[1]) + " x " + std::to_string(grid[2]) + ") of " + counted(l.threads, "thread") + "\n";
    line("shared memory", std::to_string(l.shared_bytes) + " of " + std::to_string(d.shared_bytes) + " bytes a block");
    line("registers", std::to_string(c.registers) + " of " + std::to_string(d.max_registers) +
                          " a thread in Scope::registers, not counting what the assembler adds");
    occupancy(l, c, blocks);
    const auto executed = [](double n, const std::string& what) { return number(n) + " " + what + (n == 1 ? "" : "s"); };
    std::string meets = executed(c.barriers, "barrier");
    if (c.warp_barriers > 0) meets += ", " + executed(c.warp_barriers, "warp barrier");
    if (c.waits > 0) meets += ", " + executed(c.waits, "wait") + " for copies";
    if (c.shuffles > 0) meets += ", " + executed(c.shuffles, "shuffle");
    line("synchronization", meets + " that a thread executes");
    for (Id id : c.order)
      for (bool store : {false, true})
        if (const auto traffic = c.traffic.find({id, store}); traffic != c.traffic.end()) access(l, id, store, traffic->second);
    operations(c);
    line("requested", scaled(c.global_bytes, "B of global memory"));
  }

  void occupancy(const ir::Launch& l, const Counted& c, std::int64_t grid) {
    const Device& d = target_.device();
    if (!figures_) return line("occupancy", "unknown: " + std::string(d.name) + " names no device");
    const std::int64_t warps = (l.threads + d.warp - 1) / d.warp;
    const report::Resident r = report::resident_blocks(d, *figures_, l.threads, c.registers, l.shared_bytes);
    const struct {
      const char* name;
      std::int64_t blocks;
    } limits[] = {
        {"threads", r.by_threads}, {"blocks", r.by_blocks}, {"shared memory", r.by_shared}, {"registers", r.by_registers}};
    const std::int64_t least = r.least();
    std::string by;
    for (const auto& limit : limits)
      if (limit.blocks == least) by += (by.empty() ? "" : " and ") + std::string(limit.name);
    const std::int64_t most = d.multiprocessor_threads / d.warp;
    line("occupancy", "at most " + counted(least, "block") + " a multiprocessor, " + std::to_string(least * warps) + " of " +
                          std::to_string(most) + " warps (" + std::to_string(100 * least * warps / most) + " %), limited by " +
                          by);
    if (least > 0)
      line("waves", number(static_cast<double>(grid) / static_cast<double>(least * d.multiprocessors)) + " of " +
                        std::to_string(least * d.multiprocessors) + " blocks");
  }

  // The worst of the accesses to one buffer.
  void access(const ir::Launch& l, Id id, bool store, const Traffic& traffic) {
    const ir::KBuffer& b = k_.buffers.at(id);
    const bool shared = b.storage == Storage::shared;
    const int lanes = static_cast<int>(std::min<std::int64_t>(32, l.threads));
    int degree = 0, wavefronts = 0, sectors = 0, minimum = 0, unknown = 0, vector = 1;
    std::string why;
    for (const Site& site : traffic.sites) {
      vector = std::max(vector, site.elements);
      if (site.spread) {
        ++unknown, why = "a vector of elements that are not adjacent";
        continue;
      }
      analysis::Facts facts;
      const Id element = k_.next_id, lane = k_.next_id + 1, warp = k_.next_id + 2;  // of nothing in the kernel
      for (int d = 0; d < 3; ++d)
        if (l.block[d]) facts.bound(l.block[d], 0, std::max<std::int64_t>(0, counter_.value(l.grid[d], 1) - 1));
      facts.bound(lane, 0, lanes - 1);
      facts.bound(warp, 0, (l.threads + lanes - 1) / lanes - 1);
      const ir::Substitution thread{
          {l.thread, ir::add(ir::mul(ir::var(warp, "warp"), ir::index(lanes)), ir::var(lane, "lane"))}};
      const auto placed = [&](const Expr& e) { return ir::substitute(counter_.known(e), thread); };
      for (const ir::KFor* loop : site.loops) {
        const Expr begin = placed(loop->begin);
        facts.range(loop->var, begin, ir::sub(ir::add(begin, placed(loop->extent)), ir::index(1)));
      }
      for (const Expr& c : site.when) facts.assume(counter_.known(c));
      analysis::Addressing addressing{{element}, ir::var(element, "element"), b.type.bytes()};
      analysis::WarpAccess warp_access{lane, {placed(site.address)}, site.elements, 0, lanes};
      if (shared) {
        const analysis::BankConflicts r = analysis::bank_conflicts(addressing, warp_access, facts);
        if (r.degree == 0) ++unknown, why = r.why;
        if (r.degree > degree) degree = r.degree;
        wavefronts = std::max(wavefronts, r.wavefronts);
      } else {
        const analysis::Sectors r = analysis::sectors(addressing, warp_access, 256, facts);
        if (r.sectors == 0) ++unknown, why = r.why;
        if (r.sectors > sectors) sectors = r.sectors, minimum = r.minimum;
      }
    }
    std::string text = shared ? "shared: " : b.storage == Storage::workspace ? "workspace: " : "global: ";
    if (shared && degree)
      text += "bank conflicts " + std::to_string(degree) + ", " + counted(wavefronts, "wavefront");
    else if (!shared && sectors)
      text += counted(sectors, "sector") + ", " + std::to_string(minimum) + " at least";
    if (unknown) text += std::string(degree || sectors ? "; " : "") + "unknown for " + std::to_string(unknown) + ": " + why;
    if (vector > 1) text += "; " + std::to_string(vector) + " elements at once";
    if (traffic.sites.size() > 1) text += "; the worst of " + std::to_string(traffic.sites.size());
    line(b.name + (store ? " store" : " load"), text);
  }

  // ---- what bounds it -------------------------------------------------------------------------------------------------------
  static std::string kind(const Operations& o) {
    return "in " + ir::text(o.type) + (o.matrix ? " by the user's intrinsics" : "");
  }
  double rate(const Operations& o) const { return report::operations_a_second(*figures_, o.type, o.matrix); }

  void operations(const Counted& c) {
    std::string text = scaled(c.operations(), "operations on data");
    if (c.kinds.size() > 1 || (c.kinds.size() == 1 && c.kinds[0].matrix))
      for (std::size_t k = 0; k < c.kinds.size(); ++k)
        text += (k ? ", " : ": ") + scaled(c.kinds[k].count, "operations ") + kind(c.kinds[k]);
    else if (c.kinds.size() == 1)
      text += " " + kind(c.kinds[0]);
    line("operations", text);
  }

  // Units of several kinds may work at once: the kind that takes longest bounds them all.
  void balance(const Counted& c) {
    const double once = counter_.argument_bytes();
    operations(c);
    line("arguments", scaled(once, "B, each once") + "; requested " + scaled(c.global_bytes, "B"));
    const double intensity = once > 0 ? c.operations() / once : 0;
    if (!figures_) return line("intensity", number(intensity) + " operations a byte");
    const Operations* longest = nullptr;
    double compute = 0;
    std::string unknown;
    for (const Operations& o : c.kinds) {
      if (rate(o) == 0) {
        unknown += (unknown.empty() ? "; no rate is known of operations " : ", ") + kind(o);
        continue;
      }
      const double us = o.count / rate(o) * 1e6;
      if (us > compute) compute = us, longest = &o;
    }
    std::string balance;
    if (longest)
      balance = "; the device's balance is " + number(rate(*longest) / figures_->bandwidth) + " of those " + kind(*longest);
    line("intensity", number(intensity) + " operations a byte" + balance);
    const double memory = once / figures_->bandwidth * 1e6;
    line("at least", number(std::max(memory, compute)) + " us, by " +
                         (memory >= compute ? "memory" : "operations " + kind(*longest)) + " (memory " + number(memory) +
                         " us, operations " + number(compute) + " us)" + unknown);
  }

  // ---- processors ----------------------------------------------------------------------------------------------------------

  void processor() {
    const Counted c = counter_.count(k_.body, nullptr);
    for (const Counted::Parallel& p : c.parallel)
      line("parallel", p.loop->name + ", " + (p.least < p.most ? std::to_string(p.least) + " to " : "") +
                           counted(p.most, "iteration") + (p.times > 1 ? ", " + number(p.times) + " times" : ""));
    if (c.parallel.empty()) line("parallel", "no loop");
    line("workspace", std::to_string(counter_.value(k_.workspace_shared)) + " bytes, and " +
                          std::to_string(counter_.value(k_.workspace_per_worker)) + " for each worker");
    for (Id id : c.order)
      for (bool store : {false, true})
        if (const auto traffic = c.traffic.find({id, store}); traffic != c.traffic.end()) vectors(id, store, traffic->second);
    balance(c);
  }

  void vectors(Id id, bool store, const Traffic& traffic) {
    int widest = 1, vectors = 0, spread = 0;
    for (const Site& s : traffic.sites) {
      if (s.spread) ++spread;
      if (!s.spread && s.elements > 1) ++vectors, widest = std::max(widest, s.elements);
    }
    const int one = static_cast<int>(traffic.sites.size()) - vectors - spread;
    std::string text;
    const auto add = [&](int n, const std::string& what) {
      if (n) text += (text.empty() ? "" : ", ") + std::to_string(n) + " " + what;
    };
    add(vectors, "of neighbors, up to " + std::to_string(widest) + " at once");
    add(one, "of one element");
    add(spread, "of elements that are not adjacent");
    line(k_.buffers.at(id).name + (store ? " store" : " load"), text + "; " + scaled(traffic.bytes, "B"));
  }

  const ir::Kernel& k_;
  const Target& target_;
  ir::Substitution symbols_;
  Counter counter_;
  const report::DeviceFigures* figures_ = nullptr;
  std::string out_;
};

}  // namespace

static std::string worst_first(const ir::Program& p, const Target& target, const ExplainSizes& sizes, Where where) {
  const auto symbols = report::sizes_of(p.symbols, p.name, sizes, where);
  const ir::Variant* variant = report::variant_at(p, symbols);
  const ir::Program& taken = variant ? *variant->program : p;
  const std::vector<report::Loss> all = report::losses(taken, target, report::stage_figures(taken, target, symbols));
  std::string text = "worst first\n";
  for (std::size_t k = 0; k < std::min<std::size_t>(3, all.size()); ++k)
    text += "  " + std::to_string(k + 1) + ". " + all[k].text + "\n";
  if (all.empty()) text += "  nothing costs a tenth of what full vectors take that touch each byte once\n";
  return text;
}

std::string explain(const ir::Kernel& k, const Target& target, const ExplainSizes& sizes, Where where) {
  return Explainer(k, target, sizes, where).text("");
}

std::string explain(const Schedule& s, const ExplainSizes& sizes, Where where) {
  schedule::finish(s.scheduled(), s.target());
  const ir::Program& p = s.scheduled().program;
  const ir::Kernel k = lower(p, options_for(s.target()));
  if (s.target().is_gpu()) return explain(k, s.target(), sizes, where);
  return Explainer(k, s.target(), sizes, where).text(worst_first(p, s.target(), sizes, where)) +
         explain_stages(p, s.target(), sizes, where);
}

}  // namespace ashlar
