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
  for (const char* name : {"bicubic", "box_filter", "conv2d_backward", "fft", "harris", "int4_weights", "layer_norm", "life",
                           "lstm", "network_step", "separable_int8", "sparse"})
    all.push_back(of(name, "x86-64-v3"));
  for (const char* name : {"matmul", "blur", "matmul_gelu", "softmax_rows", "conv1d", "argmax", "equalise", "attention"})
    all.push_back(of(name, "x86-64-v4"));
  all.push_back(of("matmul_gelu", "x86-64-v3", {{"prepacked", "true"}}));
  all.push_back(of("npu_matmul", "x86-64-v3+npu"));
  for (const char* name : {"attention", "conv1d"}) all.push_back(of(name, "vulkan"));
  all.push_back(of("gpu_matmul", "cuda-sm_90a"));
  all.push_back(of("gpu_matmul", "cuda-sm_80", {{"stages", "3"}}));
  return all;
}

}  // namespace traces
