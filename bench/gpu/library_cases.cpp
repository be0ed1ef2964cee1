#include "bench/gpu/library_cases.h"

#include <algorithm>
#include <memory>
#include <sstream>

#include <ashlar/ashlar.h>
#include <ashlar/ir/refusal.h>

#include "bench/gpu/cases.h"
#include "generator/command_line.h"
#include "generator/pipeline.h"
#include "generator/select.h"
#include "tests/generators/op_arguments.h"

namespace gpu_bench {

using namespace ashlar;

namespace {

using Params = std::vector<std::pair<std::string, std::string>>;

generator::Compilation made(const std::string& name, const Params& params, const std::string& target) {
  const detail::Registration& r = generator::find_generator(name);
  lang::DefinitionScope definitions;
  generator::PipelineOptions options;
  options.function = "op_" + name;
  try {
    generator::Compilation c =
        generator::run_pipeline(generator::make_generator(r.make, name, Target::parse(target), params, r.where), options);
    generator::lower_kernel(c, options);
    return c;
  } catch (const generator::UsageError& e) {
    refuse("a generator of the library", "parameters that it has, with values that they allow", e.what(), r.where);
  }
}

// Growing extents, small enough that the interpreter takes seconds: the more Symbols, the smaller. An operator with six has a
// window in three dimensions, and hundreds of terms a point.
// `stored`: results lie in the pack, so there are few of them.
std::vector<std::int64_t> first_extents(std::size_t symbols, bool stored) {
  if (stored && symbols > 0) return symbols > 5 ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1, 5};
  if (symbols == 0) return {1};
  if (symbols > 5) return {1, 2, 3};
  if (symbols > 3) return {1, 5, 9};
  return {5, symbols == 1 ? 1037 : symbols == 2 ? 67 : 17};
}

// Tiles may regroup sums, as the default schedule allows it: such results are compared within a bound, others to the bit.
// Winograd's transforms multiply rounding errors.
void compare_with_algorithm(Prepared& p, const ir::Program& algorithm, double times) {
  const bool regroups = std::any_of(algorithm.stages.begin(), algorithm.stages.end(), [&](const auto& named) {
    const ir::Stage& s = named.second;
    return s.reducer.kind != ir::ReducerKind::none || s.scan.kind != ir::ReducerKind::none || s.scatters();
  });
  for (const ir::Argument& a : algorithm.arguments)
    if (regroups && a.kind == ir::ArgumentKind::output)
      p.relative = std::max(p.relative, times * op_tests::bound_of(algorithm.buffers.at(a.id).type));
  p.meant = [shared = std::make_shared<const ir::Program>(algorithm)](interp::Arguments& all) {
    interp::run_algorithm(*shared, all);
  };
}

Prepared prepare(const std::string& name, const Params& params, const std::string& target) {
  const generator::Compilation c = made(name, params, target);
  Prepared p{c.kernel, 0, {}, true};
  if (Target::parse(target).has_tiles()) compare_with_algorithm(p, c.algorithm, name == "conv2d_winograd" ? 8 : 1);
  for (std::int64_t first : first_extents(c.algorithm.symbols.size(), p.relative > 0))
    p.data.push_back(op_tests::op_arguments(c.algorithm, {}, first));
  return p;
}

}  // namespace

ir::Kernel library_kernel(const std::string& line, const std::string& target) {
  std::istringstream words(line);
  std::string name, word;
  words >> name;
  Params params;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::runtime_error("expected NAME=VALUE, found " + word);
    params.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return made(name, params, target).kernel;
}

std::vector<Case> library_cases(const std::string& target) {
  std::vector<Case> all;
  for (const detail::Registration* r : generator::registered()) {
    const std::string name = r->name;
    all.push_back({"library: " + name, [=] { return prepare(name, {}, target); }});
    all.push_back({"library: " + name + " f16", [=] { return prepare(name, {{"type", "f16"}}, target); }});
  }
  return all;
}

}  // namespace gpu_bench
