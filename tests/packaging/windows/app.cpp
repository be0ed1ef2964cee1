// Operators on Windows beside plain loops: for each level of x86-64 that the processor has, with one thread and with several,
// from two threads at once; errors, which each thread has for itself; a GPU that is not there.
#include <ashlar/runtime/cpu.h>
#include <process.h>
#include <windows.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "attend.hpp"
#include "bytes_product.hpp"
#include "doubled.h"
#include "gelu_product.hpp"
#include "halves.hpp"
#include "softmax.hpp"

using ashlar::views::View;

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

std::uint32_t state = 1;
float random_float() {  // in [-1, 1)
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
}
std::vector<float> random_floats(std::size_t n) {
  std::vector<float> v(n);
  for (float& x : v) x = random_float();
  return v;
}

bool is_close(double a, double b) { return std::fabs(a - b) <= 1e-4 * (1 + std::fabs(b)); }

float of_half(std::uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return static_cast<float>(h >> 15 ? -value : value);
}

struct Product {  // C = gelu(A B + bias)
  static constexpr std::int64_t M = 67, K = 129, N = 70;
  std::vector<float> a = random_floats(M * K), b = random_floats(K * N), bias = random_floats(N);
  std::vector<float> computed() const {
    std::vector<float> c(M * N, -1);
    mine::gelu_product(View<const float, 2>(a.data(), {M, K}), View<const float, 2>(b.data(), {K, N}), bias,
                       View<float, 2>(c.data(), {M, N}));
    return c;
  }
  void check(const std::vector<float>& c) const {
    for (std::int64_t i = 0; i < M; ++i)
      for (std::int64_t j = 0; j < N; ++j) {
        double sum = bias[j];
        for (std::int64_t k = 0; k < K; ++k) sum += static_cast<double>(a[i * K + k]) * b[k * N + j];
        expect(is_close(c[i * N + j], sum / 2 * (1 + std::erf(sum / std::sqrt(2.0)))), "gelu(A B + bias)");
      }
  }
};

void bytes() {
  constexpr std::int64_t M = 33, K = 100, N = 35;
  std::vector<std::int8_t> a(M * K), b(K * N);
  for (auto& x : a) x = static_cast<std::int8_t>(random_float() * 127);
  for (auto& x : b) x = static_cast<std::int8_t>(random_float() * 127);
  std::vector<std::int32_t> c(M * N);
  mine::bytes_product(View<const std::int8_t, 2>(a.data(), {M, K}), View<const std::int8_t, 2>(b.data(), {K, N}),
                      View<std::int32_t, 2>(c.data(), {M, N}));
  for (std::int64_t i = 0; i < M; ++i)
    for (std::int64_t j = 0; j < N; ++j) {
      std::int32_t sum = 0;
      for (std::int64_t k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
      expect(c[i * N + j] == sum, "A B of bytes");
    }
}

void rows() {
  constexpr std::int64_t M = 9, N = 1001;
  const std::vector<float> x = random_floats(M * N);
  std::vector<float> y(M * N);
  mine::softmax(View<const float, 2>(x.data(), {M, N}), View<float, 2>(y.data(), {M, N}));
  for (std::int64_t i = 0; i < M; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < N; ++j) sum += std::exp(static_cast<double>(x[i * N + j]));
    for (std::int64_t j = 0; j < N; ++j) expect(is_close(y[i * N + j] * 1000, std::exp(x[i * N + j]) / sum * 1000), "softmax");
  }
}

void halves() {
  constexpr std::int64_t M = 3, N = 4096;
  std::vector<std::uint16_t> x(M * N), y(M * N);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<std::uint16_t>((i * 5 & 0x7fff) % 0x4c00 | (i & 1) << 15);  // below 16
  mine::halves(View<const std::uint16_t, 2>(x.data(), {M, N}), View<std::uint16_t, 2>(y.data(), {M, N}));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = of_half(x[i]), right = v / (1 + std::exp(-v));
    expect(std::fabs(of_half(y[i]) - right) <= std::fabs(right) / 1000 + 1e-6, "silu of f16");
  }
}

void attention() {
  constexpr std::int64_t M = 19, N = 40, D = 64;
  const std::vector<float> q = random_floats(M * D), k = random_floats(N * D), v = random_floats(N * D);
  std::vector<float> y(M * D);
  mine::attend(View<const float, 4>(q.data(), {1, 1, M, D}), View<const float, 4>(k.data(), {1, 1, N, D}),
               View<const float, 4>(v.data(), {1, 1, N, D}), View<float, 4>(y.data(), {1, 1, M, D}));
  for (std::int64_t i = 0; i < M; ++i) {
    std::vector<double> weights(N), sums(D);
    double total = 0;
    for (std::int64_t j = 0; j < N; ++j) {
      double score = 0;
      for (std::int64_t d = 0; d < D; ++d) score += static_cast<double>(q[i * D + d]) * k[j * D + d];
      total += weights[j] = std::exp(score / 8);
      for (std::int64_t d = 0; d < D; ++d) sums[d] += weights[j] * v[j * D + d];
    }
    for (std::int64_t d = 0; d < D; ++d) expect(is_close(y[i * D + d], sums[d] / total), "attention");
  }
}

unsigned __stdcall another_thread(void* given) {  // its calls, and an error of its own
  const Product& p = *static_cast<const Product*>(given);
  for (int n = 0; n < 20; ++n) p.check(p.computed());
  float x[4] = {}, y[4] = {};
  const std::int64_t four[] = {4}, three[] = {3};
  ashlar_tensor from = ashlar_dense(x, ASHLAR_F32, 1, four), to = ashlar_dense(y, ASHLAR_F32, 1, three);
  expect(doubled(&from, &to) == ASHLAR_E_SHAPE && ashlar_last_error()->code == ASHLAR_E_SHAPE, "an error of a thread");
  return 0;
}

std::string text_of_last_error() {
  char text[400];
  ashlar_error_text(ashlar_last_error(), text, sizeof text);
  return text;
}

}  // namespace

int main() {
  int levels = 0;
  const Product product;
  for (const char* target : {"x86-64-mingw", "x86-64-v3-mingw", "x86-64-v4-mingw"}) {
    ashlar_set_target(target);
    try {
      bytes();
    } catch (const ashlar::views::Error& e) {
      expect(e.code() == ASHLAR_E_TARGET, "a level that the processor lacks");
      continue;
    }
    ++levels;
    expect(ashlar_set_threads(1) == ASHLAR_OK, "one thread");
    const std::vector<float> alone = product.computed();
    product.check(alone);
    expect(ashlar_set_threads(4) == ASHLAR_OK && ashlar_threads() == 4, "four threads");
    for (int n = 0; n < 50; ++n) expect(product.computed() == alone, "the same bits with four threads");
    rows();
    halves();
    attention();
  }
  ashlar_set_target(nullptr);

  float x[4] = {1, 2, 3, 4}, y[4] = {};
  const std::int64_t four[] = {4};
  ashlar_tensor from = ashlar_dense(x, ASHLAR_F32, 1, four), to = ashlar_dense(y, ASHLAR_F32, 1, four);
  expect(doubled(&from, &to) == ASHLAR_OK && y[3] == 8, "doubled");
  from.device_type = to.device_type = 2;
  expect(doubled(&from, &to) == ASHLAR_E_DEVICE, "memory of a device that is not here");
  const std::string before = text_of_last_error();
  expect(before.find("nvcuda.dll cannot be opened") != before.npos, before.c_str());

  const HANDLE thread =
      reinterpret_cast<HANDLE>(_beginthreadex(nullptr, 0, another_thread, const_cast<Product*>(&product), 0, nullptr));
  expect(thread != nullptr, "a thread");
  for (int n = 0; n < 20; ++n) product.check(product.computed());
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
  expect(text_of_last_error() == before, "the error of another thread is not ours");
  std::printf("%d levels are right, with one thread and with four\n", levels);
  return 0;
}
