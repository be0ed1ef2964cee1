#include "bench/peers/onednn_plan.h"

namespace bench {

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

type left(Narrow n) { return n == Narrow::u8s8 ? type::u8 : type::bf16; }
type right(Narrow n) { return n == Narrow::u8s8 ? type::s8 : type::bf16; }
type result(Narrow n) { return n == Narrow::u8s8 ? type::s32 : type::f32; }

}  // namespace

Prepared onednn_narrow_product(Narrow n, const void* A, const void* B, void* C, std::int64_t M, std::int64_t N,
                               std::int64_t K) {
  return where_implemented([&](std::shared_ptr<OnednnCall> m) {
    const memory::desc a({M, K}, left(n), tag::ab), b({K, N}, right(n), tag::ab), c({M, N}, result(n), tag::ab);
    const auto planned = plan<matmul>(m->cpu, a, b, c);
    m->what = matmul(planned);
    m->arguments = {{DNNL_ARG_SRC, m->at(a, A)}, {DNNL_ARG_WEIGHTS, m->at(b, B)}, {DNNL_ARG_DST, m->at(c, C)}};
    return prepared(std::move(m), planned.impl_info_str());
  });
}

Prepared onednn_narrow_convolution(Narrow n, const void* X, const void* weights, void* Y, std::int64_t size,
                                   std::int64_t channels) {
  return where_implemented([&](std::shared_ptr<OnednnCall> m) {
    const memory::dims square{1, channels, size, size}, taps{channels, channels, 3, 3}, ones{1, 1};
    const memory::desc x(square, left(n), tag::nhwc), y(square, result(n), tag::nhwc), plain(taps, right(n), tag::oihw),
        any(taps, right(n), tag::any);
    const auto planned = plan<convolution_forward>(m->cpu, prop_kind::forward_inference, algorithm::convolution_direct, x, any,
                                                   y, ones, ones, ones);
    m->what = convolution_forward(planned);
    m->arguments = {{DNNL_ARG_SRC, m->at(x, X)},
                    {DNNL_ARG_WEIGHTS, m->laid_out(plain, weights, planned.weights_desc())},
                    {DNNL_ARG_DST, m->at(y, Y)}};
    return prepared(std::move(m), planned.impl_info_str());
  });
}

}  // namespace bench
