// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of a trace: the steps are applied again, and each is written with the handles there are before it. Handles are
// written as marks until all statements stand; then those that were used get names.
#include <ashlar/schedule/cpp_text.h>

#include <algorithm>
#include <map>
#include <set>

#include <ashlar/ir/recurrence.h>

#include "schedule/trace/cpp_names.h"
#include "schedule/handles.h"
#include <ashlar/instructions/kept.h>
#include "schedule/primitives/primitives.h"
#include "schedule/trace/step_keys.h"

namespace ashlar::schedule {
namespace {

using Kind = CppText::Kind;

class Writer final : public CppCall {
 public:
  explicit Writer(const Program& algorithm, const Target& target) : target_(target) {
    sides_.push_back({{algorithm, {}, {}, {}}, StepKeys(algorithm), {}, 0, ""});
  }

  CppText run(const std::vector<Step>& steps, std::string_view function);

  std::string own(const Arg& loop) override { return stage(stage_around(program(), check(loop).id).id); }
  std::string loop(const Arg& a) override;
  std::string stage(Id) override;
  std::string stage_ref(Id) override;
  std::string buffer_ref(Id) override;
  std::string map(const Arg&) override;
  std::string point(const Expr&) override;
  std::string intrinsic(const ir::Intrinsic&) override;
  const Program& program() const override { return side().scheduled.program; }
  std::string schedule() override { return at_ ? names_.use(side().handle) : own_name_; }

 private:
  const Stmt& check(const Arg& a) const {
    const Stmt* l = ir::find(program(), a.id);
    if (!l || !l->is<LoopStmt>()) throw InternalError("a step of a trace names no loop");
    return *l;
  }
  std::string parameter(Kind, Id, const ir::Intrinsic*, const std::string& name);
  bool declare(Id loop);
  bool declare_roots(const ir::Stage&, const std::string& receiver, bool init, Id loop);
  bool declare_copy(const ir::Stage&, Id loop);
  void bind(cpp::Line&, Id id, const std::string& name, const std::string& of);
  cpp::Line statement(const Step&, const Step* next, bool& takes_next);
  void results(cpp::Line&, const Step&);
  Gives gives_of(const Step&);

  struct Side {  // the general schedule, or a variant: each by itself
    Scheduled scheduled;
    StepKeys keys;
    std::map<Id, std::size_t> handles;  // loops and made stages; those of a variant begin with what there was
    std::size_t handle = 0;             // a variant's
    std::string where;                  // a variant's: in front of its keys
  };
  Side& side() { return sides_[at_]; }
  const Side& side() const { return sides_[at_]; }
  bool is_own(std::size_t handle) const { return !at_ || std::count(own_.begin(), own_.end(), handle); }
  void specialized(cpp::Line&, const Step&);

  const Target& target_;
  cpp::Names names_;
  std::string own_name_ = names_.take("s");
  std::vector<Side> sides_;
  std::size_t at_ = 0;
  std::vector<std::size_t> own_;  // handles that variants gave out
  std::vector<cpp::Line> lines_;
  std::vector<CppText::Parameter> parameters_;
};

// ---- the pieces of a statement ---------------------------------------------------------------------------------------------

std::string Writer::parameter(Kind kind, Id id, const ir::Intrinsic* f, const std::string& name) {
  for (const auto& p : parameters_)
    if (p.kind == kind && p.id == id && p.intrinsic == f) return p.name;
  parameters_.push_back({kind, id, f, names_.take(name)});
  return parameters_.back().name;
}

std::string Writer::stage_ref(Id id) {
  if (const auto it = side().handles.find(id); it != side().handles.end()) return names_.use(it->second);
  const ir::Stage& of = program().stage(id);
  const Id buffer = of.buffers.front();
  // a stage that a step made is not a tensor of the algorithm
  if (of.origin != ir::Stage::Origin::user || program().buffer(buffer).stage != id || !side().keys.of_algorithm(id))
    throw NoForm{};
  // a reduction that stands in the step of a recurrence has no tensor
  const auto around = ir::recurrences_around(program());
  if (const auto it = around.find(id); it != around.end()) return stage(it->second) + ".inside(\"" + of.name + "\")";
  return parameter(Kind::tensor, buffer, nullptr, program().buffer(buffer).name);
}

std::string Writer::stage(Id id) {
  const std::string ref = stage_ref(id);
  if (ref.find(".inside(") != std::string::npos) return ref;
  const auto it = side().handles.find(id);
  return it != side().handles.end() && is_own(it->second) ? ref : schedule() + "[" + ref + "]";
}

std::string Writer::buffer_ref(Id id) {
  const ir::Buffer& b = program().buffer(id);
  if (!b.stage) return parameter(Kind::tensor, id, nullptr, b.name);
  if (side().handles.count(b.stage)) {
    if (program().stage(b.stage).buffers.front() != id) throw NoForm{};
    return stage_ref(b.stage);
  }
  if (!side().keys.of_algorithm(b.stage)) throw NoForm{};
  if (ir::recurrences_around(program()).count(b.stage)) {
    if (program().stage(b.stage).buffers.front() != id) throw NoForm{};
    return stage_ref(b.stage);
  }
  return parameter(Kind::tensor, id, nullptr, b.name);
}

std::string Writer::intrinsic(const ir::Intrinsic& f) { return parameter(Kind::intrinsic, 0, &f, f.name); }

std::string Writer::point(const Expr& e) {
  std::string text;
  const bool known = cpp::expression(
      e,
      [&](Id id, const std::string&) {
        const auto it = program().symbols.find(id);
        return it == program().symbols.end() ? std::string() : parameter(Kind::symbol, id, nullptr, it->second.name);
      },
      text);
  if (!known) throw NoForm{};
  return text;
}

std::string Writer::map(const Arg& a) {
  std::string vars, to, first;
  for (std::size_t k = 0; k < a.vars.size(); ++k) vars += (k ? ", Var c" : "Var c") + std::to_string(k);
  for (const Expr& e : a.exprs) {
    std::string text;
    const bool known = cpp::expression(
        e,
        [&](Id id, const std::string&) {
          const auto at = std::find(a.vars.begin(), a.vars.end(), id);
          return at == a.vars.end() ? std::string() : "c" + std::to_string(at - a.vars.begin());
        },
        text);
    if (!known || a.vars.empty()) throw NoForm{};
    if (ir::is_int(e)) text = text == "0" ? "c0 * 0" : "c0 * 0 + " + text;  // a number alone is not an index
    to += (to.empty() ? "" : ", ") + text;
  }
  return "[](" + vars + ") { return at(" + to + "); }";
}

// ---- handles -------------------------------------------------------------------------------------------------------------

void Writer::bind(cpp::Line& line, Id id, const std::string& name, const std::string& of) {
  line.binds.push_back(names_.handle(name, of));
  if (at_) own_.push_back(line.binds.back());
  side().handles[id] = line.binds.back();
}

std::string Writer::loop(const Arg& a) {
  check(a);
  if (!side().handles.count(a.id) && !declare(a.id)) throw NoForm{};
  return names_.use(side().handles.at(a.id));
}

bool Writer::declare_roots(const ir::Stage& stage, const std::string& receiver, bool init, Id loop) {
  for (const bool reduce : {false, true}) {
    const RootLoops roots = root_loops(program(), stage, reduce, init);
    if (roots.became || std::find(roots.loops.begin(), roots.loops.end(), loop) == roots.loops.end()) continue;
    cpp::Line line;
    line.single = reduce && roots.loops.size() == 1;
    line.type = line.single ? "Loop" : "auto";
    line.call = receiver + (reduce ? ".reduction" : ".spatial");
    line.call += line.single ? "()" : "<" + std::to_string(roots.loops.size()) + ">()";
    for (Id id : roots.loops) {
      const Stmt* l = ir::find(program(), id);
      if (!l) return false;
      bind(line, id, (init ? "init_" : "") + program().axis(l->get<LoopStmt>().axis).name, stage.name);
    }
    lines_.push_back(std::move(line));
    return true;
  }
  return false;
}

// A copy inside of a loop that peel or partition gave out.
bool Writer::declare_copy(const ir::Stage& stage, Id loop) {
  const Stmt& l = *ir::find(program(), loop);
  if (!l.copy_of || !side().handles.count(l.copy_of) || stage_around(program(), loop).id != stage.id) return false;
  std::vector<const Stmt*> path = ir::path_to(program(), loop);  // innermost first: the copied loop itself, where it has a name
  std::reverse(path.begin(), path.end());
  for (const Stmt* around : path) {
    if (!around->is<LoopStmt>() || !side().handles.count(around->id) || copy_inside(*around, l.copy_of) != loop) continue;
    cpp::Line line;
    line.type = "Loop", line.single = true;
    line.call = this->stage(stage.id) + ".copy(" + names_.use(side().handles.at(l.copy_of)) + ", " +
                names_.use(side().handles.at(around->id)) + ")";
    bind(line, loop, program().axis(l.get<LoopStmt>().axis).name + "_copy", stage.name);
    lines_.push_back(std::move(line));
    return true;
  }
  return false;
}

bool Writer::declare(Id loop) {
  const ir::Stage& stage = stage_around(program(), loop);
  const std::string receiver = this->stage(stage.id);
  if (declare_roots(stage, receiver, false, loop) || declare_copy(stage, loop)) return true;
  const auto blocks = ir::blocks_of(program(), stage.id);
  if (std::any_of(blocks.begin(), blocks.end(), [](const Stmt* b) { return b->get<BlockStmt>().piece == ir::Piece::init; }) &&
      declare_roots(stage, receiver + ".init()", true, loop))
    return true;
  const std::vector<Id> all = all_loops(program(), stage.id);
  const auto at = std::find(all.begin(), all.end(), loop);
  if (at == all.end()) return false;
  cpp::Line line;
  line.type = "Loop", line.single = true;
  line.call = receiver + ".loops()[" + std::to_string(at - all.begin()) + "]";
  bind(line, loop, program().axis(ir::find(program(), loop)->get<LoopStmt>().axis).name, stage.name);
  lines_.push_back(std::move(line));
  return true;
}

// ---- statements -----------------------------------------------------------------------------------------------------------

std::string replayed(Step step, const std::string& on) {
  step.variant = 0;
  std::string one, json = schedule::json({step});
  for (std::size_t k = 0; k < json.size(); ++k) {
    if (json[k] != '\n') {
      one += json[k];
      continue;
    }
    while (k + 1 < json.size() && json[k + 1] == ' ') ++k;
  }
  return on + ".replay(R\"json(" + one + ")json\")";
}

// split(loop, n, guard, keep), then a kind for its inner loop: one call makes both.
const char* makes_both(const Step& step, const Step* next) {
  const bool kept = step.primitive == "split" && step.args.size() >= 4 && step.args[3].word == "keep" &&
                    step.args[2].word == "guard" && step.results.size() == 2;
  if (!kept || !next || next->variant != step.variant || next->args.size() != 1 || next->args[0].id != step.results[1])
    return nullptr;
  return next->primitive == "vectorize" ? "vectorize" : next->primitive == "unroll" ? "unroll" : nullptr;
}

// ---- the whole -------------------------------------------------------------------------------------------------------------

cpp::Line Writer::statement(const Step& step, const Step* next, bool& takes_next) {
  cpp::Line line;
  line.step = true;
  const std::size_t before = lines_.size(), parameters = parameters_.size();
  try {
    if (const char* both = makes_both(step, next)) {
      const std::string number = std::to_string(step.args[1].value);
      const std::string lanes = step.args.size() > 4 ? "Scalable{" + number + "}" : number;
      line.call = own(step.args[0]) + "." + both + "(" + loop(step.args[0]) + ", " + lanes + ")";
      takes_next = true;
      return line;
    }
    const CppLine write = primitive_of(step.primitive)->cpp;
    line.call = write(*this, step);
  } catch (const NoForm&) {
    for (std::size_t k = before; k < lines_.size(); ++k)
      std::erase_if(side().handles, [&](const auto& h) {
        return std::find(lines_[k].binds.begin(), lines_[k].binds.end(), h.second) != lines_[k].binds.end();
      });
    lines_.resize(before), parameters_.resize(parameters);
    line.call = replayed(step, schedule());
    line.replays = true;
  }
  return line;
}

Gives Writer::gives_of(const Step& step) {
  Context c{side().scheduled, side().scheduled.program, target_, step, {}};
  return traits_of(c).gives;
}

// Names for what the step gave out, which is known once it is applied.
void Writer::results(cpp::Line& line, const Step& done) {
  const Program& p = program();
  const Primitive& primitive = *primitive_of(done.primitive);
  if (line.replays) return;
  for (std::size_t k = 0; k < done.results.size(); ++k) {
    const Id id = done.results[k];
    if (p.stages.count(id)) {
      bind(line, id, p.stage(id).name, "");
      line.type = done.results.size() == 1 ? "Stage" : "auto";
    } else {
      const Stmt& l = *ir::find(p, id);
      const std::string end = primitive.handle ? primitive.handle(done, k) : "";
      bind(line, id, p.axis(l.get<LoopStmt>().axis).name + (end.empty() ? "" : "_" + end), stage_around(p, id).name);
      line.type = done.results.size() == 1 ? "Loop" : "auto";
    }
  }
  const bool several = gives_of(done) == Gives::any_number;  // one too
  if (several) line.type = "auto";
  line.single = done.results.size() == 1 && !several;
}

// A variant that was made: a side of its own.
void Writer::specialized(cpp::Line& line, const Step& step) {
  if (line.replays) throw InternalError("a condition of specialize that the language has no words for");
  line.type = "Schedule&", line.single = true;
  line.binds.push_back(names_.handle("variant", ""));
  Side made{{*program().variants.back().program, side().scheduled.consumed, {}, {}},
            side().keys,
            side().handles,
            line.binds.back(),
            side().where + "where " + side().keys.key(side().scheduled, step) + ": "};
  sides_.push_back(std::move(made));
}

CppText Writer::run(const std::vector<Step>& steps, std::string_view function) {
  CppText result;
  std::vector<std::size_t> line_of;  // of each step; the last one's number where there is none
  for (std::size_t k = 0; k < steps.size(); ++k) {
    at_ = steps[k].variant;
    if (at_ >= sides_.size()) throw InternalError("a trace with a step of a variant that it has not made");
    const Step* next = k + 1 < steps.size() ? &steps[k + 1] : nullptr;
    bool takes_next = false;
    cpp::Line line = statement(steps[k], next, takes_next);
    for (int n = 0; n < (takes_next ? 2 : 1); ++n) {
      const Step& step = steps[k + static_cast<std::size_t>(n)];
      Step own = step;
      own.variant = 0;
      result.keys.push_back(side().where + side().keys.key(side().scheduled, own));
      const std::vector<Id>& made = apply(side().scheduled, own, target_);
      if (made != step.results && !step.results.empty()) throw InternalError("a trace applied again gives other handles");
      side().keys.made(program());
      line_of.push_back(n == 0 ? lines_.size() : std::string::npos);
    }
    const Step done = side().scheduled.trace.back();
    if (takes_next)
      ++k;
    else if (gives_of(done) == Gives::variant)
      specialized(line, done);
    else
      results(line, done);
    lines_.push_back(std::move(line));
  }
  const std::vector<std::string> statements = names_.written(lines_);
  for (std::size_t at : line_of) result.statements.push_back(at == std::string::npos ? "" : statements[at]);
  result.parameters = parameters_;
  std::string body;
  for (const std::string& statement : statements)
    if (!statement.empty()) body += "  " + statement + "\n";
  std::string head = "void " + std::string(function) + "(ashlar::Schedule& " + own_name_;
  for (const auto& p : parameters_)
    head += std::string(p.kind == Kind::tensor   ? ", const ashlar::Tensor& "
                        : p.kind == Kind::symbol ? ", const ashlar::Expr& "
                                                 : ", const ashlar::Intrinsic& ") +
            p.name;
  result.text = "#include <ashlar/schedule/schedule.h>\n";
  if (body.find("std::numeric_limits") != std::string::npos) result.text += "\n#include <limits>\n";
  result.text +=
      "\ninline " + head + ") {\n  using namespace ashlar;\n" + (steps.empty() ? "  static_cast<void>(s);\n" : body) + "}\n";
  return result;
}

}  // namespace

CppText cpp_text(const ir::Program& algorithm, const std::vector<Step>& steps, const Target& target,
                 std::string_view function) {
  return Writer(algorithm, target).run(steps, function);
}

std::uint64_t trace_hash(const std::vector<Step>& trace) {
  std::vector<Step> steps = trace;
  for (Step& s : steps) {
    s.place.clear();
    const std::vector<const Parameter*> parameters = primitive_of(s.primitive)->parameters.of(s);
    for (std::size_t k = parameters.size(); k-- > 0;)
      if (!parameters[k]->hashed) s.args.erase(s.args.begin() + static_cast<std::ptrdiff_t>(k));
  }
  std::uint64_t h = 0xCBF29CE484222325u;  // FNV-1a
  for (const unsigned char c : json(steps)) h = (h ^ c) * 0x100000001B3u;
  return h;
}

}  // namespace ashlar::schedule
