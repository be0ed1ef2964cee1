// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async.bulk to several blocks of a cluster.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/ptx/snippet.h"

namespace {

// A cluster of two: the first block copies 128 bytes to those of `mask`; each block waits for `expected` bytes and gives back
// what it has, its own number where nothing came.
std::vector<std::uint32_t> copied(int mask, int expected_of_second) {
  const std::string text = ptx_tests::head() + R"(
.visible .entry k(.param .u64 from, .param .u64 to) .reqnctapercluster 2, 1, 1
{
.reg .b64 %d<9>; .reg .b32 %r<20>; .reg .b16 %h<2>; .reg .pred %p<4>;
.shared .align 128 .b8 tile[128];
.shared .align 8 .b64 barrier;
ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, tile; mov.u32 %r3, barrier;
shl.b32 %r4, %r0, 2; add.u32 %r5, %r2, %r4; st.shared.u32 [%r5], %r1;
setp.ne.u32 %p0, %r0, 0; setp.ne.u32 %p1, %r1, 0;
@%p0 bra READY;
mbarrier.init.shared::cta.b64 [%r3], 1;
selp.u32 %r6, )" + std::to_string(expected_of_second) +
                           R"(, 128, %p1;
fence.mbarrier_init.release.cluster;
fence.proxy.async;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], %r6;
READY:
fence.proxy.async;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
or.pred %p2, %p0, %p1;
@%p2 bra WAIT;
mov.b16 %h0, )" + std::to_string(mask) +
                           R"(;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%d0], 128, [%r3], %h0;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;
@!%p3 bra WAIT;
bar.warp.sync -1;
ld.shared.u32 %r7, [%r5];
mad.lo.u32 %r8, %r1, 32, %r0; mul.wide.u32 %d2, %r8, 4; add.u64 %d1, %d1, %d2;
st.global.u32 [%d1], %r7;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ret;
}
)";
  const auto module = ashlar::ptx::Module::parse(text);
  ashlar::ptx::Device device;
  std::vector<std::uint32_t> given(32), found(64);
  for (std::uint32_t n = 0; n < 32; ++n) given[n] = 100 + n;
  const std::uint64_t from = device.alloc(128), to = device.alloc(256);
  device.write(from, given.data(), 128);
  device.launch(module, "k", {.grid = {2, 1, 1}, .block = {32, 1, 1}}, {ashlar::ptx::piece(from), ashlar::ptx::piece(to)});
  device.read(found.data(), to, 256);
  return found;
}

}  // namespace

TEST_CASE("a multicast writes the same offsets of the blocks of its mask, and signals to the barrier of each") {
  std::vector<std::uint32_t> both, first;
  for (std::uint32_t n = 0; n < 64; ++n) both.push_back(100 + n % 32), first.push_back(n < 32 ? 100 + n : 1);
  CHECK(copied(3, 128) == both);
  CHECK(copied(1, 0) == first);
}

TEST_CASE("a multicast to blocks that the cluster does not have is a fault") {
  for (int mask : {0, 4, 7})
    CHECK_THROWS_WITH(
        copied(mask, 128),
        doctest::Contains(("copies to the blocks of the mask " + std::to_string(mask) + ", of a cluster of 2").c_str()));
}
