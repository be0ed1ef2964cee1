// everywhere [M N K]: one function, relu(A B + bias), whose library holds code for processors, for Vulkan and for CUDA. It is
// called on memory of each that this machine has, with random data, and must give the same bits on all.
//
//   everywhere 200 300 70
//   200 x 300 x 70, f32
//     processor   60000 elements
//     vulkan      llvmpipe (LLVM 15.0.6, 256 bits): the same
//     cuda        skipped: no CUDA driver (libcuda.so.1)
//
// Skipped is what is not there: no driver library, no device. Any other failure, of the driver or of a call, is an error.
// Exit codes: 0, 1 when results differ or something fails, 2 for a wrong command line.
#include <dense.h>
#ifdef APPS_VULKAN
#include <ashlar/runtime/vulkan.h>
#endif

#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>

#include "apps/everywhere/cuda_memory.h"

namespace {

struct Problem {
  std::int64_t M = 200, N = 300, K = 70;
  std::vector<float> A, B, bias, C;

  void fill() {
    std::mt19937 engine(7);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    const auto random = [&](std::int64_t count) {
      std::vector<float> values(static_cast<std::size_t>(count));
      for (float& v : values) v = uniform(engine);
      return values;
    };
    A = random(M * K), B = random(K * N), bias = random(N);
    C.assign(static_cast<std::size_t>(M * N), -1.0f);
  }
};

// Calls the function on memory of a device, which decides what runs.
void call(const Problem& p, std::int32_t device, void* A, void* B, void* bias, void* C) {
  std::int64_t a[] = {p.M, p.K}, b[] = {p.K, p.N}, row[] = {p.N}, c[] = {p.M, p.N};
  const auto tensor = [&](void* data, std::int64_t* shape, std::int32_t rank) {
    ashlar_tensor t{};
    t.data = data, t.device_type = device, t.ndim = rank, t.shape = shape;
    t.type_code = 2, t.type_bits = 32, t.type_lanes = 1;
    return t;
  };
  const ashlar_tensor ta = tensor(A, a, 2), tb = tensor(B, b, 2), tr = tensor(bias, row, 1);
  ashlar_tensor tc = tensor(C, c, 2);
  apps::check(dense(&ta, &tb, &tr, &tc));
}

#ifdef APPS_VULKAN
std::string on_vulkan(Problem& p) {
  const auto demand = [](int code, const ashlar_error& error) {
    if (code != ASHLAR_OK) apps::check(code, &error);
  };
  ashlar_error error{};
  ashlar_vulkan_queue* opened = nullptr;
  const int rc = ashlar_vulkan_open(nullptr, &opened, &error);
  if (rc == ASHLAR_E_DEVICE) throw apps::NotHere(apps::sentence(error));
  demand(rc, error);
  const std::unique_ptr<ashlar_vulkan_queue, void (*)(ashlar_vulkan_queue*)> queue(opened, ashlar_vulkan_close);
  using Buffer = std::unique_ptr<ashlar_vulkan_buffer, void (*)(ashlar_vulkan_buffer*)>;
  const auto buffer = [&](const std::vector<float>& from) {
    ashlar_vulkan_buffer* b = nullptr;
    demand(ashlar_vulkan_alloc(opened, from.size() * sizeof(float), &b, &error), error);
    Buffer owned(b, ashlar_vulkan_free);
    demand(ashlar_vulkan_upload(b, 0, from.data(), from.size() * sizeof(float), &error), error);
    return owned;
  };
  const Buffer A = buffer(p.A), B = buffer(p.B), bias = buffer(p.bias), C = buffer(p.C);
  call(p, 7, A.get(), B.get(), bias.get(), C.get());
  demand(ashlar_vulkan_download(C.get(), 0, p.C.data(), p.C.size() * sizeof(float), &error), error);
  return ashlar_vulkan_device_name(opened);
}
#endif

void on_cuda(apps::CudaDevice& device, Problem& p) {
  const auto pointer = [](std::uint64_t address) { return reinterpret_cast<void*>(address); };
  const std::uint64_t C = device.upload(p.C);
  call(p, 2, pointer(device.upload(p.A)), pointer(device.upload(p.B)), pointer(device.upload(p.bias)), pointer(C));
  device.download(C, p.C);
}

// Prints one line, and says whether the results are those of the processor.
bool agrees(const char* where, const std::string& device, const Problem& found, const Problem& expected) {
  std::size_t differ = 0;
  for (std::size_t e = 0; e < found.C.size(); ++e) differ += std::memcmp(&found.C[e], &expected.C[e], sizeof(float)) != 0;
  if (differ)
    std::printf("  %-11s %s: %zu of %zu elements differ\n", where, device.c_str(), differ, found.C.size());
  else
    std::printf("  %-11s %s: the same\n", where, device.c_str());
  return differ == 0;
}

bool parse(const char* text, std::int64_t& value) {
  const char* end = text + std::strlen(text);
  const auto r = std::from_chars(text, end, value);
  return r.ec == std::errc() && r.ptr == end && value >= 1 && value <= 8192;
}

}  // namespace

int main(int argc, char** argv) try {
  Problem p;
  if ((argc != 1 && argc != 4) || (argc == 4 && !(parse(argv[1], p.M) && parse(argv[2], p.N) && parse(argv[3], p.K)))) {
    std::fprintf(stderr, "usage: everywhere [M N K], each from 1 to 8192\n");
    return 2;
  }
  p.fill();
  std::printf("%lld x %lld x %lld, f32\n", static_cast<long long>(p.M), static_cast<long long>(p.N),
              static_cast<long long>(p.K));
  Problem expected = p;
  call(expected, 1, expected.A.data(), expected.B.data(), expected.bias.data(), expected.C.data());
  std::printf("  %-11s %zu elements\n", "processor", expected.C.size());
  bool all = true;

#ifdef APPS_VULKAN
  try {
    Problem found = p;
    const std::string device = on_vulkan(found);
    all = agrees("vulkan", device, found, expected) && all;
  } catch (const apps::NotHere& e) { std::printf("  %-11s skipped: %s\n", "vulkan", e.what()); }
#else
  std::printf("  %-11s skipped: built without Vulkan\n", "vulkan");
#endif

  std::unique_ptr<apps::CudaDevice> cuda;
  try {
    cuda = std::make_unique<apps::CudaDevice>();
  } catch (const apps::NotHere& e) { std::printf("  %-11s skipped: %s\n", "cuda", e.what()); }
  if (cuda) {
    Problem found = p;
    on_cuda(*cuda, found);
    all = agrees("cuda", "device 0", found, expected) && all;
  }
  return all ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "everywhere: %s\n", e.what());
  return 1;
}
