// Parallel programs by hand, from the lowered form to machine code: the persistent product with tensor-map copies and wgmma, a
// tile of attention on mma fragments, a reduction by shuffles, transpositions; and every synchronization and intrinsic once.
// Each is assembled without a complaint, with as many of each instruction as it has statements.
#include <doctest/doctest.h>

#include <ashlar/analysis/verify.h>
#include <ashlar/ir/math.h>
#include <ashlar/ir/refusal.h>

#include "tests/cuda/assembler.h"
#include "tests/cuda/programs.h"
#include "tests/interp/launch_attention.h"
#include "tests/interp/launch_matmul.h"
#include "tests/interp/launch_small.h"
#include "tests/support/text_parts.h"

using namespace launches;
using ir::Completion;

namespace {

void expand(std::vector<KStmt>& list) {  // math functions as lowering leaves them
  for (KStmt& s : list) {
    for_each_expr(s, [](Expr& e) { e = ir::expand_math(e); });
    for (auto* part : s.bodies()) expand(*part);
  }
}

std::string text_of(ir::Kernel k, const std::string& target) {
  expand(k.body);
  return codegen::ptx::translate(k, Target::parse(target)).text;
}

std::string complaints(const ir::Kernel& k, const std::string& target) {
  return cuda::complaints(text_of(k, target), Target::parse(target).device().chip);
}

using text_parts::count;

std::string refusal_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const RefusalError& e) { return "expected " + e.refusal.expected + ", found " + e.refusal.found; }
  return "not refused";
}

// A launch of `threads` threads around `body`; shared memory of 64 KiB.
ir::Kernel one(const std::function<void(Builder&, const Expr& thread)>& body, std::int64_t threads = 128) {
  Builder b("one");
  b.launch(num(4), threads, 65536, [&](const Expr&, const Expr& thread) { body(b, thread); });
  analysis::verify(b.k);
  return b.k;
}

}  // namespace

TEST_CASE("the persistent matrix product is machine code, statement by statement") {
  const ir::Kernel k = persistent::matmul().k;
  const std::string text = text_of(k, "cuda-sm_90a");
  CHECK(count(text, "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16") == 4);
  CHECK(count(text, "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes") == 2);
  CHECK(count(text, "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group") == 4);
  CHECK(count(text, "mbarrier.init") == 8);
  CHECK(count(text, "mbarrier.try_wait.parity") == 2);
  CHECK(count(text, "mbarrier.arrive.expect_tx") == 1);
  CHECK(count(text, "wgmma.fence") == 1);
  CHECK(count(text, "wgmma.wait_group.sync.aligned 1;") == 1);
  CHECK(count(text, "wgmma.wait_group.sync.aligned 0;") == 1);
  CHECK(count(text, "setmaxnreg.dec.sync.aligned.u32 40;") == 1);
  CHECK(count(text, "setmaxnreg.inc.sync.aligned.u32 232;") == 1);
  CHECK(count(text, ".maxnreg 168") == 1);
  CHECK(count(text, "fence.proxy.async;") == 4);
  CHECK(cuda::complaints(text, "sm_90a") == "");
  const codegen::ptx::Entry e = codegen::ptx::translate(k, Target::parse("cuda-sm_90a")).entries.at(0);
  CHECK(e.maps.size() == 3);
  CHECK(e.shared_bytes == (4 * (128 * 64 + 256 * 64) + 4 * 64 * 64) * 2 + 64);
  CHECK(refusal_of([&] { text_of(k, "cuda-sm_80"); }).find("shared memory in a block, which sm_80 has") != std::string::npos);
  CHECK(refusal_of([&] { text_of(k, "cuda-sm_100a"); }) ==
        "expected a target of sm_90a, found a fence of products in kernel `matmul` for cuda-sm_100a");
}

TEST_CASE("a tile of attention: fragments by ldmatrix and mma, copies by cp.async") {
  const ir::Kernel k = fragments::attention().k;
  for (const std::string& target : cuda::targets()) {
    const std::string text = text_of(k, target);
    CHECK(count(text, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") == 16);
    CHECK(count(text, "ldmatrix.sync.aligned.m8n8.x4.shared.b16") == 6);
    CHECK(count(text, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16") == 4);
    CHECK(count(text, "cp.async.cg.shared.global") == 6);
    CHECK(count(text, "cp.async.wait_group 1;") == 1);
    CHECK(cuda::complaints(text, Target::parse(target).device().chip) == "");
  }
}

TEST_CASE("a reduction by shuffles and two transpositions") {
  for (const std::string& target : cuda::targets()) {
    CHECK(count(text_of(small::block_sum().k, target), "shfl.sync.bfly.b32") == 8);
    CHECK(complaints(small::block_sum().k, target) == "");
    CHECK(complaints(small::transposition(small::Tile::padded).k, target) == "");
    CHECK(complaints(small::transposition(small::Tile::swizzled).k, target) == "");
  }
}

TEST_CASE("every synchronization") {
  const auto body = [](Builder& b, const Expr& thread) {
    const Id bar = b.barriers("bar", 2, 0);
    b.when(below(thread, 1), [&] { b.init(bar, num(0), 128); });
    b.block_barrier({});
    b.warp_barrier({});
    b.named({}, num(0), 128);
    b.named_arrive({}, num(14), 64);
    b.named({}, num(14), 64);
    b.arrive({}, bar, num(0));
    b.fence({}, Sync::Kind::fence_device);
    b.commit({}, Completion::copy_group);
    b.wait_group({}, Completion::copy_group, 0);
  };
  const std::string early = text_of(one(body), "cuda-sm_80");
  for (const char* part :
       {"mbarrier.init.shared.b64", "bar.warp.sync", "bar.sync \t1, 128;", "bar.arrive \t15, 64;", "bar.sync \t15, 64;",
        "mbarrier.arrive.shared.b64", "membar.gl", "cp.async.commit_group", "cp.async.wait_group 0"})
    CHECK_MESSAGE(count(early, part) == 1, "expected one " << part << " in\n" << early);
  for (const std::string& target : cuda::targets()) CHECK(complaints(one(body), target) == "");

  const auto late = [](Builder& b, const Expr& thread) {
    const Id bar = b.barriers("bar", 2, 0);
    b.when(below(thread, 1), [&] {
      b.init(bar, num(0), 1);
      b.fence({}, Sync::Kind::fence_init);
      b.expect({}, bar, num(0), num(0));
      b.wait({}, bar, num(0), num(0));
    });
    b.fence({}, Sync::Kind::fence_proxy);
    b.commit({}, Completion::bulk_group);
    b.wait_group({}, Completion::bulk_group, 0);
    b.wait_read({}, 0);
  };
  for (const char* target : {"cuda-sm_90a", "cuda-sm_100a"}) CHECK(complaints(one(late), target) == "");
  CHECK(refusal_of([&] { text_of(one(late), "cuda-sm_80"); }) ==
        "expected a target of sm_90 or later, found a fence of initialized barriers in kernel `one` for cuda-sm_80");
  CHECK(refusal_of([&] { text_of(one([](Builder& b, const Expr&) { b.named({}, num(15), 128); }), "cuda-sm_80"); }) ==
        "expected named barriers 0 to 14 (a block's own is the sixteenth), found 15");
}

TEST_CASE("clusters: the entry's size, both halves of the barrier, an arrival at another block") {
  Builder b("cluster");
  b.launch(num(4), 128, 64, [&](const Expr&, const Expr& thread) {
    const Id bar = b.barriers("bar", 1, 0);
    b.when(below(thread, 1), [&] {
      b.init(bar, num(0), 1);
      b.fence({}, Sync::Kind::fence_init);
    });
    b.fence({}, Sync::Kind::cluster_arrive);
    b.fence({}, Sync::Kind::cluster_wait);
    Sync s;
    s.kind = Sync::Kind::mbarrier_arrive;
    s.buffer = bar, s.index = num(0), s.rank = num(1);
    b.when(below(thread, 1), [&] { b.add_sync(s, Where::current()); });
    b.fence({}, Sync::Kind::cluster_arrive);
    b.fence({}, Sync::Kind::cluster_wait);
  });
  auto& l = b.k.body[0].get<ir::KLaunch>();
  l.cluster[0] = num(2), l.cluster[1] = num(1), l.cluster[2] = num(1);
  const std::string text = text_of(b.k, "cuda-sm_90a");
  CHECK(count(text, ".reqnctapercluster 2, 1, 1") == 1);
  CHECK(count(text, "barrier.cluster.arrive.aligned") == 2);
  CHECK(count(text, "mapa.shared::cluster.u32") == 1);
  for (const char* target : {"cuda-sm_90a", "cuda-sm_100a"}) CHECK(complaints(b.k, target) == "");
  CHECK(refusal_of([&] { text_of(b.k, "cuda-sm_80"); }) ==
        "expected a target of sm_90 or later, found a cluster of 2 blocks for cuda-sm_80");
}

TEST_CASE("every matrix intrinsic") {
  const auto moved = [](bool transposed) {
    return one([&](Builder& b, const Expr& thread) {
      const Id tile = b.shared("tile", f16, 4096, 0), r = b.registers("r", f16, 8);
      const Expr row = (thread % 32) * 8;
      for (int n : {1, 2, 4}) {
        b.call(b.intrinsic(ir::ldmatrix(f16, n, transposed)), {{r, num(0)}, {tile, row}});
        b.call(b.intrinsic(ir::stmatrix(f16, n, transposed)), {{tile, row + 2048}, {r, num(0)}});
      }
    });
  };
  for (bool transposed : {false, true})
    for (const char* target : {"cuda-sm_90a", "cuda-sm_100a"}) CHECK(complaints(moved(transposed), target) == "");
  CHECK(count(text_of(moved(true), "cuda-sm_90a"), "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16") == 1);
  CHECK(refusal_of([&] { text_of(moved(false), "cuda-sm_80"); }) ==
        "expected a target of sm_90 or later, found `stmatrix_x1` in kernel `one` for cuda-sm_80");

  // products of a warpgroup: A in registers and in shared memory, f16 and bf16, several widths and swizzles
  for (Type t : {f16, bf16})
    for (bool in_registers : {false, true})
      for (int swizzle : {0, 32, 64, 128})
        for (int n : {8, 64, 256}) {
          Builder b("products");
          const Id out = b.output("out", f32, {num(64 * 256)});
          const Id a = b.shared("a", t, 8192, 0), w = b.shared("w", t, 16384, 16384), r = b.registers("r", t, 8);
          const Id acc = b.registers("acc", f32, n / 2);
          const ir::Intrinsic& f = b.intrinsic(ir::wgmma(n, t, in_registers));
          b.launch(num(1), 128, 65536, [&](const Expr&, const Expr& thread) {
            if (in_registers)
              for (std::int64_t e = 0; e < 8; ++e) b.store(r, num(e), b.at(a, thread * 8 + e));
            b.fence({}, Sync::Kind::fence_product);
            for (std::int64_t step = 0; step < 2; ++step) {
              std::vector<Builder::Operand> operands = {{acc, num(0)}};
              if (in_registers)
                operands.push_back({r, num(0)});
              else
                operands.push_back({a, num(0)});
              operands.push_back({w, num(0)});
              for (std::int64_t v : {128, 256})
                if (!in_registers) operands.push_back(v);
              for (std::int64_t v : {std::int64_t{128}, std::int64_t{256}, std::int64_t{swizzle}, step}) operands.push_back(v);
              b.call(f, operands);
            }
            b.commit({}, Completion::product_group);
            b.wait_group({}, Completion::product_group, 0);
            for (std::int64_t e = 0; e < n / 2; ++e) b.store(out, thread * (n / 2) + e, b.at(acc, num(e)));
          });
          CAPTURE(n);
          CAPTURE(swizzle);
          CAPTURE(in_registers);
          CHECK(complaints(b.k, "cuda-sm_90a") == "");
        }
}

TEST_CASE("copies of 4, 8 and 16 bytes, whole and in part") {
  const ir::Kernel k = [] {
    Builder b("copies");
    const Id x = b.input("x", f32, {num(4096)});
    const Id tile = b.shared("tile", f32, 4096, 0);
    b.launch(num(1), 128, 16384, [&](const Expr&, const Expr& thread) {
      for (int n : {1, 2, 4}) {
        const ir::Intrinsic& copy = b.intrinsic(ir::copy_async(f32, n));
        b.call(copy, {{tile, thread * n}, {x, thread * n}, std::int64_t{n}});
        b.call(copy, {{tile, thread * n}, {x, thread * n}, thread % 5});
      }
      b.commit({}, Completion::copy_group);
      b.wait_group({}, Completion::copy_group, 0);
    });
    return b.k;
  }();
  const std::string text = text_of(k, "cuda-sm_80");
  CHECK(count(text, "cp.async.ca.shared.global") == 4);
  CHECK(count(text, "cp.async.cg.shared.global") == 2);
  for (const std::string& target : cuda::targets()) CHECK(complaints(k, target) == "");
}

TEST_CASE("an intrinsic of a user's: its own text, its operands in it") {
  const auto kernel = [](const std::string& text) {
    Builder b("own");
    const Id out = b.output("out", f32, {num(32)}), x = b.input("x", f32, {num(32)});
    const Id r = b.registers("r", f32, 1), s = b.registers("s", f32, 1);
    ir::Intrinsic f = ir::shuffle_xor(f32);
    f.name = "bits_swapped";
    f.device = ir::DeviceOp::none;
    if (!text.empty()) f.emit["ptx"] = text;
    const ir::Intrinsic& own = b.intrinsic(f);
    b.launch(num(1), 32, 0, [&](const Expr&, const Expr& thread) {
      b.store(r, num(0), b.at(x, thread));
      b.call(own, {{s, num(0)}, {r, num(0)}, 1});
      b.store(out, thread, b.at(s, num(0)));
    });
    return b.k;
  };
  const std::string own = "{ .reg .f32 a; mov.f32 a, {from}; shfl.sync.bfly.b32 a, a, {mask}, 31, -1; mov.f32 {to}, a; }";
  for (const std::string& target : cuda::targets()) CHECK(complaints(kernel(own), target) == "");
  CHECK(refusal_of([&] { text_of(kernel(""), "cuda-sm_80"); }) ==
        "expected an intrinsic of the compiler's, or one with an instruction for `ptx`, found `bits_swapped` in kernel `own`");
}
