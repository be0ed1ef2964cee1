#include <dnnl.hpp>

#include <cmath>
#include <unordered_map>
#include <vector>

#include "bench/peers.h"

namespace bench {

using namespace dnnl;
using type = memory::data_type;

struct OnednnAttention::Made {
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

OnednnAttention::OnednnAttention(bool head_by_head, const float* q, const float* k, const float* v, float* y,
                                 std::int64_t heads, std::int64_t queries, std::int64_t length, std::int64_t D)
    : made_(std::make_shared<Made>()) {
  Made& m = *made_;
  const std::int64_t batch = head_by_head ? 1 : heads;
  const memory::desc rows({batch, queries, D}, type::f32, memory::format_tag::abc),
      values({batch, length, D}, type::f32, memory::format_tag::abc),
      keys({batch, D, length}, type::f32, memory::format_tag::acb),
      square({batch, queries, length}, type::f32, memory::format_tag::abc);
  primitive_attr scaled;
  scaled.set_output_scales(0, {1 / std::sqrt(static_cast<float>(D))});
  m.scores = matmul(matmul::primitive_desc(matmul::desc(rows, keys, square), scaled, m.cpu));
  m.softmax =
      softmax_forward(softmax_forward::primitive_desc(softmax_forward::desc(prop_kind::forward_inference, square, 2), m.cpu));
  m.weighted = matmul(matmul::primitive_desc(matmul::desc(square, values, rows), m.cpu));
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
}

void OnednnAttention::run() const {
  for (const Made::Step& step : made_->steps) step.what->execute(made_->queue, step.arguments);
  made_->queue.wait();
}

}  // namespace bench
