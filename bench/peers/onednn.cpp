#include "bench/peers/onednn_plan.h"

namespace bench {

using namespace dnnl;

Prepared onednn_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K) {
  return where_implemented([&](std::shared_ptr<OnednnCall> m) {
    const auto dense = [](std::int64_t rows, std::int64_t columns) {
      return memory::desc({rows, columns}, memory::data_type::f32, memory::format_tag::ab);
    };
    const memory::desc a = dense(M, K), b = dense(K, N), c = dense(M, N);
    const auto planned = plan<matmul>(m->cpu, a, b, c);
    m->what = matmul(planned);
    m->arguments = {{DNNL_ARG_SRC, m->at(a, A)}, {DNNL_ARG_WEIGHTS, m->at(b, B)}, {DNNL_ARG_DST, m->at(c, C)}};
    return prepared(std::move(m), planned.impl_info_str());
  });
}

}  // namespace bench

extern "C" __attribute__((visibility("default"))) const bench::Onednn* bench_onednn() {
  using namespace bench;
  static const std::string version = [] {
    const dnnl_version_t* v = dnnl_version();
    return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  }();
  static const Onednn functions{.version = version.c_str(),
                                .matmul = onednn_matmul,
                                .narrow_product = onednn_narrow_product,
                                .narrow_convolution = onednn_narrow_convolution,
                                .convolution = onednn_convolution,
                                .attention = onednn_attention,
                                .softmax = onednn_softmax,
                                .layer_norm = onednn_layer_norm,
                                .gelu = onednn_gelu,
                                .sum = onednn_sum,
                                .transpose = onednn_transpose,
                                .depthwise = onednn_depthwise};
  return &functions;
}
