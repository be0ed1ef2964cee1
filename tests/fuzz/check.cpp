// Three runs of one case against the algorithm: the scheduled tree, the lowered kernel, the compiled code.
#include <algorithm>
#include <cstring>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/arguments.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#ifdef ASHLAR_FUZZ_COMPILED
#include <ashlar/codegen/jit.h>
#endif

#include "tests/fuzz/case.h"

namespace fuzz {
namespace {

interp::Arguments arguments(const ir::Program& p, Type t, std::array<std::int64_t, 2> shape) {
  interp::Arguments args;
  std::uint32_t state = 1;
  // small whole numbers: sums of products stay exact in every type, so regrouped reductions compare exactly too
  auto value = [&](auto) {
    state = state * 1664525u + 1013904223u;
    return static_cast<double>(state >> 30) - (t.is_unsigned() ? 0 : 1);
  };
  for (const ir::Argument& a : p.arguments) {
    const bool square = p.buffer(a.id).name == "B", output = a.kind == ir::ArgumentKind::output;
    std::vector<std::int64_t> extents{square ? shape[1] : shape[0], shape[1]};
    args.emplace_back(output ? interp::Array::zeros(t, extents) : interp::Array::make(t, extents, value));
  }
  return args;
}

#ifdef ASHLAR_FUZZ_COMPILED
ashlar_tensor described(interp::Array& a) {
  ashlar_tensor t;
  std::memset(&t, 0, sizeof t);
  t.data = a.bytes.data();
  t.device_type = 1;
  t.ndim = static_cast<std::int32_t>(a.shape.size());
  t.type_code = a.type.code == Type::Code::bfloat ? 4 : a.type.is_float() ? 2 : a.type.is_unsigned() ? 1 : 0;
  t.type_bits = a.type.bits;
  t.type_lanes = 1;
  t.shape = a.shape.data();
  return t;
}
#endif

}  // namespace

Outcome check(const Case& c, [[maybe_unused]] bool compiled) {
  Outcome out;
  std::string doing = "build";
  const lang::DefinitionScope scope;
  const Target target = Target::parse("x86-64-v3");
  ir::Program algorithm;
  schedule::Scheduled s;
  try {
    const lang::Built built = build(c);
    algorithm = built.program;
    try {
      s = Schedule(built, target).scheduled();
    } catch (const RefusalError&) {  // reads that need a fact of a symbol
      ++out.refused;
      return out;
    }
    const bool regroups_exactly = !type_of(c).is_float() || type_of(c).bits >= 32;
    for (const Entry& e : c.steps) {
      schedule::Step step;
      if (!step_of(e, s.program, step) || (step.primitive == "rfactor" && !regroups_exactly)) continue;
      doing = step.primitive;
      try {
        schedule::apply(s, step, target);
        ++out.applied;
      } catch (const RefusalError&) { ++out.refused; }
    }
    auto agree = [&](const char* kind, auto&& execute) {
      for (const auto& shape : c.shapes) {
        interp::Arguments expected = arguments(algorithm, type_of(c), shape), found = expected;
        interp::run_algorithm(algorithm, expected);
        std::string difference;
        try {
          execute(found);
          difference = interp::difference(found.back().array, expected.back().array);
        } catch (const interp::RunError& e) { difference = e.what(); }
        if (difference.empty()) continue;
        out.kind = kind;
        out.what = "H = " + std::to_string(shape[0]) + ", W = " + std::to_string(shape[1]) + ": " + difference;
        return false;
      }
      return true;
    };
    const interp::Options shuffled{interp::Options::Order::shuffled, 3};
    doing = "the scheduled program";
    bool good = agree("scheduled", [&](interp::Arguments& a) { interp::run(s.program, a, shuffled); });
    if (good) {
      try {
        doing = "lowering";
        schedule::finish(s, target);
        LowerOptions options;
        options.vector_bits = 256;
        options.vector_registers = 16;
        const ir::Kernel k = lower(s.program, options);
        doing = "the kernel";
        out.ran_kernel = true;
        good = agree("lowered", [&](interp::Arguments& a) { interp::run(k, a, shuffled); });
#ifdef ASHLAR_FUZZ_COMPILED
        if (good && compiled) {
          doing = "the code";
          const codegen::Compiled f = codegen::compile(k, Target::host());
          out.ran_code = true;
          agree("compiled", [&](interp::Arguments& a) {
            std::vector<ashlar_tensor> tensors;
            std::vector<const void*> pointers;
            for (interp::Actual& actual : a) tensors.push_back(described(actual.array));
            for (const ashlar_tensor& t : tensors) pointers.push_back(&t);
            if (const int code = f.call(pointers); code != 0)
              throw interp::RunError(interp::RunError::Kind::arguments, "error " + std::to_string(code));
          });
        }
#endif
      } catch (const RefusalError&) {  // a capacity of the target
      }
    }
  } catch (const std::exception& e) {
    out.kind = "error in " + doing;
    out.what = e.what();
  }
  if (!out.kind.empty()) {
    try {
      out.program = ir::text(s.program);
    } catch (const std::exception& e) { out.program = std::string("(") + e.what() + ")\n"; }
    for (const schedule::Step& step : s.trace) out.trace += step.text + "\n";
  }
  return out;
}

Case shrink(const Case& c, bool compiled, const Outcome& failure) {
  Case best = c;
  auto still_fails = [&](const Case& smaller) {
    if (check(smaller, compiled).kind != failure.kind) return false;
    best = smaller;
    return true;
  };
  for (bool progress = true; progress;) {
    progress = false;
    auto drop = [&](auto member) {
      for (std::size_t k = (best.*member).size(); k-- > 0;) {
        Case smaller = best;
        (smaller.*member).erase((smaller.*member).begin() + static_cast<std::ptrdiff_t>(k));
        if (k < (best.*member).size() && still_fails(smaller)) progress = true;
      }
    };
    drop(&Case::steps);
    drop(&Case::stages);
    if (best.shapes.size() > 1) drop(&Case::shapes);
  }
  return best;
}

}  // namespace fuzz
