// The schedule of programs that have none: what stages are taken for, where they are computed, and that the results are those
// of the algorithm.
#include <ashlar/schedules/gpu.h>

#include "tests/schedules/by_default.h"

using namespace by_default_test;

TEST_CASE("by default: elementwise stages are inlined, and run in vectors on the pool") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"};
  const Tensor x = input("x", f32, {M, N});
  const Tensor scaled = compute("scaled", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return x(i, j) * 2.0f; });
  const Tensor y = compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return scaled(i, j) + 1.0f; });
  const Scheduled s({x}, {y});
  CHECK(s.of("scaled").family == Family::elementwise);
  CHECK(s.has("scaled", "inlined"));
  CHECK(s.has("y", "vectors of 16 along j"));
  CHECK(s.has("y", "i in parallel"));
  CHECK(s.by.choices.text().find("y: elementwise; vectors of 16 along j, i in parallel\n    each point by itself\n") !=
        std::string::npos);
  s.same({{5, 33}, {5, 33}});
  s.same({{0, 3}, {0, 3}});
}

TEST_CASE("by default: rows of a separable window share what is computed of columns, in registers") {
  lang::DefinitionScope scope;
  const Symbol H{"H", {.min = 3}}, W{"W", {.min = 4}}, C{"C"};
  const Tensor x = input("x", i32, {C, H, W});
  const Tensor across =
      compute("across", [&](Var c, Var i, Var j) { return (x(c, i, j) + x(c, i, j + 1) * 2 + x(c, i, j + 2)) / 3; });
  const Tensor y = compute("y", {{"c", C}, {"i", H - 2}, {"j", W - 3}},
                           [&](Var c, Var i, Var j) { return across(c, i, j + 1) - across(c, i + 2, j + 1); });
  for (const char* target : {"x86-64-v4", "x86-64-v3", "aarch64"}) {
    CAPTURE(target);
    const Scheduled s({x}, {y}, {}, target);
    CHECK(s.has("y", std::string(target) == "x86-64-v3" ? "4 rows at once" : "8 rows at once"));
    CHECK(s.has("across", "for the vectors of y"));
    s.same({{2, 13, 40}, {2, 11, 37}});
    s.same({{1, 3, 4}, {1, 1, 1}});
    s.same({{0, 3, 4}, {0, 1, 1}});
  }
  // Windows of other columns besides: a row at a time, sliding.
  const Tensor z = compute("z", {{"c", C}, {"i", H - 2}, {"j", W - 3}},
                           [&](Var c, Var i, Var j) { return across(c, i, j) + across(c, i + 1, j + 1); });
  const Scheduled diagonal({x}, {z});
  CHECK_FALSE(diagonal.has("z", "rows at once"));
  diagonal.same({{2, 13, 40}, {2, 11, 37}});
}

TEST_CASE("by default: results known to be larger than the caches go past them") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor small = input("small", f32, {1024, 1024}), large = input("large", f32, {8192, 4096}),
               any = input("any", f32, {N, 4096});
  const auto streams = [](const Tensor& x, const schedules::DefaultOptions& o, const char* target = "zen4") {
    const Scheduled s({x}, {ops::relu(x)}, o, target);
    CHECK(s.has("relu", "stored past the caches") == (s.text().find("streamed") != std::string::npos));
    return s.has("relu", "stored past the caches");
  };
  REQUIRE(Target::parse("zen4").cache_bytes(3) > 0);
  CHECK(streams(large, {}));
  CHECK_FALSE(streams(small, {}));
  CHECK_FALSE(streams(any, {}));
  CHECK(streams(any, {.extent = 1 << 16}));
  CHECK_FALSE(streams(any, {.extent = 16}));
  CHECK_FALSE(streams(large, {.stream = false}));
  const Scheduled rows({large}, {ops::softmax(large).result}, {}, "zen4");
  CHECK(rows.text().find("streamed") == std::string::npos);
}

TEST_CASE("by default: softmax is computed row by row") {
  lang::DefinitionScope scope;
  const Tensor x = input("x", f32, {64, 256});
  const Scheduled s({x}, {ops::softmax(x).result});
  CHECK(s.of("softmax_sum").family == Family::row_reduction);
  for (const char* stage : {"softmax_sum", "softmax_exp", "reduce_max"}) CHECK(s.has(stage, "computed at i0 of softmax"));
  CHECK(s.has("softmax_sum", "vectors of 16"));
  CHECK(s.has("softmax", "i0 in parallel"));
}

TEST_CASE("by default: without regrouping a sum of floats keeps its order, a maximum does not need to") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = input("x", f32, {N, 256});
  const Scheduled s({x}, {ops::reduce_sum(x, {.axes = {1}}), ops::reduce_max(x, {.axes = {1}})}, {.regroup = false});
  CHECK(s.has("reduce_sum", "one term after the other"));
  CHECK(s.has("reduce_max", "in 2 vectors of 16"));
  s.same({{7, 256}, {7}, {7}});
}

TEST_CASE("by default: a sum of everything is taken in pieces") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 0}};
  const Tensor x = input("x", f32, {N});
  const Scheduled s({x}, {ops::reduce_sum(x)}, {.extent = 1 << 20});
  CHECK(s.of("reduce_sum").family == Family::full_reduction);
  CHECK(s.has("reduce_sum", "in parallel"));
  s.same({{100}, {}});
  s.same({{0}, {}});
}

TEST_CASE("by default: a product is summed in tiles, what follows it is computed with the tile") {
  lang::DefinitionScope scope;
  const Tensor a = input("a", f32, {33, 20}), b = input("b", f32, {20, 50}), c = input("c", f32, {50});
  const Scheduled s({a, b, c}, {ops::relu(ops::dense(a, b, c))});
  CHECK(s.of("dense").family == Family::matmul);
  CHECK(s.has("dense", "of relu"));
  CHECK(s.has("dense", "sums of a tile"));
  s.same({{33, 20}, {20, 50}, {50}, {33, 50}});
}

TEST_CASE("by default: the only product of a program is scheduled by the sizes of its calls") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Tensor a = input("a", f32, {M, K}), b = input("b", f32, {K, N});
  const Scheduled s({a, b}, {ops::matmul(a, b)});
  CHECK(s.has("matmul", "schedules::matmul_by_size"));
  for (const auto& [m, n, k] : {std::array{33, 50, 20}, {1, 40, 9}, {8, 7, 5}, {14, 64, 30}, {0, 3, 3}, {4, 0, 1}, {3, 2, 0}})
    s.same({{m, k}, {k, n}, {m, n}});
  const Scheduled exact({a, b}, {ops::matmul(a, b)}, {.regroup = false});
  CHECK(exact.has("matmul", "sums of a tile of 14 x 32"));
  exact.same({{33, 20}, {20, 50}, {33, 50}});
}

TEST_CASE("by default: large products of a batch, of a transposed factor, and with what follows them") {
  lang::DefinitionScope scope;
  const Symbol P{"P"}, M{"M"}, N{"N"}, K{"K"};
  {
    const Tensor a = input("a", f32, {P, M, K}), b = input("b", f32, {P, N, K});
    const Scheduled s({a, b}, {ops::batch_matmul(a, b, {.transpose_b = true})});
    CHECK(s.has("batch_matmul", "panels of 32 along j and 13 along i"));
    s.same({{2, 15, 20}, {2, 40, 20}, {2, 15, 40}});
    s.same({{1, 1, 0}, {1, 3, 0}, {1, 1, 3}});
  }
  {
    const Tensor a = input("a", f32, {M, K}), b = input("b", f32, {K, N}), c = input("c", f32, {N});
    const Scheduled s({a, b, c}, {ops::relu(ops::dense(a, b, c))});
    CHECK(s.has("dense", "schedules::matmul)"));
    CHECK(
        s.by.choices.text().find("not with each tile of dense that is finished (fuse_into expects a reduction with at least") !=
        std::string::npos);  // K may be 0
    CHECK(s.has("relu", "vectors of 16 along j"));
    s.same({{15, 20}, {20, 40}, {40}, {15, 40}});
    s.same({{2, 0}, {0, 5}, {5}, {2, 5}});
  }
  {
    const Symbol L{"L", {.min = 1}};
    const Tensor a = input("a", f32, {M, L}), b = input("b", f32, {L, N}), c = input("c", f32, {N});
    const Scheduled s({a, b, c}, {ops::relu(ops::dense(a, b, c))});
    CHECK(s.has("relu", "with each tile of dense"));
    s.same({{15, 20}, {20, 40}, {40}, {15, 40}});
    s.same({{0, 2}, {2, 1}, {1}, {0, 1}});
  }
  {
    const Tensor a = input("a", f32, {4, 512}), b = input("b", f32, {512, 512});
    const Scheduled s({a, b}, {ops::relu(ops::matmul(a, b))});
    CHECK(s.has("matmul", "schedules::matmul_skinny"));
  }
}

TEST_CASE("by default: narrow factors have their instruction, bf16 where subnormal numbers may count as 0") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Axis k{"k", K};
  {
    const Tensor a = input("a", u8, {M, K}), b = input("b", i8, {K, N});
    const Tensor c = compute("c", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(i32(a(i, k)) * i32(b(k, j)), k); });
    const Scheduled s({a, b}, {c}, {.regroup = false}, "x86-64-v4+avx512vnni");
    CHECK(s.has("c", "schedules::matmul_dot"));
    s.same({{15, 21}, {21, 40}, {15, 40}});
    for (const char* target : {"x86-64-v4", "x86-64-v3", "x86-64"})  // widened to 16 bits
      CHECK(Scheduled({a, b}, {c}, {}, target).has("c", "schedules::matmul_dot"));
    CHECK(Scheduled({a, b}, {c}, {}, "aarch64").has("c", "sums of a tile"));
  }
  {  // weights of a layer, [outputs, inputs], with a start, and a table behind it
    const Tensor x = input("x", i8, {M, K}), w = input("w", i8, {N, K}), start = input("start", i32, {N}),
                 table = input("table", u8, {256});
    const Tensor c =
        compute("c", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(i32(x(i, k)) * i32(w(j, k)), k).from(start(j)); });
    const Tensor y = compute("y", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return table(clamp(c(i, j) >> 4, 0, 255)); });
    for (const char* target : {"zen4", "x86-64-v3"}) {
      const Scheduled s({x, w, start, table}, {y}, {}, target);
      CHECK(s.has("c", "schedules::matmul_dot"));
      for (const std::int64_t terms : {0, 1, 21, 70}) s.same({{15, terms}, {40, terms}, {40}, {256}, {15, 40}});
    }
  }
  {
    const Tensor a = input("a", bf16, {M, K}), b = input("b", bf16, {K, N});
    const Tensor c = compute("c", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(f32(a(i, k)) * f32(b(k, j)), k); });
    const Scheduled s({a, b}, {c}, {.subnormals_as_zero = true}, "x86-64-v4+avx512bf16");
    CHECK(s.has("c", "schedules::matmul_dot"));
    s.same({{15, 21}, {21, 40}, {15, 40}});
    const Scheduled exact({a, b}, {c}, {}, "x86-64-v4+avx512bf16");  // converted one by one
    CHECK(exact.has("c", "(schedules::matmul)"));
    exact.same({{15, 21}, {21, 40}, {15, 40}});
    CHECK(Scheduled({a, b}, {c}, {.regroup = false}, "x86-64-v4+avx512bf16").has("c", "sums of a tile"));
  }
}

TEST_CASE("by default: factors that are stages are computed where the product packs them") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Axis k{"k", K};
  const Tensor x = input("x", f32, {M, K}), w = input("w", i8, {K, N}), scale = input("scale", f32, {N});
  const Tensor most = compute("most", {{"i", M}}, [&](Var i) { return maximum(x(i, k), k); });
  const Tensor a = compute("a", {{"i", M}, {"k", K}}, [&](Var i, Var c) { return max(most(i) - x(i, c), 1.0f); });
  const Tensor b = compute("b", {{"k", K}, {"j", N}}, [&](Var c, Var j) { return f32(w(c, j)) * scale(j); });
  const Tensor c = compute("c", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(a(i, k) * b(k, j), k); });
  for (const char* target : {"x86-64-v4", "x86-64-v3", "aarch64"}) {
    CAPTURE(target);
    const Scheduled s({x, w, scale}, {c}, {}, target);
    CHECK(s.has("c", "panels of"));
    for (const char* factor : {"a", "b"}) CHECK(s.has(factor, "computed where c packs it"));
    CHECK(s.has("most", "vectors of"));  // once, before the loops that pack a
    s.same({{15, 21}, {21, 40}, {40}, {15, 40}});
    s.same({{1, 1}, {1, 1}, {1}, {1, 1}});
    s.same({{3, 0}, {0, 2}, {2}, {3, 2}});
  }
  // Both factors at once: no family takes one tensor twice.
  const Symbol S{"S"};
  const Axis along{"along", S};
  const Tensor square = input("square", f32, {S, S});
  const Tensor r = compute("r", {{"i", S}, {"j", S}}, [&](Var i, Var j) { return max(square(i, j) - 1.0f, 0.0f) / 2.0f; });
  const Scheduled both(
      {square}, {compute("rr", {{"i", S}, {"j", S}}, [&](Var i, Var j) { return sum(r(i, along) * r(along, j), along); })});
  CHECK(both.has("rr", "sums of a tile"));
  CHECK_FALSE(both.has("r", "packs it"));
  both.same({{20, 20}, {20, 20}});
  // Of so few rows nothing is packed.
  const Tensor few = input("few", f32, {8, 512}), weights = input("weights", i8, {512, N});
  const Axis terms{"terms", 512};
  const Tensor wide =
      compute("wide", {{"k", 512}, {"j", N}}, [&](Var term, Var j) { return f32(weights(term, j)) * scale(j); });
  const Scheduled skinny(
      {few, weights, scale},
      {compute("y", {{"i", 8}, {"j", N}}, [&](Var i, Var j) { return sum(few(i, terms) * wide(terms, j), terms); })});
  CHECK(skinny.has("y", "schedules::matmul_skinny"));
  CHECK(skinny.has("wide", "inlined into y"));
  skinny.same({{8, 512}, {512, 33}, {33}, {8, 33}});
}

TEST_CASE("by default: A that is read by its columns") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Axis k{"k", K};
  const Tensor a = input("a", f32, {K, M}), b = input("b", f32, {K, N}), t = input("t", f32, {N, K});
  const Tensor c = compute("c", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(a(k, i) * b(k, j), k); });
  const Tensor both = compute("both", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(a(k, i) * t(j, k), k); });
  for (const char* target : {"x86-64-v4", "aarch64"}) {
    CAPTURE(target);
    const Scheduled s({a, b}, {c}, {}, target), turned({a, t}, {both}, {}, target);
    CHECK(s.has("c", "(schedules::matmul)"));
    CHECK(turned.has("both", "(schedules::matmul)"));
    s.same({{21, 90}, {21, 40}, {90, 40}});
    turned.same({{21, 15}, {40, 21}, {15, 40}});
  }
}

TEST_CASE("by default: bytes on AArch64") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Axis k{"k", K};
  const Tensor a = input("a", i8, {M, K}), b = input("b", i8, {K, N});
  const Tensor c = compute("c", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(i32(a(i, k)) * i32(b(k, j)), k); });
  for (const char* target : {"aarch64", "aarch64+i8mm"}) {
    const Scheduled s({a, b}, {c}, {}, target);
    CHECK(s.has("c", "schedules::matmul_bytes"));
    s.same({{15, 21}, {21, 40}, {15, 40}});
  }
}

TEST_CASE("by default: convolutions have channels in lanes, whichever the layout, and their rim apart") {
  lang::DefinitionScope scope;
  const Symbol N{"N"}, O{"O"}, H{"H", {.min = 3}}, W{"W", {.min = 3}};
  {
    const Tensor x = input("x", f32, {2, 5, 9, 14}), w = input("w", f32, {40, 5, 3, 3}), b = input("b", f32, {40});
    const Scheduled s({x, w, b}, {ops::relu(ops::conv2d(x, w, b, {.padding = {1, 1}}))});
    CHECK(s.of("conv2d").family == Family::matmul);
    CHECK(s.has("conv2d", "w in blocks of 32 along o"));
    CHECK(s.has("conv2d", "sums of a tile of 14 x 32"));
    CHECK(s.has("conv2d", "of relu"));
    CHECK(s.has("rim", "a vector of 16"));
    s.same({{2, 5, 9, 14}, {40, 5, 3, 3}, {40}, {2, 40, 9, 14}});
  }
  {
    const Tensor x = input("x", f32, {N, 3, H, W}), w = input("w", f32, {O, 3, 3, 3});
    const Scheduled s({x, w}, {ops::conv2d(x, w, {}, {.stride = {2, 1}, .padding = {1, ops::Pad(0, 1)}})});
    CHECK(s.has("conv2d", "w in blocks of 32 along o"));
    s.same({{2, 3, 7, 6}, {33, 3, 3, 3}, {2, 33, 4, 5}});
    s.same({{0, 3, 3, 3}, {1, 3, 3, 3}, {0, 1, 2, 2}});
  }
  {
    const Tensor x = input("x", f32, {N, 8, W}), w = input("w", f32, {24, 4, 3});
    const Scheduled s({x, w}, {ops::conv1d(x, w, {}, {.groups = 2})}, {.regroup = false}, "x86-64-v3");
    s.same({{2, 8, 19}, {24, 4, 3}, {2, 24, 17}});
  }
  {
    const Tensor x = input("x", f32, {1, 9, 14, 4}), w = input("w", f32, {3, 3, 4, 33});
    const Scheduled s({x, w}, {ops::conv2d(x, w, {}, {.padding = {1, 1}, .layout = ops::Layout::channels_last})});
    CHECK(s.has("conv2d", "vectors of 16 along o"));
    s.same({{1, 9, 14, 4}, {3, 3, 4, 33}, {1, 9, 14, 33}});
  }
}

TEST_CASE("by default: a sum of columns has neighboring results in its lanes") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = input("x", f32, {N, 100});
  const Scheduled s({x}, {ops::reduce_sum(x, {.axes = {0}})}, {.regroup = false});
  CHECK(s.of("reduce_sum").family == Family::column_reduction);
  CHECK(s.has("reduce_sum", "sums of a tile of 64"));
  s.same({{9, 100}, {100}});
}

TEST_CASE("by default: stages of a stencil slide along strips of rows") {
  lang::DefinitionScope scope;
  const Tensor x = input("x", u16, {100, 70});
  const Tensor across = compute("across", {{"y", 100}, {"x", 68}},
                                [&](Var r, Var c) { return u16((u32(x(r, c)) + u32(x(r, c + 1)) + u32(x(r, c + 2))) / 3u); });
  const Tensor down = compute("down", {{"y", 94}, {"x", 68}}, [&](Var r, Var c) {
    return u16((u32(across(r, c)) + u32(across(r + 3, c)) + u32(across(r + 6, c))) / 3u);
  });
  const Scheduled s({x}, {down});
  CHECK(s.of("across").family == Family::stencil);
  CHECK(s.has("across", "computed at yi of down, sliding"));
  CHECK(s.has("down", "y by 32"));
  s.same({{100, 70}, {94, 68}});
}

TEST_CASE("by default: transposition, gather, scatter, recurrence, window") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N", {.min = 1}};
  {
    const Tensor x = input("x", f32, {M, N});
    const Scheduled s({x}, {compute("t", {{"j", N}, {"i", M}}, [&](Var j, Var i) { return x(i, j); })});
    CHECK(s.of("t").family == Family::transposition);
    CHECK(s.has("t", "schedules::transpose"));
    s.same({{9, 20}, {20, 9}});
    s.same({{37, 70}, {70, 37}});
  }
  {
    const Tensor x = input("x", f32, {M, N});
    const Scheduled s({x}, {compute("t", {{"j", N}, {"i", M}}, [&](Var j, Var i) { return x(i, j) * 2; })});
    CHECK(s.of("t").family == Family::transposition);
    CHECK(s.has("t", "tiles: j by 32, i by 32"));
    s.same({{37, 70}, {70, 37}});
  }
  {  // with a stage that follows the other dimension: seed 710104 of programs by default
    const Tensor x = input("x", f32, {40, 50}), y = input("y", f32, {40, 60});
    const Axis k{"k", 60};
    const Tensor m = compute("m", {{"i", 40}}, [&](Var i) { return sum(y(i, k), k); });
    const Scheduled s({x, y}, {compute("t", {{"j", 50}, {"i", 40}}, [&](Var j, Var i) { return x(i, j) + m(i); })});
    CHECK(s.has("t", "tiles: j by 32, i by 32"));
    s.same({{40, 50}, {40, 60}, {50, 40}});
  }
  {
    const Tensor x = input("x", f32, {1, 9, 11, 20}), w = input("w", f32, {3, 3, 20, 1});
    const Scheduled s({x, w}, {ops::depthwise_conv2d(x, w, {}, {.layout = ops::Layout::channels_last})});
    CHECK(s.has("depthwise_conv2d", "schedules::stencil"));
    s.same({{1, 9, 11, 20}, {3, 3, 20, 1}, {1, 7, 9, 20}});
  }
  {
    const Tensor x = input("x", f32, {N}), at = input("at", i32, {M});
    const Scheduled s({x, at}, {compute("g", {{"i", M}}, [&](Var i) { return x(clamp(at(i), 0, N - 1)); })});
    CHECK(s.of("g").family == Family::gather);
    s.same({{20}, {7}, {7}});
  }
  {
    const Tensor x = input("x", f32, {M, N});
    const Scheduled s({x}, {ops::cumsum(x, 0)});
    CHECK(s.of("cumsum").family == Family::recurrence);
    CHECK(s.has("cumsum", "pieces of i1 in parallel"));
    s.same({{9, 20}, {9, 20}});
  }
  {
    const Tensor x = input("x", u8, {M, N});
    const Scheduled s({x}, {ops::histogram(x)});
    CHECK(s.by.choices.stages.front().family == Family::scatter);
    s.same({{9, 20}, {256}});
  }
  {
    const Tensor x = input("x", f32, {1, 8, 20, 24});
    const Scheduled s({x}, {ops::max_pool2d(x, {.window = {3, 3}})});
    CHECK(s.by.choices.stages.front().family == Family::stencil);
  }
}

TEST_CASE("by default: on devices") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Tensor a = input("a", f32, {M, K}), b = input("b", f32, {K, N}), c = input("c", f32, {N});
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    const Scheduled s({a, b, c}, {ops::relu(ops::dense(a, b, c)), ops::reduce_sum(a)}, {}, target);
    CHECK(s.has("dense", "tiles in shared memory, sums in registers (schedules::gpu_matmul)"));
    CHECK(s.has("relu", "computed of the sums of dense in registers"));
    CHECK(s.has("reduce_sum", "parts of the terms, then the parts (schedules::gpu_reduction)"));
    CHECK(s.text().find("block_x") != std::string::npos);
    s.same({{15, 20}, {20, 40}, {40}, {15, 40}, {}});
    s.same({{0, 2}, {2, 1}, {1}, {0, 1}, {}});
  }
}

TEST_CASE("by default: what has an order of its own on devices") {
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"};
  const Tensor a = input("a", f32, {M, N}), b = input("b", i32, {N}), c = input("c", u8, {M, N}), one = input("one", i32, {}),
               d = input("d", f32, {N, M});
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    const Scheduled rows({a}, {ops::cumsum(a, 0)}, {}, target);
    CHECK(rows.has("cumsum", "its steps in each thread, threads along i1, blocks of 64"));
    rows.same({{5, 70}, {5, 70}});
    rows.same({{0, 3}, {0, 3}});
    const Axis k{"k", N};
    const Tensor total = compute("total", [&] { return strict_sum(b(k), k); });
    const Scheduled all({b, one, c}, {ops::cumsum(b, 0), total, ops::add(one, one), ops::histogram(c)}, {}, target);
    for (const char* stage : {"total", "add"}) CHECK(all.has(stage, "one thread"));
    CHECK(all.has("cumsum", "scanned by the threads of a block each (schedules::gpu_scan)"));
    CHECK(all.has("histogram", "each with a result in shared memory, then the parts (schedules::gpu_scatter)"));
    all.same({{30}, {}, {20, 30}, {30}, {}, {}, {256}});
    all.same({{0}, {}, {2, 0}, {0}, {}, {}, {256}});
    const Scheduled points({d, b}, {ops::index_add(ir::index(7), b, d)}, {}, target);
    CHECK(points.has("index_add", "the init by the threads of one block, points in their order by its first"));
    points.same({{40, 20}, {40}, {7, 20}});
  }
  const Scheduled ranks({a}, {ops::argsort(a, 1)}, {}, "cuda-sm_80");
  CHECK(ranks.has("sort", "combined in memory, a point a thread"));
  const std::string text = ranks.text(), nest = text.substr(text.find("nest sort "));
  CHECK(nest.find("block_x") < nest.find("init sort"));  // the initial values are stored by as many threads
  ranks.same({{5, 70}, {5, 70}});
  ranks.same({{0, 3}, {0, 3}});
}

TEST_CASE("by default: steps that read other points belong to the threads of a block on devices") {
  lang::DefinitionScope scope;
  const Symbol T{"T", {.min = 1}}, H{"H", {.min = 1}}, W{"W", {.min = 1}};
  const Tensor x = input("x", f32, {T, H, W});
  const Tensor plane = recur(
      "plane", {T, H, W}, Along{0}, Lag{1}, [&](Var t, Var i, Var j) { return x(t, i, j); },
      [&](Prior u, Var t, Var i, Var j) {
        return x(t, i, j) + 0.5f * u(t - 1, max(i - 1, 0), j) - 0.25f * u(t - 1, i, min(j + 1, W - 1));
      });
  const Tensor rows = recur(
      "rows", {T, H, W}, Along{0}, Lag{1}, [&](Var t, Var i, Var j) { return x(t, i, j); },
      [&](Prior u, Var t, Var i, Var j) { return x(t, i, j) - u(t - 1, i, max(j - 1, 0)) * u(t - 1, i, min(j + 1, W - 1)); });
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    const Scheduled both({x}, {plane, rows}, {}, target);
    CHECK(both.has("plane", "each step by the threads of a block along i1, i2, which wait for one another before the next"));
    CHECK(both.has("rows", "each step by the threads of a block along i2, which wait for one another before the next"));
    const std::string text = both.text();
    CHECK(text.find("block_x", text.find("nest rows")) < text.find("thread_x", text.find("nest rows")));
    both.same({{4, 17, 20}, {4, 17, 20}, {4, 17, 20}});
    both.same({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
    both.same({{3, 2, 300}, {3, 2, 300}, {3, 2, 300}});
    const Tensor last = compute("last", {H, W}, [&](Var i, Var j) { return plane(T - 1, i, j); });
    const Scheduled one({x}, {last}, {}, target);
    CHECK(one.has("plane", "a ring of 2 steps along i0"));
    one.same({{4, 17, 20}, {17, 20}});
    one.same({{1, 1, 1}, {1, 1}});
  }
}

TEST_CASE("by default: a stage that reads the last step of a recurrence has it in shared memory on devices") {
  lang::DefinitionScope scope;
  const Symbol H{"H", {.min = 1}};
  const Tensor x = input("x", f32, {H, 100}), wide = input("wide", f32, {H, 16384});
  const auto text_of = [](const Scheduled& s) { return s.by.choices.text(); };
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    const Scheduled s({x}, {ops::sort(x, 1, false, ops::SortBy::network).result}, {}, target);
    CHECK_MESSAGE(s.has("sort", "a block for each row, with the steps of sort_network that it reads"), text_of(s));
    CHECK(s.has("sort_network", "in the launch of sort, two steps of a row in shared memory, by the threads of its block"));
    s.same({{5, 100}, {5, 100}});
    s.same({{1, 100}, {1, 100}});
    // The elements are sorted along rows that lie apart.
    const Scheduled turned({x}, {ops::sort(ops::transpose(x, {1, 0}), 0, true, ops::SortBy::network).result}, {}, target);
    CHECK_MESSAGE(turned.has("sort_network", "two steps of a row in shared memory"), text_of(turned));
    turned.same({{3, 100}, {100, 3}});
    // Too long for shared memory; with a second reader; a reader of another step.
    const Scheduled large({wide}, {ops::sort(wide, 1, false, ops::SortBy::network).result}, {}, target);
    CHECK_MESSAGE(!large.has("sort_network", "shared memory"), text_of(large));
    const auto both = ops::sort(x, 1, false, ops::SortBy::network);
    const Tensor least = compute("least", {H}, [&](Var i) { return both.network(28, i, 0); });
    const Scheduled two({x}, {both.result, least}, {}, target);
    CHECK_MESSAGE(!two.has("sort_network", "shared memory"), text_of(two));
    two.same({{2, 100}, {2, 100}, {2}});
    const Tensor early = compute("early", {H, 128}, [&](Var i, Var j) { return both.network(3, i, j); });
    const Scheduled third({x}, {early}, {}, target);
    third.same({{2, 100}, {2, 128}});
  }
}

TEST_CASE("by default: what is computed inside of a recurrence is a thread's on devices") {
  lang::DefinitionScope scope;
  const Symbol T{"T"}, H{"H"};
  const auto layer = [&](const Extent& units) {
    const Tensor x = input("x", f32, {T, 2}), W = input("W", f32, {2, 4, units}), U = input("U", f32, {units, 4, units});
    return Scheduled({x, W, U}, {ops::lstm(x, W, U, Tensor())}, {}, "vulkan");
  };
  const Scheduled number = layer(3);
  CHECK(number.has("lstm_state", "one thread"));
  number.same({{5, 2}, {2, 4, 3}, {3, 4, 3}, {5, 3}});
  const Scheduled symbol = layer(H);
  CHECK(symbol.by.choices.text().find("no launches (store_in expects a constant size for lstm_gates in "
                                      "stack") != std::string::npos);
}

TEST_CASE("points on a device: what is refused") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = input("x", f32, {N}), total = ops::reduce_sum(x), y = ops::cumsum(x, 0);
  const auto found = [&](const Tensor& t, const char* target) {
    const Tensor out = lang::make_output("out", t.type(), t.shape().extents());
    lang::bind(out, t);
    Schedule s(lang::build_program("f", {x, out}), Target::parse(target));
    const auto refused = s.attempt([&] { schedules::gpu_points(s, s[out]); });
    return refused ? refused->found : "";
  };
  CHECK(found(total, "vulkan") == "reduce_sum, which has one point");
  CHECK(found(y, "vulkan") == "cumsum, a recurrence");
  CHECK(found(ops::relu(x), "x86-64-v3") == "the target x86-64-v3");
  CHECK(found(ops::relu(x), "vulkan") == "");
}

TEST_CASE("by default: what is scheduled already stays, and trace and C++ name every step") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = input("x", f32, {N}), y = compute("y", {{"i", N}}, [&](Var i) { return x(i) + 1.0f; });
  const Tensor out = lang::make_output("out", f32, {N});
  lang::bind(out, y);
  Schedule s(lang::build_program("f", {x, out}), Target::parse("x86-64-v3"));
  const Split split = s[out].split(s[out].spatial<1>()[0], 5);
  (void)split;
  const std::string before = s.text();
  CHECK(schedule_by_default(s).stages.empty());
  CHECK(s.text() == before);

  Schedule fresh(lang::build_program("f", {x, out}), Target::parse("x86-64-v3"));
  schedule_by_default(fresh);
  Schedule again(lang::build_program("f", {x, out}), Target::parse("x86-64-v3"));
  again.replay(fresh.json());
  CHECK(again.text() == fresh.text());
}

TEST_CASE("by default: what is kept in registers fits a file of 8") {
  const auto lowered = [](const Tensor& x, const Tensor& y, const Tensor& result) -> std::string {
    const Target target = Target::parse("cortex-m55");
    try {
      const Scheduled s(y.empty() ? std::vector{x} : std::vector{x, y}, {result}, {}, "cortex-m55");
      schedule::finish(s.by.schedule.scheduled(), target);
      (void)lower(s.by.schedule.scheduled().program, options_for(target));
    } catch (const RefusalError& e) { return e.what(); }
    return "";
  };
  lang::DefinitionScope scope;
  const Symbol M{"M"}, N{"N"}, K{"K"};
  const Tensor x = input("x", f32, {M, N}), bytes = input("b", i8, {M, N}), wide = input("d", f64, {M, N});
  CHECK(lowered(x, {}, ops::softmax(x)) == "");
  CHECK(lowered(x, {}, ops::softmax_online(x)) == "");
  CHECK(lowered(bytes, {}, ops::argmax(bytes)) == "");
  CHECK(lowered(wide, {}, ops::copy(ops::transpose(wide))) == "");
  const Tensor a = input("a", f32, {M, K}), b = input("b", f32, {K, N});
  CHECK(lowered(a, b, ops::matmul(a, b)) == "");
}
