#include "tests/schedules/scheduled.h"

#include <cstdio>
#include <optional>
#include <regex>

#include <ashlar/ir/function.h>
#include <ashlar/runtime/runtime.h>
#ifdef ASHLAR_TEST_LLVM
#include <ashlar/generator/compile.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "tests/emulated/emulator.h"
#include "tests/ops/pointers.h"
#include "tests/support/sentence.h"
#endif

namespace schedules_test {

namespace {

struct Made {
  lang::Built built;
  Steps steps;
};

Made made_of(const std::function<Steps(Maker&)>& build, Maker& m) {
  Made made;
  made.steps = build(m);
  std::vector<lang::ArgumentRef> arguments;
  for (const Maker::Input& i : m.inputs) arguments.emplace_back(i.tensor);
  for (std::size_t k = 0; k < m.results.size(); ++k) {
    const Tensor& t = m.results[k];
    const Tensor out = lang::make_output(("result" + std::to_string(k)).c_str(), t.type(), t.shape().extents());
    lang::bind(out, t);
    arguments.emplace_back(out);
  }
  made.built = lang::build_program("scheduled_", arguments);
  return made;
}

#ifdef ASHLAR_TEST_LLVM
void call(const codegen::Compiled& compiled, interp::Arguments& arguments) {
  const ops_test::Pointers pointers(arguments);
  if (compiled.call(pointers.all) == ASHLAR_OK) return;
  FAIL_CHECK(test::last_error());
}
#endif

std::string text_of(const std::vector<Dims>& shapes) {
  std::string text;
  for (const Dims& d : shapes) {
    text += "[";
    for (const std::int64_t e : d) text += " " + std::to_string(e);
    text += " ]";
  }
  return text;
}

}  // namespace

void check_scheduled(const std::string& name, const std::function<Steps(Maker&)>& build,
                     const std::vector<std::vector<Dims>>& runs, const Beside& beside) {
  CAPTURE(name);
  lang::DefinitionScope scope;
  Maker m;
  try {
    const Made made = made_of(build, m);
    std::vector<Target> targets;
    if (beside.targets.empty())
      for (const char* target : {"host", "x86-64-v3", "x86-64-v2", "aarch64"}) {
        if (std::string(target) == "host" && !Target::host().runs_here()) continue;
        targets.push_back(Target::parse(target));
      }
    for (const std::string& target : beside.targets) targets.push_back(Target::parse(target));
    for (const Target& target : targets) {
      CAPTURE(std::string(target.text()));
      const bool asked_for = !beside.targets.empty(), emulated = target.architecture() != Target::host().architecture();
      if (emulated && !asked_for && !beside.emulated) continue;
      if (std::string missing; !emulated && !target.runs_here(&missing)) {
        if (asked_for)
          std::printf("skipped: %s for %s, this machine has no %s\n", name.c_str(), std::string(target.text()).c_str(),
                      missing.c_str());
        continue;
      }
      Schedule s(made.built, target);
      made.steps(s);
#ifdef ASHLAR_TEST_LLVM
      if (emulated)
        if (const char* why = emulated::missing(target)) {
          std::printf("skipped: %s for %s, %s\n", name.c_str(), std::string(target.text()).c_str(), why);
          continue;
        }
      std::optional<codegen::Compiled> compiled;
      if (!emulated) compiled = compile(s);
#endif
      std::uint64_t seed = 1;
      int run = 0;
      for (const std::vector<Dims>& shapes : runs) {
        CAPTURE(text_of(shapes));
        if (emulated && run++ == (asked_for ? 2 : 1)) break;
        interp::Arguments given;
        REQUIRE(shapes.size() == m.inputs.size());
        for (std::size_t k = 0; k < shapes.size(); ++k) {
          std::int64_t position = 0;
          given.emplace_back(interp::Array::make(m.inputs[k].type, shapes[k], [&](auto) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruence
            return m.inputs[k].values(seed >> 11, position++);
          }));
        }
        const std::vector<Dims> results =
            beside.results ? beside.results(shapes) : std::vector<Dims>(m.results.size(), shapes.front());
        for (std::size_t k = 0; k < m.results.size(); ++k) {
          interp::Array a = interp::Array::zeros(m.results[k].type(), results[k]);
          std::fill(a.bytes.begin(), a.bytes.end(), std::byte{0x5b});
          given.emplace_back(std::move(a));
        }
        interp::Arguments meant = given, scheduled = given;
        interp::run_algorithm(made.built.program, meant);
        interp::run(s.scheduled().program, scheduled);
        for (std::size_t k = shapes.size(); k < given.size(); ++k)
          CHECK(interp::difference(scheduled[k].array, meant[k].array, beside.relative, beside.absolute) == "");
#ifdef ASHLAR_TEST_LLVM
        interp::Arguments got = given;
        if (compiled)
          call(*compiled, got);
        else {
          schedule::finish(s.scheduled(), target);
          emulated::run(lower(s.scheduled().program, options_for(target)), target, got);
        }
        for (std::size_t k = shapes.size(); k < given.size(); ++k)
          CHECK(interp::difference(got[k].array, scheduled[k].array) == "");
#endif
      }
    }
  } catch (const std::exception& e) { FAIL_CHECK(std::string(e.what())); }
}

std::string refused_schedule(const std::function<Steps(Maker&)>& build, const Target& target) {
  lang::DefinitionScope scope;
  Maker m;
  const Made made = made_of(build, m);
  Schedule s(made.built, target);
  const std::string text = refused([&] { made.steps(s); });
  return std::regex_replace(text, std::regex(":[0-9]+: "), ": ", std::regex_constants::format_first_only);
}

std::string text_of(const std::function<Steps(Maker&)>& build, const Target& target) {
  lang::DefinitionScope scope;
  Maker m;
  const Made made = made_of(build, m);
  Schedule s(made.built, target);
  made.steps(s);
  return s.text();
}

}  // namespace schedules_test
