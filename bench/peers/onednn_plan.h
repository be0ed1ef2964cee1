#pragma once
// What versions 2 and 3 of oneDNN say differently: how a primitive is planned.
#include <dnnl.hpp>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "bench/peers/onednn_library.h"

namespace bench {

// plan<matmul>(cpu, a, b, c): what describes the operation, in the order that both versions have.
template <class Primitive, class... What>
typename Primitive::primitive_desc plan(const dnnl::engine& cpu, const What&... what) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(cpu, what...);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(what...), cpu);
#endif
}

// A primitive with its memory, as a call.
struct OnednnCall {
  dnnl::engine cpu{dnnl::engine::kind::cpu, 0};
  dnnl::stream queue{cpu};
  dnnl::primitive what;
  std::unordered_map<int, dnnl::memory> arguments;

  // `data` in the layout that was planned.
  dnnl::memory laid_out(const dnnl::memory::desc& plain, const void* data, const dnnl::memory::desc& wanted) {
    dnnl::memory from(plain, cpu, const_cast<void*>(data)), to(wanted, cpu);
    dnnl::reorder(from, to).execute(queue, from, to);
    queue.wait();
    return to;
  }
  dnnl::memory at(const dnnl::memory::desc& d, const void* data) const { return dnnl::memory(d, cpu, const_cast<void*>(data)); }
};

inline Prepared prepared(std::shared_ptr<OnednnCall> m, const char* about) {
  return {[m = std::move(m)] { m->what.execute(m->queue, m->arguments), m->queue.wait(); }, about};
}

// make(), or none where the library has not the primitive.
template <class F>
Prepared where_implemented(F make) {
  try {
    return make(std::make_shared<OnednnCall>());
  } catch (const dnnl::error& e) {
    if (e.status != dnnl_unimplemented) throw;
    return {nullptr, "not implemented"};
  }
}

Prepared onednn_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K);
Prepared onednn_narrow_product(Narrow, const void* A, const void* B, void* C, std::int64_t M, std::int64_t N, std::int64_t K);
Prepared onednn_narrow_convolution(Narrow, const void* X, const void* weights, void* Y, std::int64_t size,
                                   std::int64_t channels);
PreparedConvolution onednn_convolution(const ConvolutionShape&, const float* x, const float* weights, float* result);
Prepared onednn_attention(bool head_by_head, const float* q, const float* k, const float* v, float* y, std::int64_t heads,
                          std::int64_t queries, std::int64_t length, std::int64_t D);
Prepared onednn_softmax(const float* x, float* y, std::int64_t rows, std::int64_t columns);
Prepared onednn_layer_norm(const float* x, const float* scale, const float* shift, float* y, std::int64_t rows,
                           std::int64_t columns, float epsilon);
Prepared onednn_gelu(const float* x, float* y, std::int64_t n);
Prepared onednn_sum(const float* x, float* y, std::int64_t n);
Prepared onednn_transpose(const float* x, float* y, std::int64_t rows, std::int64_t columns);
Prepared onednn_depthwise(const float* x, const float* w, float* y, std::int64_t channels, std::int64_t height,
                          std::int64_t width);

}  // namespace bench
