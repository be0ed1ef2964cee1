// mma, ldmatrix, stmatrix, movmatrix, cp.async: the places of fragments as the document lists them for each shape.
#include <bit>
#include <cmath>
#include <functional>

#include "tests/ptx/snippet.h"

namespace {

using namespace ptx_tests;

// A place of element number i of a lane's fragment: row and column, in the words of the document.
using Place = std::function<std::pair<int, int>(int lane, int i)>;

struct Product {
  const char *opcode, *types;
  int m, n, k, bits;  // of elements of A and B
  int a_registers, b_registers, c_registers;
  Place a, b;
};

int random_small(int seed) { return static_cast<int>((static_cast<unsigned>(seed) * 2654435761u) >> 13) % 7 - 3; }

std::string registers(const char* prefix, int first, int count) {
  std::string s = "{";
  for (int n = 0; n < count; ++n) s += (n > 0 ? ", " : "") + std::string(prefix) + std::to_string(first + n);
  return s + "}";
}

std::uint32_t encoded(int value, const std::string& type) {
  const float f = static_cast<float>(value);
  if (type == "f16") {  // small integers are exact
    if (value == 0) return 0;
    int e = 0;
    const float m = std::frexp(std::fabs(f), &e);
    return (value < 0 ? 0x8000u : 0) | static_cast<std::uint32_t>(e - 1 + 15) << 10 |
           static_cast<std::uint32_t>((m * 2 - 1) * 1024);
  }
  if (type == "bf16") return std::bit_cast<std::uint32_t>(f) >> 16;
  if (type == "tf32") return std::bit_cast<std::uint32_t>(f);
  return static_cast<std::uint32_t>(value);
}

void check_product(const Product& p, const std::string& type, bool integers) {
  CAPTURE(std::string(p.opcode));
  const int ra = p.a_registers, rb = p.b_registers, each_register = 32 / p.bits;
  std::string body = head() +
                     ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c) {\n.reg .b32 %r<60>; .reg .b64 %rd<9>;\n"
                     "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; mov.u32 %r0, %tid.x; "
                     "mul.wide.u32 %rd4, %r0, 16; mul.wide.u32 %rd5, %r0, 8;\n"
                     "add.u64 %rd1, %rd1, %rd4; add.u64 %rd3, %rd3, %rd4; add.u64 %rd2, %rd2, %rd5;\n";
  for (int n = 0; n < ra; ++n)
    body += "ld.global.b32 %r" + std::to_string(10 + n) + ", [%rd1+" + std::to_string(4 * n) + "];\n";
  for (int n = 0; n < rb; ++n)
    body += "ld.global.b32 %r" + std::to_string(20 + n) + ", [%rd2+" + std::to_string(4 * n) + "];\n";
  for (int n = 0; n < p.c_registers; ++n)
    body += "ld.global.b32 %r" + std::to_string(30 + n) + ", [%rd3+" + std::to_string(4 * n) + "];\n";
  const std::string c = registers("%r", 30, p.c_registers);
  body += std::string(p.opcode) + " " + c + ", " + registers("%r", 10, ra) + ", " + registers("%r", 20, rb) + ", " + c + ";\n";
  for (int n = 0; n < p.c_registers; ++n)
    body += "st.global.b32 [%rd3+" + std::to_string(4 * n) + "], %r" + std::to_string(30 + n) + ";\n";
  const Module module = Module::parse(body + "ret; }\n");
  std::vector<std::uint32_t> a(32 * 4), b(32 * 2), acc(32 * 4);
  const auto fill = [&](std::vector<std::uint32_t>& to, int per_lane, int count, const Place& place, int seed, int stride) {
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < count * each_register; ++i) {
        const auto [row, column] = place(lane, i);
        const std::uint32_t mask = p.bits == 32 ? ~0u : (1u << p.bits) - 1;
        to[static_cast<std::size_t>(lane * per_lane + i / each_register)] |=
            (encoded(random_small(seed + row * stride + column), type) & mask) << (i % each_register * p.bits);
      }
  };
  fill(a, 4, ra, p.a, 1000, p.k), fill(b, 2, rb, p.b, 5000, p.n);
  const auto c_place = [](int lane, int i) { return std::pair{lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)}; };
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < p.c_registers; ++i)
      acc[static_cast<std::size_t>(lane * 4 + i)] =
          integers ? static_cast<std::uint32_t>(i) : std::bit_cast<std::uint32_t>(static_cast<float>(i));
  Device device;
  const std::uint64_t pa = device.alloc(512), pb = device.alloc(256), pc = device.alloc(512);
  device.write(pa, a.data(), 512), device.write(pb, b.data(), 256), device.write(pc, acc.data(), 512);
  device.launch(module, "k", {.block = {32, 1, 1}}, {piece(pa), piece(pb), piece(pc)});
  device.read(acc.data(), pc, 512);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < p.c_registers; ++i) {
      const auto [row, column] = c_place(lane, i);
      int sum = i;
      for (int k = 0; k < p.k; ++k) sum += random_small(1000 + row * p.k + k) * random_small(5000 + k * p.n + column);
      const std::uint32_t got = acc[static_cast<std::size_t>(lane * 4 + i)];
      CHECK(got == (integers ? static_cast<std::uint32_t>(sum) : std::bit_cast<std::uint32_t>(static_cast<float>(sum))));
    }
}

TEST_CASE("mma: where the elements of fragments are") {
  const auto g = [](int lane) { return lane >> 2; };
  const auto t = [](int lane) { return lane % 4; };
  check_product({"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "", 16, 8, 16, 16, 4, 2, 4,
                 [=](int l, int i) {
                   return std::pair{(i < 2 || (i >= 4 && i < 6)) ? g(l) : g(l) + 8,
                                    i < 4 ? t(l) * 2 + (i & 1) : t(l) * 2 + (i & 1) + 8};
                 },
                 [=](int l, int i) { return std::pair{i < 2 ? t(l) * 2 + (i & 1) : t(l) * 2 + (i & 1) + 8, g(l)}; }},
                "f16", false);
  check_product({"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "", 16, 8, 8, 16, 2, 1, 4,
                 [=](int l, int i) { return std::pair{i < 2 ? g(l) : g(l) + 8, t(l) * 2 + (i & 1)}; },
                 [=](int l, int i) { return std::pair{t(l) * 2 + i, g(l)}; }},
                "bf16", false);
  check_product({"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "", 16, 8, 8, 32, 4, 2, 4,
                 [=](int l, int i) { return std::pair{(i == 0 || i == 2) ? g(l) : g(l) + 8, i < 2 ? t(l) : t(l) + 4}; },
                 [=](int l, int i) { return std::pair{i == 0 ? t(l) : t(l) + 4, g(l)}; }},
                "tf32", false);
  check_product({"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "", 16, 8, 32, 8, 4, 2, 4,
                 [=](int l, int i) {
                   return std::pair{(i < 4 || (i >= 8 && i < 12)) ? g(l) : g(l) + 8,
                                    i < 8 ? t(l) * 4 + (i & 3) : t(l) * 4 + (i & 3) + 16};
                 },
                 [=](int l, int i) { return std::pair{i < 4 ? t(l) * 4 + (i & 3) : t(l) * 4 + (i & 3) + 16, g(l)}; }},
                "s8", true);
  check_product({"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", "", 16, 8, 16, 8, 2, 1, 4,
                 [=](int l, int i) { return std::pair{i < 4 ? g(l) : g(l) + 8, t(l) * 4 + (i & 3)}; },
                 [=](int l, int i) { return std::pair{t(l) * 4 + i, g(l)}; }},
                "s8", true);
  check_product({"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", "", 16, 8, 64, 4, 4, 2, 4,
                 [=](int l, int i) {
                   return std::pair{(i < 8 || (i >= 16 && i < 24)) ? g(l) : g(l) + 8,
                                    i < 16 ? t(l) * 8 + (i & 7) : t(l) * 8 + (i & 7) + 32};
                 },
                 [=](int l, int i) { return std::pair{i < 8 ? t(l) * 8 + (i & 7) : t(l) * 8 + (i & 7) + 32, g(l)}; }},
                "s4", true);
}

TEST_CASE("mma of f64, and of f16 with sums of f16") {
  // A is the identity's first columns: element (g, t) of A is 1 where g == t
  Lanes a = {}, b = {}, c = {};
  for (std::uint64_t l = 0; l < 32; ++l) {
    a[l] = std::bit_cast<std::uint64_t>(l / 4 == l % 4 ? 1.0 : 0.0),
    b[l] = std::bit_cast<std::uint64_t>(static_cast<double>(l));
    c[l] = std::bit_cast<std::uint64_t>(100.0);
  }
  const Lanes d =
      lanes("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd4, %fd5}, {%fd1}, {%fd2}, {%fd3, %fd3};", "%fd5", a, b, c);
  for (std::uint64_t l = 0; l < 32; ++l) {  // row g, column 2 t + 1: B's row g of that column is lane 4 (2 t + 1) + g
    const double expected = l / 4 < 4 ? 100.0 + static_cast<double>(4 * (2 * (l % 4) + 1) + l / 4) : 100.0;
    CHECK(std::bit_cast<double>(d[l]) == expected);
  }
  Lanes ones;
  ones.fill(0x3c003c00);
  CHECK(lanes("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r4, %r5}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r1, %r1};",
              "%r5", ones)[3] == 0x4c404c40);
}

TEST_CASE("matrices of 8 x 8") {
  Lanes a;
  for (std::uint64_t l = 0; l < 32; ++l) a[l] = 2 * l | (2 * l + 1) << 16;  // element n of the matrix is n
  const Lanes turned = lanes("movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r1;", "%r4", a);
  for (std::uint64_t l = 0; l < 32; ++l) CHECK(turned[l] == (((l % 4 * 2) * 8 + l / 4) | ((l % 4 * 2 + 1) * 8 + l / 4) << 16));
  // rows stored at distances of 32 bytes in reverse, read back by other addresses
  const std::string rows =
      "mov.u32 %r5, area; and.b32 %r6, %r0, 7; sub.u32 %r7, 7, %r6; shl.b32 %r7, %r7, 5; add.u32 %r7, %r7, %r5; bar.warp.sync "
      "-1;";
  const Lanes same = lanes(rows +
                               "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r7], {%r1}; bar.warp.sync -1; "
                               "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r7];",
                           "%r4", a);
  for (std::uint64_t l = 0; l < 32; ++l) CHECK(same[l] == a[l]);
  const Lanes across = lanes(rows +
                                 "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r7], {%r1}; bar.warp.sync -1; "
                                 "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r4}, [%r7];",
                             "%r4", a);
  for (std::uint64_t l = 0; l < 32; ++l) CHECK(across[l] == turned[l]);
  const Lanes four = lanes(
      "mov.u32 %r5, area; shl.b32 %r6, %r0, 4; add.u32 %r7, %r5, %r6; st.shared.v4.b32 [%r7], {%r1, %r1, %r1, %r1}; "
      "bar.warp.sync -1;\n"
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r4}, [%r7];",
      "%r4", a);
  for (std::uint64_t l = 0; l < 32; ++l) CHECK(four[l] == a[24 + l / 4]);
}

TEST_CASE("cp.async: sizes, sources that are ignored, groups") {
  const Lanes a = [] {
    Lanes l;
    for (std::uint64_t n = 0; n < 32; ++n) l[n] = 0x1111111111111111u * (n % 15 + 1);
    return l;
  }();
  const std::string to = "mov.u32 %r5, area; shl.b32 %r6, %r0, 4; add.u32 %r7, %r5, %r6;";
  CHECK(lanes(to + "cp.async.ca.shared.global [%r7], [%rd20], 8; cp.async.commit_group; cp.async.wait_group 0; ld.shared.b64 "
                   "%rd4, [%r7];",
              "%rd4", a)[4] == a[4]);
  CHECK(lanes(to + "cp.async.ca.shared.global [%r7], [%rd20], 8, 3; cp.async.wait_all; ld.shared.b64 %rd4, [%r7];", "%rd4",
              a)[4] == (a[4] & 0xffffff));
  CHECK(lanes(to + "setp.eq.u32 %p1, %r0, 4; cp.async.ca.shared.global.L2::128B [%r7], [%rd20], 8, %p1; cp.async.wait_all; "
                   "ld.shared.b64 %rd4, [%r7];",
              "%rd4", a)[4] == 0);
  CHECK(lanes(to + "cp.async.ca.shared.global [%r7], [%rd20], 8; cp.async.commit_group; cp.async.ca.shared.global [%r7+8], "
                   "[%rd21], 8; cp.async.commit_group;\n"
                   "cp.async.wait_group 1; ld.shared.b64 %rd4, [%r7];",
              "%rd4", a)[4] == a[4]);
}

}  // namespace
