#include "cases.h"

#include "generator/pipeline.h"
#include "generator/select.h"

namespace traces {
namespace {

using namespace ashlar;
using Params = std::vector<std::pair<std::string, std::string>>;

Case of(const std::string& generator, const std::string& target, Params params = {}) {
  std::string name = generator + " for " + target;
  for (const auto& [key, value] : params) name += " " + key + "=" + value;
  return {name, [=](const Use& use) {
            lang::DefinitionScope scope;
            const generator::MadeGenerator made = [&] {
              const ashlar::detail::Registration& r = generator::find_generator(generator);
              return generator::make_generator(r.make, r.name, Target::parse(target), params, r.where);
            }();
            made.generator->algorithm();
            const lang::Built built = lang::build_program(generator, made.record->arguments);
            Schedule s(built, made.record->target);
            made.generator->schedule(s);
            use(built, s);
          }};
}

}  // namespace

std::vector<Case> generators() {
  std::vector<Case> all;
  for (const ashlar::detail::Registration* r : generator::registered()) {
    const std::string name = r->name;
    all.push_back(of(name, name == "npu_matmul" ? "x86-64-v3+npu" : name == "gpu_matmul" ? "cuda-sm_90a" : "x86-64-v3"));
  }
  for (const char* name : {"matmul", "blur", "softmax_rows"}) all.push_back(of(name, "x86-64-v4"));
  all.push_back(of("matmul_gelu", "x86-64-v3", {{"prepacked", "true"}}));
  for (const char* name : {"attention", "conv1d"}) all.push_back(of(name, "vulkan"));
  all.push_back(of("gpu_matmul", "cuda-sm_80", {{"stages", "3"}}));
  return all;
}

}  // namespace traces
