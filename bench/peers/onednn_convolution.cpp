#include "bench/peers/onednn_plan.h"

namespace bench {

using namespace dnnl;
using tag = memory::format_tag;

PreparedConvolution onednn_convolution(const ConvolutionShape& c, const float* x, const float* weights, float* result) {
  auto m = std::make_shared<OnednnCall>();
  const std::int64_t around = c.window / 2, out = (c.size - 1) / c.stride + 1;
  const auto of = [](memory::dims dims, tag t) { return memory::desc(std::move(dims), memory::data_type::f32, t); };
  const memory::dims xs{1, c.channels, c.size, c.size}, ws{c.outputs, c.channels, c.window, c.window},
      ys{1, c.outputs, out, out}, strides{c.stride, c.stride}, rim{around, around};
  const auto planned = plan<convolution_forward>(m->cpu, prop_kind::forward_inference, algorithm::convolution_direct,
                                                 of(xs, tag::any), of(ws, tag::any), of(ys, tag::any), strides, rim, rim);
  const memory y(planned.dst_desc(), m->cpu), plain(of(ys, tag::nchw), m->cpu, result);
  m->what = convolution_forward(planned);
  m->arguments = {{DNNL_ARG_SRC, m->laid_out(of(xs, tag::nchw), x, planned.src_desc())},
                  {DNNL_ARG_WEIGHTS, m->laid_out(of(ws, tag::oihw), weights, planned.weights_desc())},
                  {DNNL_ARG_DST, y}};
  const auto take = [m, y, plain] {
    memory from = y, to = plain;
    reorder(from, to).execute(m->queue, from, to);
    m->queue.wait();
  };
  return {prepared(m, planned.impl_info_str()), take};
}

}  // namespace bench
