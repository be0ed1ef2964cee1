#include <cmath>
#include <vector>

#include "bench/peers/onednn_plan.h"

namespace bench {

using namespace dnnl;
using type = memory::data_type;

namespace {

struct Steps {
  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
  matmul scores, weighted;
  softmax_forward softmax;
  struct Step {
    const primitive* what;
    std::unordered_map<int, memory> arguments;
  };
  std::vector<Step> steps;
};

#if DNNL_VERSION_MAJOR >= 3
matmul::primitive_desc scaled_product(const engine& cpu, const memory::desc& a, const memory::desc& b, const memory::desc& c,
                                      float scale) {
  post_ops after;
  after.append_eltwise(algorithm::eltwise_linear, scale, 0);
  primitive_attr attributes;
  attributes.set_post_ops(after);
  return {cpu, a, b, c, attributes};
}
softmax_forward::primitive_desc plan_softmax(const engine& cpu, const memory::desc& d, int axis) {
  return {cpu, prop_kind::forward_inference, algorithm::softmax_accurate, d, d, axis};
}
#else
matmul::primitive_desc scaled_product(const engine& cpu, const memory::desc& a, const memory::desc& b, const memory::desc& c,
                                      float scale) {
  primitive_attr attributes;
  attributes.set_output_scales(0, {scale});
  return {matmul::desc(a, b, c), attributes, cpu};
}
softmax_forward::primitive_desc plan_softmax(const engine& cpu, const memory::desc& d, int axis) {
  return {softmax_forward::desc(prop_kind::forward_inference, d, axis), cpu};
}
#endif

}  // namespace

Prepared onednn_attention(bool head_by_head, const float* q, const float* k, const float* v, float* y, std::int64_t heads,
                          std::int64_t queries, std::int64_t length, std::int64_t D) {
  auto made = std::make_shared<Steps>();
  Steps& m = *made;
  const std::int64_t batch = head_by_head ? 1 : heads;
  const memory::desc rows({batch, queries, D}, type::f32, memory::format_tag::abc),
      values({batch, length, D}, type::f32, memory::format_tag::abc),
      keys({batch, D, length}, type::f32, memory::format_tag::acb),
      square({batch, queries, length}, type::f32, memory::format_tag::abc);
  m.scores = matmul(scaled_product(m.cpu, rows, keys, square, 1 / std::sqrt(static_cast<float>(D))));
  m.softmax = softmax_forward(plan_softmax(m.cpu, square, 2));
  m.weighted = matmul(plan<matmul>(m.cpu, square, values, rows));
  const memory held(square, m.cpu);
  for (std::int64_t h = 0; h < heads; h += batch) {
    const auto of = [&](const memory::desc& layout, const float* data, std::int64_t n) {
      return memory(layout, m.cpu, const_cast<float*>(data) + h * n * D);
    };
    m.steps.push_back(
        {&m.scores, {{DNNL_ARG_SRC, of(rows, q, queries)}, {DNNL_ARG_WEIGHTS, of(keys, k, length)}, {DNNL_ARG_DST, held}}});
    m.steps.push_back({&m.softmax, {{DNNL_ARG_SRC, held}, {DNNL_ARG_DST, held}}});
    m.steps.push_back(
        {&m.weighted, {{DNNL_ARG_SRC, held}, {DNNL_ARG_WEIGHTS, of(values, v, length)}, {DNNL_ARG_DST, of(rows, y, queries)}}});
  }
  return {[made] {
            for (const Steps::Step& step : made->steps) step.what->execute(made->queue, step.arguments);
            made->queue.wait();
          },
          ""};
}

}  // namespace bench
