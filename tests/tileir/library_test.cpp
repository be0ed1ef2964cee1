// Every operator of the library under the default schedule for tiles: it passes, executed as bytecode beside the interpreter of
// the language, or is refused with a reason, at the line of its definition.
#include <doctest/doctest.h>

#include <cstdlib>

#include <ashlar/generator/generator.h>
#include <ashlar/schedules/by_default.h>

#include "generator/pipeline.h"
#include "generator/select.h"
#include "tests/generators/op_arguments.h"
#include "tests/golden.h"
#include "tests/tileir/lowered.h"

namespace {

using namespace ashlar;

// ASHLAR_OP=softmax: that operator alone.
bool chosen(const std::string& name) {
  const char* one = std::getenv("ASHLAR_OP");
  return !one || name == one;
}

std::string short_line(const std::string& refusal) {  // without the folders and the number of the line
  const std::size_t colon = refusal.find(':'), slash = refusal.rfind('/', colon);
  if (colon == std::string::npos) return refusal;
  const std::size_t rest = refusal.find(": ", colon);
  return refusal.substr(slash == std::string::npos ? 0 : slash + 1, colon - (slash == std::string::npos ? 0 : slash + 1)) +
         refusal.substr(rest);
}

// Winograd's transforms multiply rounding errors of sums by 8 and more.
double bound_of(const std::string& name, Type type) { return op_tests::bound_of(type) * (name == "conv2d_winograd" ? 8 : 1); }

// Of six and seven loops few iterations each, else sizes from 5 on.
op_tests::Sizes sizes_of(const std::string& name) {
  if (name.find("3d") == std::string::npos) return {};
  return {{"N", 2}, {"C", 3}, {"D", 3}, {"H", 4}};
}

// "" where the bytecode gives what the algorithm says, within the bound of sums that are regrouped.
std::string wrong(const std::string& name, const ir::Program& algorithm, const ir::Program& scheduled) {
  interp::Arguments expected = op_tests::op_arguments(algorithm, sizes_of(name), 5), found = expected;
  interp::run_algorithm(algorithm, expected);
  const ir::Program program = tiles::taken(scheduled, found);
  tiles::execute(program, lower_to_tiles(program, {.aligned = false}), found, 7);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (algorithm.arguments[k].kind != ir::ArgumentKind::output) continue;
    const double bound = bound_of(name, expected[k].array.type);
    const std::string difference = interp::difference(found[k].array, expected[k].array, bound, bound);
    if (!difference.empty()) return "result " + std::to_string(k) + ": " + difference;
  }
  return "";
}

}  // namespace

TEST_CASE("operators of the library under the default schedule for tiles") {
  std::string refused;
  int passed = 0, all = 0;
  for (const ashlar::detail::Registration* r : generator::registered()) {
    const std::string name = r->name;
    if (!chosen(name)) continue;
    CAPTURE(name);
    ++all;
    try {
      generator::PipelineOptions options;
      options.function = name;
      const generator::Compilation op = generator::run_pipeline(
          generator::make_generator(r->make, name, Target::parse("cuda-tile-sm_90"), {}, r->where), options);
      if (std::getenv("ASHLAR_SHOW")) MESSAGE(op.schedule->text());
      const std::string difference = wrong(name, op.algorithm, op.schedule->scheduled().program);
      CHECK(difference == "");
      passed += difference.empty();
    } catch (const RefusalError& e) { refused += name + ": " + short_line(e.what()) + "\n"; } catch (const std::exception& e) {
      FAIL_CHECK(std::string(e.what()));
    }
  }
  if (std::getenv("ASHLAR_OP")) {
    MESSAGE(refused);
    return;
  }
  MESSAGE(passed, " of ", all, " pass");
  CHECK(golden("tileir/golden/library_refused.txt", refused) == "");
}
