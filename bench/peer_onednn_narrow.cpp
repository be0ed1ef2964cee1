#include <dnnl.hpp>

#include <string>
#include <unordered_map>

#include "bench/peers.h"

namespace bench {

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

struct OnednnNarrow::Made {
  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
  primitive what;
  std::unordered_map<int, memory> arguments;
  std::string implementation;
};

namespace {

type left(Narrow n) { return n == Narrow::u8s8 ? type::u8 : type::bf16; }
type right(Narrow n) { return n == Narrow::u8s8 ? type::s8 : type::bf16; }
type result(Narrow n) { return n == Narrow::u8s8 ? type::s32 : type::f32; }
void* writable(const void* p) { return const_cast<void*>(p); }

}  // namespace

OnednnNarrow OnednnNarrow::product(Narrow n, const void* A, const void* B, void* C, std::int64_t M, std::int64_t N,
                                   std::int64_t K) {
  OnednnNarrow o;
  o.made_ = std::make_shared<Made>();
  Made& m = *o.made_;
  const memory::desc a({M, K}, left(n), tag::ab), b({K, N}, right(n), tag::ab), c({M, N}, result(n), tag::ab);
  const matmul::primitive_desc plan(matmul::desc(a, b, c), m.cpu);
  m.what = matmul(plan);
  m.implementation = plan.impl_info_str();
  m.arguments = {{DNNL_ARG_SRC, memory(a, m.cpu, writable(A))},
                 {DNNL_ARG_WEIGHTS, memory(b, m.cpu, writable(B))},
                 {DNNL_ARG_DST, memory(c, m.cpu, C)}};
  return o;
}

OnednnNarrow OnednnNarrow::convolution(Narrow n, const void* X, const void* weights, void* Y, std::int64_t size,
                                       std::int64_t channels) {
  OnednnNarrow o;
  o.made_ = std::make_shared<Made>();
  Made& m = *o.made_;
  const memory::desc x({1, channels, size, size}, left(n), tag::nhwc), y({1, channels, size, size}, result(n), tag::nhwc),
      plain({channels, channels, 3, 3}, right(n), tag::oihw), any({channels, channels, 3, 3}, right(n), tag::any);
  const convolution_forward::primitive_desc plan(
      convolution_forward::desc(prop_kind::forward_inference, algorithm::convolution_direct, x, any, y, {1, 1}, {1, 1}, {1, 1}),
      m.cpu);
  memory from(plain, m.cpu, writable(weights)), to(plan.weights_desc(), m.cpu);
  reorder(from, to).execute(m.queue, from, to);
  m.queue.wait();
  m.what = convolution_forward(plan);
  m.implementation = plan.impl_info_str();
  m.arguments = {{DNNL_ARG_SRC, memory(x, m.cpu, writable(X))}, {DNNL_ARG_WEIGHTS, to}, {DNNL_ARG_DST, memory(y, m.cpu, Y)}};
  return o;
}

void OnednnNarrow::run() const {
  made_->what.execute(made_->queue, made_->arguments);
  made_->queue.wait();
}
const char* OnednnNarrow::implementation() const { return made_->implementation.c_str(); }

}  // namespace bench
