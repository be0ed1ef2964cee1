// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/notes.h"

#include <algorithm>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ashlar::generator {

namespace {

using ir::Op;

bool has_polynomial(Op op) { return ir::is_function(op) && op != Op::rsqrt; }

struct Emulated {
  bool floats = false, doubles = false;  // for which the target has no fma
  std::vector<std::string> stages;       // the stages with such an fma, each once

  bool any(const Expr& e) const {
    bool found = false;
    if (e.empty()) return false;
    ir::walk(e, [&](const Expr& x) {
      const Type t = x.type();
      if (t.is_float() && (x.node()->op == Op::fma || has_polynomial(x.node()->op)))
        found = found || (t.bits == 64 ? doubles : floats);
      return !found;
    });
    return found;
  }
  // `pending`: a value that was named outside is computed so, and belongs to what is stored below.
  void collect(const ir::Kernel& k, const std::vector<ir::KStmt>& body, bool pending) {
    for (const ir::KStmt& s : body) {
      const auto* store = s.as<ir::KStore>();
      const auto* let = s.as<ir::KLet>();
      const auto* branch = s.as<ir::KIf>();
      const bool here =
          pending || (store && any(store->value)) || (let && any(let->value)) || (branch && any(branch->condition));
      if (store && here) {
        const std::string& name = k.buffers.at(store->buffer).name;
        if (std::find(stages.begin(), stages.end(), name) == stages.end()) stages.push_back(name);
      }
      for (const auto* part : s.bodies()) collect(k, *part, let ? here : pending);
    }
  }
};

std::string remedy(const Target& t) {
  switch (t.architecture()) {
    case Architecture::x86_64:
      return "x86-64-v3 and later have it, and a library may hold code for both (target=x86-64-v3,x86-64; in CMake TARGETS)";
    case Architecture::arm:
      return "armv7+vfp4 has it";
    default:
      return "a product that is a stage of its own, and summed from there, rounds twice and is fast";
  }
}

}  // namespace

std::string fma_note(const std::string& function, std::span<const ir::Kernel> kernels, std::span<const Target> targets) {
  const Target* slowest = nullptr;
  Emulated found;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const Target& t = targets[k];
    if (t.is_gpu()) continue;
    Emulated here{!t.offers("fma"), !t.offers("fma64"), {}};
    here.collect(kernels[k], kernels[k].body, false);
    if (here.stages.empty()) return "";
    slowest = &t, found = here;
  }
  if (!slowest) return "";
  return fmt::format(
      "note: {} for {}: {} by fused multiply-adds (or math functions made of them), for which this processor has no "
      "instruction: each is emulated exactly and costs tens of others. {}\n",
      function, slowest->text(),
      fmt::format("{} {} computed", fmt::join(found.stages, ", "), found.stages.size() == 1 ? "is" : "are"), remedy(*slowest));
}

std::string narrow_sum_note(const ir::Program& algorithm) {
  std::string notes;
  for (const auto& [id, stage] : algorithm.stages) {
    if (stage.reducer.kind != ir::ReducerKind::sum) continue;
    const Type t = algorithm.buffer(stage.buffers.front()).type;
    if (!t.is_data_integer() || t.bits > 16) continue;
    const std::int64_t most = (std::int64_t{1} << (t.bits - (t.is_unsigned() ? 0 : 1))) - 1;
    notes += fmt::format("note: {}: {} sums {} in {}, which wraps past {}; sum(i32(x), k) does not\n", location(stage.where),
                         stage.name, ir::text(t), ir::text(t), most);
  }
  return notes;
}

std::string default_schedule_note(const std::string& generator) {
  return fmt::format(
      "note: {} has no schedule(), so the default schedule was taken (-e program shows it; an empty schedule() gives "
      "plain loops)\n",
      generator);
}

}  // namespace ashlar::generator
