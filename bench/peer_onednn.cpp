#include <dnnl.hpp>
#include <omp.h>

#include <map>
#include <string>
#include <tuple>

#include "bench/peers.h"

namespace bench {

void onednn_threads(int threads) { omp_set_num_threads(threads); }

// The primitive is made once a shape, as its users do; what is timed is its execution.
void onednn_matmul(const float* A, const float* B, float* C, std::int64_t M, std::int64_t N, std::int64_t K) {
  using namespace dnnl;
  static engine cpu(engine::kind::cpu, 0);
  static stream queue(cpu);
  struct Made {
    matmul primitive;
    memory a, b, c;
  };
  static std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, int>, Made> made;
  const auto key = std::make_tuple(M, N, K, omp_get_max_threads());  // it plans for the threads there are when it is made
  auto found = made.find(key);
  if (found == made.end()) {
    auto dense = [&](std::int64_t rows, std::int64_t columns) {
      return memory::desc({rows, columns}, memory::data_type::f32, memory::format_tag::ab);
    };
    const memory::desc a = dense(M, K), b = dense(K, N), c = dense(M, N);
    const matmul::primitive_desc plan(matmul::desc(a, b, c), cpu);
    found =
        made.emplace(key, Made{matmul(plan), memory(a, cpu, nullptr), memory(b, cpu, nullptr), memory(c, cpu, nullptr)}).first;
  }
  Made& m = found->second;
  m.a.set_data_handle(const_cast<float*>(A)), m.b.set_data_handle(const_cast<float*>(B)), m.c.set_data_handle(C);
  m.primitive.execute(queue, {{DNNL_ARG_SRC, m.a}, {DNNL_ARG_WEIGHTS, m.b}, {DNNL_ARG_DST, m.c}});
  queue.wait();
}

const char* onednn_about() {
  static const std::string text = [] {
    const dnnl_version_t* v = dnnl_version();
    return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  }();
  return text.c_str();
}

}  // namespace bench
