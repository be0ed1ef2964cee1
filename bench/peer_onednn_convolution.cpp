#include <dnnl.hpp>

#include <unordered_map>

#include "bench/peers.h"

namespace bench {

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

struct OnednnConvolution::Made {
  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
  primitive what;
  memory plain_y, y;
  std::unordered_map<int, memory> arguments;
  std::string implementation;
};

OnednnConvolution::OnednnConvolution(const ConvolutionShape& c, const float* x, const float* weights, float* result)
    : made_(std::make_shared<Made>()) {
  Made& m = *made_;
  const std::int64_t around = c.window / 2, out = (c.size - 1) / c.stride + 1;
  const auto of = [](memory::dims dims, tag t) { return memory::desc(std::move(dims), type::f32, t); };
  const memory::dims xs{1, c.channels, c.size, c.size}, ws{c.outputs, c.channels, c.window, c.window},
      ys{1, c.outputs, out, out};
  const convolution_forward::primitive_desc plan(
      convolution_forward::desc(prop_kind::forward_inference, algorithm::convolution_direct, of(xs, tag::any), of(ws, tag::any),
                                of(ys, tag::any), {c.stride, c.stride}, {around, around}, {around, around}),
      m.cpu);
  const auto laid_out = [&](const memory::desc& plain, const float* data, const memory::desc& wanted) {
    memory from(plain, m.cpu, const_cast<float*>(data)), to(wanted, m.cpu);
    reorder(from, to).execute(m.queue, from, to);
    m.queue.wait();
    return to;
  };
  m.y = memory(plan.dst_desc(), m.cpu);
  m.plain_y = memory(of(ys, tag::nchw), m.cpu, result);
  m.what = convolution_forward(plan);
  m.implementation = plan.impl_info_str();
  m.arguments = {{DNNL_ARG_SRC, laid_out(of(xs, tag::nchw), x, plan.src_desc())},
                 {DNNL_ARG_WEIGHTS, laid_out(of(ws, tag::oihw), weights, plan.weights_desc())},
                 {DNNL_ARG_DST, m.y}};
}

void OnednnConvolution::run() const {
  made_->what.execute(made_->queue, made_->arguments);
  made_->queue.wait();
}
void OnednnConvolution::take_result() const {
  reorder(made_->y, made_->plain_y).execute(made_->queue, made_->y, made_->plain_y);
  made_->queue.wait();
}
const char* OnednnConvolution::implementation() const { return made_->implementation.c_str(); }

}  // namespace bench
