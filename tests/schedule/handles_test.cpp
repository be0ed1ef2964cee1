// Handles: ids in one schedule. What a handle names is there, belongs to the schedule and the stage that it is given to, or the
// refusal says what became of it.
#include "programs.h"

namespace ashlar::test {

TEST_CASE("a refusal stands at the caller's line") {
  Product t;
  const Loop k = t.s[t.product].reduction();
  const std::string here = "handles_test.cpp:" + std::to_string(__LINE__ + 1);
  says(refusal(t.s, [&] { t.s[t.product].parallel(k); }), {here.c_str()});
  const std::string split = "handles_test.cpp:" + std::to_string(__LINE__ + 1);
  t.s[t.product].split(k, 4);
  says(refusal(t.s, [&] { t.s[t.product].split(k, 2); }), {"k of product, which was split into ko and ki at", split.c_str()});
}

TEST_CASE("a consumed loop names what it became, and where") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  t.s[t.product].split(i, 4);
  says(refusal(t.s, [&, i = i] { t.s[t.product].unroll(i); }),
       {"found i of product, which was split into io and ii at handles_test.cpp:"});
  says(refusal(t.s, [&] { t.s[t.product].spatial<2>(); }), {"i of product, which became io and ii at handles_test.cpp:"});
}

TEST_CASE("handles: as many as there are, of the stage's own axes") {
  Product t;
  says(refusal(t.s, [&] { t.s[t.product].spatial<3>(); }), {"2 spatial loops of product, as many as it has, found 3"});
  says(refusal(t.s, [&] { t.s[t.C].reduction(); }), {"0 reduction loops of C, as many as it has, found 1"});
  const Axis other{"other", 4};
  says(refusal(t.s, [&] { t.s[t.product].loop(other); }), {"an Axis that product reduces over", "other"});
  CHECK(t.s[t.product].loop(t.k) == t.s[t.product].reduction());
  says(refusal(t.s, [&] { t.s[t.product].split(Loop(), 4); }),
       {"split: expected a loop of a schedule, found an empty Loop, which was given no value"});
  t.s[t.product].split(t.s[t.product].reduction(), 4);
  says(refusal(t.s, [&] { t.s[t.product].loop(t.k); }), {"k of product, which became ko and ki at handles_test.cpp:"});
}

TEST_CASE("handles in a list: as many as a stage has, and reorder takes one") {
  Product t;
  const Stage product = t.s[t.product];
  const std::vector<Loop> points = product.spatial_loops();
  const auto [i, j] = product.spatial<2>();
  CHECK(points == std::vector<Loop>{i, j});
  CHECK(product.reduction_loops() == std::vector<Loop>{product.reduction()});
  CHECK(t.s[t.C].reduction_loops().empty());
  const std::vector<Loop> order{product.reduction(), j, i};
  product.reorder(order);
  CHECK(product.nest() == order);
  const std::vector<Loop> wrong{i, Loop()};
  says(refusal(t.s, [&] { product.reorder(wrong); }), {"reorder: expected a loop of a schedule, found an empty Loop"});
  t.s[t.product].split(i, 4);
  says(refusal(t.s, [&] { product.spatial_loops(); }), {"i of product, which became io and ii at handles_test.cpp:"});
}

TEST_CASE("an empty Loop names the call that it was given to") {
  Product t;
  const Stage product = t.s[t.product], C = t.s[t.C];
  const Loop none, i = C.spatial<2>()[0];
  const char* const empty = "expected a loop of a schedule, found an empty Loop, which was given no value";
  says(refusal(t.s, [&] { product.split(none, Parts{2}); }), {"split: ", empty});
  says(refusal(t.s, [&] { C.fuse(i, none); }), {"fuse: ", empty});
  says(refusal(t.s, [&] { C.reorder(none, i); }), {"reorder: ", empty});
  says(refusal(t.s, [&] { product.peel(none, Peel::last); }), {"peel: ", empty});
  says(refusal(t.s, [&] { product.peel(none); }), {"peel: ", empty});
  says(refusal(t.s, [&] { product.tighten(none); }), {"tighten: ", empty});
  says(refusal(t.s, [&] { product.vectorize(none); }), {"vectorize: ", empty});
  says(refusal(t.s, [&] { product.vectorize(none, 8); }), {"vectorize: ", empty});
  says(refusal(t.s, [&] { product.unroll(none); }), {"unroll: ", empty});
  says(refusal(t.s, [&] { product.unroll(none, 4); }), {"unroll: ", empty});
  says(refusal(t.s, [&] { product.parallel(none); }), {"parallel: ", empty});
  says(refusal(t.s, [&] { product.compute_at(none); }), {"compute_at: ", empty});
  says(refusal(t.s, [&] { product.fuse_into(none); }), {"fuse_into: ", empty});
  says(refusal(t.s, [&] { product.store_at(none); }), {"store_at: ", empty});
  says(refusal(t.s, [&] { product.slide(none); }), {"slide: ", empty});
  says(refusal(t.s, [&] { product.prefetch(none, t.A, 1); }), {"prefetch: ", empty});
  says(refusal(t.s, [&] { product.rfactor(none); }), {"rfactor: ", empty});
  says(refusal(t.s, [&] { product.copy(none, i); }), {"copy: ", empty});
  says(refusal(t.s, [&] { none.extent(); }), {"extent: ", empty});
  says(refusal(t.s, [&] { none.label(); }), {"label: ", empty});
}

TEST_CASE("a loop is used on its own stage, in its own schedule") {
  Product t, other;
  const Loop i = t.s[t.C].spatial<2>()[0], elsewhere = other.s[other.product].spatial<2>()[1];
  says(refusal(t.s, [&] { t.s[t.product].split(i, 4); }), {"split: expected a loop of product, found i of C"});
  says(refusal(t.s, [&] { t.s[t.product].compute_at(elsewhere); }),
       {"compute_at: expected a loop of this schedule, found j of product in another schedule"});
  const Stage theirs = other.s[other.product];
  says(refusal(t.s, [&] { t.s.cache_read(t.product, {theirs}, Scope::global); }),
       {"cache_read: expected a stage of this schedule, found one of another schedule"});
  Schedule copy = t.s;  // has handles of its own
  says(refusal(copy, [&] { copy[t.C].split(i, 4); }), {"a loop of this schedule, found i of C in another schedule"});
  copy[t.C].split(copy[t.C].spatial<2>()[0], 4);
  t.s[t.C].split(i, 4);
  CHECK(copy.json().substr(0, 40) == t.s.json().substr(0, 40));
}

TEST_CASE("what was taken back leaves handles that name nothing") {
  Product t;
  Loop io;
  std::vector<Stage> copies;
  const auto taken_back = t.s.attempt([&] {
    copies.push_back(t.s.cache_read(t.A, {t.product}, Scope::global));
    io = t.s[t.C].split(t.s[t.C].spatial<2>()[0], 4).outer;
    t.s[t.C].split(io, 0);
  });
  REQUIRE(taken_back);
  says(taken_back->text(), {"split: expected a factor of at least 1, found 0"});
  says(refusal(t.s, [&] { t.s[t.C].unroll(io); }),
       {"unroll: expected a loop of this schedule, found one whose step was taken back"});
  says(refusal(t.s, [&] { io.extent(); }), {"extent: expected a loop of this schedule, found one whose step was taken back"});
  says(refusal(t.s, [&] { copies[0].nest(); }),
       {"nest: expected a stage of this schedule, found one whose step was taken back"});
  says(refusal(t.s, [&] { copies[0].compute_root(); }),
       {"compute_root: expected a stage of this schedule, found one whose step was taken back"});
}

TEST_CASE("a consumed loop or stage says so wherever it is used") {
  Product t;
  auto [i, j] = t.s[t.C].spatial<2>();
  const Loop fused = t.s[t.C].fuse(i, j);
  says(refusal(t.s, [&, i = i] { i.label(); }),
       {"label: expected a loop of the program as it stands", "i of C, which was fused into i_j at handles_test.cpp:"});
  says(refusal(t.s, [&, j = j] { t.s[t.product].compute_at(j); }), {"compute_at: ", "j of C, which was fused into i_j"});
  says(refusal(t.s, [&] { t.s[t.C].copy(fused, fused); }), {"copy: expected a loop with a copy inside i_j, found i_j"});
  Blur b;
  const Stage across = b.s[b.across];
  const Loop y = b.s[b.out].spatial<2>()[0];
  across.inline_();
  CHECK(std::string(across.name()) == "across");
  const char* const gone = "across, which was inlined at handles_test.cpp:";
  says(refusal(b.s, [&] { b.s[b.across]; }), {"a tensor of the program as it stands", gone});
  says(refusal(b.s, [&] { across.spatial<2>(); }), {"a stage of the program as it stands", gone});
  says(refusal(b.s, [&] { across.nest(); }), {"nest: ", gone});
  says(refusal(b.s, [&] { across.loop(Axis{"k", 3}); }), {"loop: ", gone});
  says(refusal(b.s, [&] { across.compute_at(y); }), {"compute_at: ", gone});
  says(refusal(b.s, [&] { b.s.cache_read(across, {b.out}, Scope::global); }), {"cache_read: ", gone});
  says(refusal(b.s, [&] { b.s.cache_read(b.across, {b.out}, Scope::global, 0); }), {"cache_read: ", gone});
  says(refusal(b.s, [&] { b.s.cache_write(b.across, Scope::global); }), {"cache_write: ", gone});
  says(refusal(b.s, [&] { b.s[b.out].prefetch(y, b.across, 1); }), {"prefetch: ", gone});
  const Tensor unused = lang::make_input("unused", f32, {4});
  says(refusal(b.s, [&] { b.s[unused]; }), {"schedule: expected a tensor of this program, found one that no output needs"});
}

TEST_CASE("a composite is all or nothing, and attempts nest") {
  Product t;
  auto [i, j] = t.s[t.product].spatial<2>();
  says(refusal(t.s, [&, i = i, j = j] { t.s[t.product].tile(i, j, 4, 0); }), {"a factor of at least 1"});
  const auto outer = t.s.attempt([&, i = i, j = j] {
    t.s[t.product].split(i, 4);
    says(refusal(t.s, [&] { t.s[t.product].vectorize(j); }),
         {"vectorize: expected a loop of constant extent (split it first), found j of product in N"});
  });
  CHECK_FALSE(outer.has_value());
  says(t.s.trace(), {"split(i of product, 4, guard) -> io of product and ii of product"});
}

}  // namespace ashlar::test
