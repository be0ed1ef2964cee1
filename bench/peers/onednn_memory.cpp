#include "bench/peers/onednn_plan.h"

namespace bench {

using namespace dnnl;
using tag = memory::format_tag;

namespace {

constexpr memory::data_type f32 = memory::data_type::f32;
constexpr prop_kind inference = prop_kind::forward_inference;

#if DNNL_VERSION_MAJOR >= 3  // source and result have descriptions of their own
auto plan_softmax(const engine& cpu, const memory::desc& d) {
  return plan<softmax_forward>(cpu, inference, algorithm::softmax_accurate, d, d, 1);
}
auto plan_layer_norm(const engine& cpu, const memory::desc& d, float epsilon) {
  return plan<layer_normalization_forward>(cpu, inference, d, d, epsilon,
                                           normalization_flags::use_scale | normalization_flags::use_shift);
}
auto plan_eltwise(const engine& cpu, algorithm what, const memory::desc& d) {
  return plan<eltwise_forward>(cpu, inference, what, d, d, 0.0f, 0.0f);
}
#else
auto plan_softmax(const engine& cpu, const memory::desc& d) { return plan<softmax_forward>(cpu, inference, d, 1); }
auto plan_layer_norm(const engine& cpu, const memory::desc& d, float epsilon) {
  return plan<layer_normalization_forward>(cpu, inference, d, epsilon,
                                           normalization_flags::use_scale | normalization_flags::use_shift);
}
auto plan_eltwise(const engine& cpu, algorithm what, const memory::desc& d) {
  return plan<eltwise_forward>(cpu, inference, what, d, 0.0f, 0.0f);
}
#endif

}  // namespace

Prepared onednn_softmax(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  auto m = std::make_shared<OnednnCall>();
  const memory::desc d({rows, columns}, f32, tag::ab);
  const auto planned = plan_softmax(m->cpu, d);
  m->what = softmax_forward(planned);
  m->arguments = {{DNNL_ARG_SRC, m->at(d, x)}, {DNNL_ARG_DST, m->at(d, y)}};
  return prepared(std::move(m), planned.impl_info_str());
}

Prepared onednn_layer_norm(const float* x, const float* scale, const float* shift, float* y, std::int64_t rows,
                           std::int64_t columns, float epsilon) {
  auto m = std::make_shared<OnednnCall>();
  const memory::desc d({rows, columns}, f32, tag::ab), row({columns}, f32, tag::a);
  const auto planned = plan_layer_norm(m->cpu, d, epsilon);
  m->what = layer_normalization_forward(planned);
  m->arguments = {{DNNL_ARG_SRC, m->at(d, x)},
                  {DNNL_ARG_DST, m->at(d, y)},
                  {DNNL_ARG_SCALE, m->at(row, scale)},
                  {DNNL_ARG_SHIFT, m->at(row, shift)}};
  return prepared(std::move(m), planned.impl_info_str());
}

Prepared onednn_gelu(const float* x, float* y, std::int64_t n) {
  auto m = std::make_shared<OnednnCall>();
  const memory::desc d({n}, f32, tag::a);
  const auto planned = plan_eltwise(m->cpu, algorithm::eltwise_gelu_erf, d);
  m->what = eltwise_forward(planned);
  m->arguments = {{DNNL_ARG_SRC, m->at(d, x)}, {DNNL_ARG_DST, m->at(d, y)}};
  return prepared(std::move(m), planned.impl_info_str());
}

Prepared onednn_sum(const float* x, float* y, std::int64_t n) {
  auto m = std::make_shared<OnednnCall>();
  const memory::desc from({n}, f32, tag::a), to({1}, f32, tag::a);
  const auto planned = plan<reduction>(m->cpu, algorithm::reduction_sum, from, to, 0.0f, 0.0f);
  m->what = reduction(planned);
  m->arguments = {{DNNL_ARG_SRC, m->at(from, x)}, {DNNL_ARG_DST, m->at(to, y)}};
  return prepared(std::move(m), planned.impl_info_str());
}

Prepared onednn_transpose(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  auto m = std::make_shared<OnednnCall>();
  const memory from = m->at({{rows, columns}, f32, tag::ab}, x), to = m->at({{rows, columns}, f32, tag::ba}, y);
  const reorder::primitive_desc planned(from, to);
  m->what = reorder(planned);
  m->arguments = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  return prepared(std::move(m), planned.impl_info_str());
}

Prepared onednn_depthwise(const float* x, const float* w, float* y, std::int64_t channels, std::int64_t height,
                          std::int64_t width) {
  auto m = std::make_shared<OnednnCall>();
  const memory::dims taps{channels, 1, 1, 3, 3}, ones{1, 1};
  const memory::desc image({1, channels, height, width}, f32, tag::nhwc), plain(taps, f32, tag::goihw),
      any(taps, f32, tag::any);
  const auto planned =
      plan<convolution_forward>(m->cpu, inference, algorithm::convolution_direct, image, any, image, ones, ones, ones);
  m->what = convolution_forward(planned);
  m->arguments = {{DNNL_ARG_SRC, m->at(image, x)},
                  {DNNL_ARG_WEIGHTS, m->laid_out(plain, w, planned.weights_desc())},
                  {DNNL_ARG_DST, m->at(image, y)}};
  return prepared(std::move(m), planned.impl_info_str());
}

}  // namespace bench
