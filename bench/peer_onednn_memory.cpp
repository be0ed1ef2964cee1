#include <dnnl.hpp>

#include <memory>
#include <unordered_map>
#include <utility>

#include "bench/memory_peers.h"

namespace bench {
namespace {

using namespace dnnl;
using tag = memory::format_tag;
constexpr memory::data_type f32 = memory::data_type::f32;

struct Made {
  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
  primitive what;
  std::unordered_map<int, memory> arguments;
};

float* writable(const float* p) { return const_cast<float*>(p); }

Prepared prepared(std::shared_ptr<Made> m, const char* about) {
  return {[m = std::move(m)] { m->what.execute(m->queue, m->arguments), m->queue.wait(); }, about};
}

}  // namespace

Prepared onednn_softmax(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  auto m = std::make_shared<Made>();
  const memory::desc d({rows, columns}, f32, tag::ab);
  const softmax_forward::primitive_desc plan(softmax_forward::desc(prop_kind::forward_inference, d, 1), m->cpu);
  m->what = softmax_forward(plan);
  m->arguments = {{DNNL_ARG_SRC, memory(d, m->cpu, writable(x))}, {DNNL_ARG_DST, memory(d, m->cpu, y)}};
  return prepared(std::move(m), plan.impl_info_str());
}

Prepared onednn_layer_norm(const float* x, const float* scale, const float* shift, float* y, std::int64_t rows,
                           std::int64_t columns, float epsilon) {
  auto m = std::make_shared<Made>();
  const memory::desc d({rows, columns}, f32, tag::ab), row({columns}, f32, tag::a);
  const layer_normalization_forward::primitive_desc plan(
      layer_normalization_forward::desc(prop_kind::forward_inference, d, epsilon,
                                        normalization_flags::use_scale | normalization_flags::use_shift),
      m->cpu);
  m->what = layer_normalization_forward(plan);
  m->arguments = {{DNNL_ARG_SRC, memory(d, m->cpu, writable(x))},
                  {DNNL_ARG_DST, memory(d, m->cpu, y)},
                  {DNNL_ARG_SCALE, memory(row, m->cpu, writable(scale))},
                  {DNNL_ARG_SHIFT, memory(row, m->cpu, writable(shift))}};
  return prepared(std::move(m), plan.impl_info_str());
}

Prepared onednn_gelu(const float* x, float* y, std::int64_t n) {
  auto m = std::make_shared<Made>();
  const memory::desc d({n}, f32, tag::a);
  const eltwise_forward::primitive_desc plan(
      eltwise_forward::desc(prop_kind::forward_inference, algorithm::eltwise_gelu_erf, d, 0.0f, 0.0f), m->cpu);
  m->what = eltwise_forward(plan);
  m->arguments = {{DNNL_ARG_SRC, memory(d, m->cpu, writable(x))}, {DNNL_ARG_DST, memory(d, m->cpu, y)}};
  return prepared(std::move(m), plan.impl_info_str());
}

Prepared onednn_sum(const float* x, float* y, std::int64_t n) {
  auto m = std::make_shared<Made>();
  const memory::desc from({n}, f32, tag::a), to({1}, f32, tag::a);
  const reduction::primitive_desc plan(reduction::desc(algorithm::reduction_sum, from, to, 0.0f, 0.0f), m->cpu);
  m->what = reduction(plan);
  m->arguments = {{DNNL_ARG_SRC, memory(from, m->cpu, writable(x))}, {DNNL_ARG_DST, memory(to, m->cpu, y)}};
  return prepared(std::move(m), plan.impl_info_str());
}

Prepared onednn_transpose(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  auto m = std::make_shared<Made>();
  const memory from({{rows, columns}, f32, tag::ab}, m->cpu, writable(x)), to({{rows, columns}, f32, tag::ba}, m->cpu, y);
  const reorder::primitive_desc plan(from, to);
  m->what = reorder(plan);
  m->arguments = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  return prepared(std::move(m), plan.impl_info_str());
}

Prepared onednn_depthwise(const float* x, const float* w, float* y, std::int64_t channels, std::int64_t height,
                          std::int64_t width) {
  auto m = std::make_shared<Made>();
  const memory::desc image({1, channels, height, width}, f32, tag::nhwc), plain({channels, 1, 1, 3, 3}, f32, tag::goihw),
      any({channels, 1, 1, 3, 3}, f32, tag::any);
  const convolution_forward::primitive_desc plan(
      convolution_forward::desc(prop_kind::forward_inference, algorithm::convolution_direct, image, any, image, {1, 1}, {1, 1},
                                {1, 1}),
      m->cpu);
  memory given(plain, m->cpu, writable(w)), weights(plan.weights_desc(), m->cpu);
  reorder(given, weights).execute(m->queue, given, weights);
  m->queue.wait();
  m->what = convolution_forward(plan);
  m->arguments = {{DNNL_ARG_SRC, memory(image, m->cpu, writable(x))},
                  {DNNL_ARG_WEIGHTS, weights},
                  {DNNL_ARG_DST, memory(image, m->cpu, y)}};
  return prepared(std::move(m), plan.impl_info_str());
}

}  // namespace bench
