// Calls the profiled kernels: caller CALLS [FILE]. With a FILE, it starts recording before its second call and writes the trace
// to FILE; the last call of `outside` fails. Prints what was wrong. caller repeat CALLS: one kernel over and over, for perf.
#include <outside.h>
#include <stages.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <ashlar/runtime/profile.h>

namespace {
bool fails = false;
}

extern "C" int profile_twice(const ashlar_tensor* regions, const std::int64_t*) {
  if (fails) return 7;
  const auto* in = static_cast<const float*>(regions[0].data);
  auto* out = static_cast<float*>(regions[1].data);
  for (std::int64_t i = 0; i < regions[1].shape[0]; ++i) out[i] = 2 * in[i];
  return 0;
}

namespace {

int wrong(const char* what) {
  char text[300];
  ashlar_error_text(ashlar_last_error(), text, sizeof text);
  std::printf("%s: %s\n", what, text);
  return 1;
}

int call_stages() {
  constexpr std::int64_t H = 100, W = 1000, shape[] = {H, W};
  std::vector<float> in(H * W), out(H * W), mean(W);
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<float>(k % 7);
  for (std::size_t k = 0; k < in.size(); ++k) mean[k % W] += in[k];
  const ashlar_tensor from = ashlar_dense(in.data(), ASHLAR_F32, 2, shape);
  ashlar_tensor to = ashlar_dense(out.data(), ASHLAR_F32, 2, shape);
  if (stages(&from, &to) != ASHLAR_OK) return wrong("stages");
  for (std::int64_t y = 0; y < H; ++y)
    for (std::int64_t x = 0; x < W; ++x) {
      const auto at = [&](std::int64_t row) {
        return in[static_cast<std::size_t>(std::min(std::max<std::int64_t>(row, 0), H - 1) * W + x)];
      };
      if (out[static_cast<std::size_t>(y * W + x)] != at(y - 1) + at(y + 1) + 2 * at(y) + mean[static_cast<std::size_t>(x)])
        return std::puts("stages: another result than plain loops"), 1;
    }
  return 0;
}

int call_outside() {
  const std::int64_t shape[] = {5};
  float in[5] = {1, 2, 3, 4, 5}, out[5];
  const ashlar_tensor from = ashlar_dense(in, ASHLAR_F32, 1, shape);
  ashlar_tensor to = ashlar_dense(out, ASHLAR_F32, 1, shape);
  if (outside(&from, &to) != ASHLAR_OK) return wrong("outside");
  return out[4] == 13 ? 0 : (std::puts("outside: another result"), 1);
}

int repeat(int calls) {
  constexpr std::int64_t H = 1000, W = 1000, shape[] = {H, W};
  const std::vector<float> in(H * W, 1);
  std::vector<float> out(H * W);
  const ashlar_tensor from = ashlar_dense(in.data(), ASHLAR_F32, 2, shape);
  ashlar_tensor to = ashlar_dense(out.data(), ASHLAR_F32, 2, shape);
  for (int k = 0; k < calls; ++k)
    if (stages(&from, &to) != ASHLAR_OK) return wrong("stages");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "repeat") == 0) return repeat(std::atoi(argv[2]));
  const int calls = argc > 1 ? std::atoi(argv[1]) : 1;
  for (int k = 0; k < calls; ++k) {
    if (k == 1 && argc > 2) ashlar_profile_start();
    if (call_stages() != 0 || call_outside() != 0) return 1;
  }
  if (argc <= 2) return 0;
  fails = true;
  call_outside();
  fails = false;
  if (call_outside() != 0) return 1;
  if (ashlar_profile_write(argv[2]) != ASHLAR_OK) return wrong("write");
  return 0;
}
