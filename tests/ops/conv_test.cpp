// Convolutions beside loops over every tap: one to three dimensions, strides, paddings of both kinds, dilation, groups,
// layouts.
#include "tests/ops/check.h"
#include "tests/ops/conv_loops.h"

using namespace ops_test;

TEST_CASE("conv2d: strides, padding, dilation") {
  struct Case {
    const char* name;
    ops::Conv2dOptions o;
    std::int64_t r, s;
    bool emulated = false;
  };
  for (const Case& c : {Case{"3x3", {}, 3, 3},
                        {"padded alike", {.padding = {1, 1}}, 3, 3, true},
                        {"one by one, strided", {.stride = {2, 3}}, 1, 1},
                        {"strided and padded apart", {.stride = {2, 1}, .padding = {ops::Pad(0, 1), ops::Pad(2, 0)}}, 3, 2},
                        {"dilated", {.stride = {1, 2}, .padding = {2, 3}, .dilation = {2, 3}}, 3, 2},
                        {"padding beyond the window", {.padding = {4, 0}}, 2, 5}})
    check(
        c.name,
        [&](Maker& m) {
          const Symbol N{"N"}, C{"C"}, O{"O"}, H{"H", {.min = 5}}, W{"W", {.min = 7}};
          const Tensor x = m.in("x", f32, {N, C, H, W}), w = m.in("w", f32, {O, C, c.r, c.s}), b = m.in("b", f32, {O});
          m.out(ops::conv2d(x, w, b, c.o)), m.out(ops::conv2d(x, w, Tensor(), c.o));
        },
        {{{{2, 3, 6, 9}, {4, 3, c.r, c.s}, {4}}},
         {{{1, 1, 5, 7}, {1, 1, c.r, c.s}, {1}}},
         {{{1, 0, 5, 8}, {2, 0, c.r, c.s}, {2}}},
         {{{0, 2, 5, 8}, {2, 2, c.r, c.s}, {2}}}},
        [&](const Inputs& in) {
          const Loops l{
              {c.o.stride.begin(), c.o.stride.end()}, pads(c.o.padding), {c.o.dilation.begin(), c.o.dilation.end()}, 1};
          const Nd none({in[2].n(0)});
          return Results{convolution(in[0], in[1], in[2], l), convolution(in[0], in[1], none, l)};
        },
        {1e-6, 5e-6, false, c.emulated});
}

TEST_CASE("conv2d of groups, and windows of any extent") {
  check(
      "groups",
      [](Maker& m) {
        const Symbol N{"N"}, H{"H", {.min = 3}}, W{"W", {.min = 3}};
        const Tensor x = m.in("x", f32, {N, 6, H, W}), w = m.in("w", f32, {4, 3, 3, 3}), v = m.in("v", f32, {6, 1, 2, 2});
        m.out(ops::conv2d(x, w, Tensor(), {.padding = {1, 1}, .groups = 2})), m.out(ops::conv2d(x, v, Tensor(), {.groups = 6}));
      },
      {{{{2, 6, 5, 4}, {4, 3, 3, 3}, {6, 1, 2, 2}}}, {{{0, 6, 3, 3}, {4, 3, 3, 3}, {6, 1, 2, 2}}}},
      [](const Inputs& in) {
        return Results{convolution(in[0], in[1], Nd({4}), {{1, 1}, {{1, 1}, {1, 1}}, {1, 1}, 2}),
                       convolution(in[0], in[2], Nd({6}), {{1, 1}, {{0, 0}, {0, 0}}, {1, 1}, 6})};
      },
      {1e-6, 5e-6});
  check(
      "a window of any extent",
      [](Maker& m) {
        const Symbol N{"N"}, C{"C"}, OH{"OH"}, OW{"OW"}, R{"R", {.min = 1}}, S{"S", {.min = 1}};
        const Tensor x = m.in("x", f32, {N, C, OH + R - 1, OW + S - 1}), w = m.in("w", f32, {2, C, R, S});
        m.out(ops::conv2d(x, w));
      },
      {{{{1, 2, 6, 5}, {2, 2, 3, 2}}},
       {{{1, 2, 4, 4}, {2, 2, 4, 4}}},
       {{{2, 1, 1, 1}, {2, 1, 1, 1}}},
       {{{1, 1, 2, 2}, {2, 1, 3, 1}}}},
      [](const Inputs& in) { return Results{convolution(in[0], in[1], Nd({2}), {{1, 1}, {{0, 0}, {0, 0}}, {1, 1}, 1})}; },
      {1e-6, 5e-6});
}

TEST_CASE("conv2d in other layouts") {
  check(
      "channels last and in blocks",
      [](Maker& m) {
        const Symbol N{"N"}, C{"C"}, O{"O"}, H{"H"}, W{"W"};
        const Tensor x = m.in("x", f32, {N, H, W, C}), w = m.in("w", f32, {3, 2, C, O}), b = m.in("b", f32, {O});
        m.out(ops::conv2d(x, w, b, {.stride = {2, 1}, .padding = {1, 2}, .layout = ops::Layout::channels_last}));
        const Tensor u = m.in("u", f32, {N, C, H, W, 4}), v = m.in("v", f32, {O, C, 3, 3, 4, 8}), c = m.in("c", f32, {O, 8});
        m.out(ops::conv2d(u, v, c, {.padding = {1, 1}, .layout = ops::Layout::channels_blocked}));
      },
      {{{{2, 5, 6, 3}, {3, 2, 3, 2}, {2}, {2, 3, 5, 6, 4}, {2, 3, 3, 3, 4, 8}, {2, 8}}},
       {{{1, 1, 1, 1}, {3, 2, 1, 1}, {1}, {1, 1, 1, 1, 4}, {1, 1, 3, 3, 4, 8}, {1, 8}}}},
      [](const Inputs& in) {
        const Nd last =
            convolution(turned(in[0], {0, 3, 1, 2}), turned(in[1], {3, 2, 0, 1}), in[2], {{2, 1}, {{1, 1}, {2, 2}}, {1, 1}, 1});
        const Nd &u = in[3], &v = in[4];
        Nd x({u.n(0), u.n(1) * 4, u.n(2), u.n(3)}), w({v.n(0) * 8, v.n(1) * 4, 3, 3}), bias({v.n(0) * 8});
        each(x.shape, [&](const Dims& i) { x.at(i) = u(i[0], i[1] / 4, i[2], i[3], i[1] % 4); });
        each(w.shape, [&](const Dims& i) { w.at(i) = v(i[0] / 8, i[1] / 4, i[2], i[3], i[1] % 4, i[0] % 8); });
        for (std::int64_t o = 0; o < bias.size(); ++o) bias[o] = in[5](o / 8, o % 8);
        const Nd y = convolution(x, w, bias, {{1, 1}, {{1, 1}, {1, 1}}, {1, 1}, 1});
        Nd blocked({y.n(0), v.n(0), y.n(2), y.n(3), 8});
        each(blocked.shape, [&](const Dims& i) { blocked.at(i) = y(i[0], i[1] * 8 + i[4], i[2], i[3]); });
        return Results{turned(last, {0, 2, 3, 1}), blocked};
      },
      {1e-6, 1e-5});
}

TEST_CASE("rows outside of the image are no terms") {
  check(
      "rows left out",
      [](Maker& m) {
        const Symbol N{"N"}, C{"C"}, O{"O"}, H{"H"}, W{"W"};
        const Tensor x = m.in("x", f32, {N, C, H, W}), w = m.in("w", f32, {O, C, 3, 2}), b = m.in("b", f32, {O});
        m.out(ops::conv2d(x, w, b, {.stride = {2, 1}, .padding = {ops::Pad(2, 1), 1}, .leave_out_rows = true}));
        const Tensor u = m.in("u", f32, {N, H, W, C}), v = m.in("v", f32, {5, 3, C, O});
        m.out(
            ops::conv2d(u, v, Tensor(),
                        {.padding = {3, 1}, .dilation = {1, 2}, .layout = ops::Layout::channels_last, .leave_out_rows = true}));
      },
      {{{{2, 3, 6, 5}, {2, 3, 3, 2}, {2}, {2, 6, 5, 3}, {5, 3, 3, 2}}},
       {{{1, 1, 1, 3}, {3, 1, 3, 2}, {3}, {1, 1, 3, 1}, {5, 3, 1, 3}}},
       {{{1, 2, 2, 4}, {1, 2, 3, 2}, {1}, {1, 2, 4, 2}, {5, 3, 2, 1}}}},
      [](const Inputs& in) {
        const Nd last = convolution(turned(in[3], {0, 3, 1, 2}), turned(in[4], {3, 2, 0, 1}), Nd({in[4].n(3)}),
                                    {{1, 1}, {{3, 3}, {1, 1}}, {1, 2}, 1});
        return Results{convolution(in[0], in[1], in[2], {{2, 1}, {{2, 1}, {1, 1}}, {1, 1}, 1}), turned(last, {0, 2, 3, 1})};
      },
      {1e-6, 1e-5});
}

TEST_CASE("conv1d and conv3d") {
  check(
      "one dimension and three",
      [](Maker& m) {
        const Symbol N{"N"}, C{"C"}, T{"T"}, D{"D"}, H{"H"}, W{"W"};
        const Tensor x = m.in("x", f32, {N, C, T}), w = m.in("w", f32, {3, C, 4}), b = m.in("b", f32, {3});
        m.out(ops::conv1d(x, w, b, {.stride = {2}, .padding = {ops::Pad(3, 2)}, .dilation = {2}}));
        const Tensor u = m.in("u", f32, {N, T, C}), v = m.in("v", f32, {5, C, 2});
        m.out(ops::conv1d(u, v, Tensor(), {.padding = {ops::Pad::same(5)}, .layout = ops::Layout::channels_last}));
        const Tensor p = m.in("p", f32, {N, C, D, H, W}), q = m.in("q", f32, {2, C, 2, 3, 2});
        m.out(ops::conv3d(p, q, Tensor(), {.stride = {1, 2, 1}, .padding = {1, 1, 1}}));
      },
      {{{{2, 3, 9}, {3, 3, 4}, {3}, {2, 9, 3}, {5, 3, 2}, {2, 3, 4, 5, 3}, {2, 3, 2, 3, 2}}},
       {{{1, 1, 3}, {3, 1, 4}, {3}, {1, 3, 1}, {5, 1, 2}, {1, 1, 1, 1, 1}, {2, 1, 2, 3, 2}}}},
      [](const Inputs& in) {
        const Nd wide = convolution(turned(in[3], {0, 2, 1}), turned(in[4], {2, 1, 0}), Nd({2}), {{1}, {{2, 2}}, {1}, 1});
        return Results{convolution(in[0], in[1], in[2], {{2}, {{3, 2}}, {2}, 1}), turned(wide, {0, 2, 1}),
                       convolution(in[5], in[6], Nd({2}), {{1, 2, 1}, {{1, 1}, {1, 1}, {1, 1}}, {1, 1, 1}, 1})};
      },
      {1e-6, 5e-6});
}

TEST_CASE("depthwise convolutions of any number of channels") {
  check(
      "depthwise",
      [](Maker& m) {
        const Symbol N{"N"}, C{"C"}, H{"H"}, W{"W"};
        const Tensor x = m.in("x", f32, {N, C, H, W}), w = m.in("w", f32, {C, 1, 3, 3}), b = m.in("b", f32, {C}),
                     v = m.in("v", f32, {C * 2, 1, 3, 3});
        m.out(ops::depthwise_conv2d(x, w, b, {.padding = {1, 1}}));
        m.out(ops::depthwise_conv2d(x, v, Tensor(), {.stride = {2, 2}, .padding = {1, 1}, .multiplier = 2}));
        const Tensor u = m.in("u", f32, {N, H, W, C}), t = m.in("t", f32, {3, 3, C, 2});
        m.out(
            ops::depthwise_conv2d(u, t, Tensor(), {.padding = {1, 1}, .multiplier = 2, .layout = ops::Layout::channels_last}));
        const Tensor p = m.in("p", f32, {N, C, H, W, 4}), q = m.in("q", f32, {C, 1, 3, 3, 1, 4});
        m.out(ops::depthwise_conv2d(p, q, Tensor(), {.padding = {1, 1}, .layout = ops::Layout::channels_blocked}));
      },
      {{{{2, 3, 5, 4}, {3, 1, 3, 3}, {3}, {6, 1, 3, 3}, {2, 5, 4, 3}, {3, 3, 3, 2}, {2, 3, 5, 4, 4}, {3, 1, 3, 3, 1, 4}}},
       {{{1, 1, 1, 1}, {1, 1, 3, 3}, {1}, {2, 1, 3, 3}, {1, 1, 1, 1}, {3, 3, 1, 2}, {1, 1, 1, 1, 4}, {1, 1, 3, 3, 1, 4}}},
       {{{1, 0, 2, 2}, {0, 1, 3, 3}, {0}, {0, 1, 3, 3}, {1, 2, 2, 0}, {3, 3, 0, 2}, {1, 0, 2, 2, 4}, {0, 1, 3, 3, 1, 4}}}},
      [](const Inputs& in) {
        const int C = static_cast<int>(in[0].n(1));
        const std::vector<ops::Pad> one{{1, 1}, {1, 1}};
        const Nd &t = in[5], &p = in[6], &q = in[7];
        Nd taps({C * 2, 1, 3, 3}), x({p.n(0), C * 4, p.n(2), p.n(3)}), w({C * 4, 1, 3, 3});
        each(taps.shape, [&](const Dims& i) { taps.at(i) = t(i[2], i[3], i[0] / 2, i[0] % 2); });
        each(x.shape, [&](const Dims& i) { x.at(i) = p(i[0], i[1] / 4, i[2], i[3], i[1] % 4); });
        each(w.shape, [&](const Dims& i) { w.at(i) = q(i[0] / 4, 0, i[2], i[3], 0, i[0] % 4); });
        const Nd last = convolution(turned(in[4], {0, 3, 1, 2}), taps, Nd({C * 2}), {{1, 1}, one, {1, 1}, C});
        const Nd y = convolution(x, w, Nd({C * 4}), {{1, 1}, one, {1, 1}, C * 4});
        Nd blocked({y.n(0), C, y.n(2), y.n(3), 4});
        each(blocked.shape, [&](const Dims& i) { blocked.at(i) = y(i[0], i[1] * 4 + i[4], i[2], i[3]); });
        return Results{convolution(in[0], in[1], in[2], {{1, 1}, one, {1, 1}, C}),
                       convolution(in[0], in[3], Nd({C * 2}), {{2, 2}, one, {1, 1}, C}), turned(last, {0, 2, 3, 1}), blocked};
      },
      {1e-6, 5e-6});
}

TEST_CASE("narrow types are summed wide") {
  check(
      "bytes and halves",
      [](Maker& m) {
        const Symbol N{"N"}, H{"H"}, W{"W"};
        const Tensor x = m.in("x", i8, {N, 4, H, W}, whole(-128, 127)), w = m.in("w", i8, {3, 4, 3, 3}, whole(-128, 127)),
                     b = m.in("b", i32, {3}, whole(-500, 500)), u = m.in("u", f16, {N, 4, H, W}),
                     v = m.in("v", f16, {3, 4, 3, 3});
        m.out(ops::conv2d(x, w, b, {.padding = {1, 1}})), m.out(ops::conv2d(u, v, Tensor(), {.padding = {1, 1}}));
      },
      {{{{1, 4, 5, 6}, {3, 4, 3, 3}, {3}, {1, 4, 5, 6}, {3, 4, 3, 3}}}},
      [](const Inputs& in) {
        const Loops l{{1, 1}, {{1, 1}, {1, 1}}, {1, 1}, 1};
        return Results{convolution(in[0], in[1], in[2], l),
                       convolution(in[3], in[4], Nd({3}), l).map([](double v) { return double(_Float16(v)); })};
      },
      {1e-3, 1e-5});
}

TEST_CASE("convolutions refuse") {
  const Symbol N{"N"}, C{"C"}, H{"H"}, W{"W"};
  const auto text = [&](std::vector<Extent> x, std::vector<Extent> w, ops::Conv2dOptions o, std::vector<Extent> b = {}) {
    return refusal_of([&] {
      (void)ops::conv2d(lang::make_input("image", f32, x), lang::make_input("taps", f32, w),
                        b.empty() ? Tensor() : lang::make_input("b", f32, b), o);
    });
  };
  CHECK(text({N, C, H, W}, {8, 4, 3, 3}, {}).find("conv_test.cpp:") == 0);
  CHECK(text({N, C, H, W}, {8, 4, 3, 3}, {})
            .find("conv2d: expected w whose dimension 1 has the extent C, the channels of x, found 4") != std::string::npos);
  CHECK(text({N, 6, H, W}, {8, 3, 3, 3}, {.groups = 3})
            .find("conv2d: expected w whose dimension 0 is a number that 3 groups divide, found 8") != std::string::npos);
  CHECK(text({N, 6, H, W}, {9, 3, 3, 3}, {.groups = 3})
            .find("conv2d: expected x whose dimension 1 has the extent 9, the channels of all groups, found 6") !=
        std::string::npos);
  CHECK(text({N, 6, H, W}, {8, 6, 3, 3}, {.stride = {0, 1}}).find("conv2d: expected strides of at least 1, found 0") !=
        std::string::npos);
  CHECK(text({N, 6, H, W}, {8, 6, 3, 3}, {.dilation = {2, 1}, .leave_out_rows = true})
            .find("conv2d: expected no dilation along rows that are left out, found one of 2") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)ops::im2col(lang::make_input("image", f32, {N, 6, H, W}), 3, 3, {.leave_out_rows = true});
        }).find("im2col: expected all taps of a window, found rows that are left out") != std::string::npos);
  CHECK(text({N, 6, H}, {8, 6, 3, 3}, {}).find("conv2d: expected x of rank 4, found rank 3") != std::string::npos);
  CHECK(text({N, 6, H, W}, {8, 6, 3, 3}, {}, {7})
            .find("conv2d: expected bias whose dimension 0 has the extent 8, the channels of the result, found 7") !=
        std::string::npos);
  const auto of_types = [&](Type x, Type b) {
    return refusal_of([&] {
      (void)ops::conv2d(lang::make_input("image", x, {N, 6, H, W}), lang::make_input("taps", x, {8, 6, 3, 3}),
                        lang::make_input("b", b, {8}));
    });
  };
  CHECK(of_types(f32, f64).find("conv2d: expected bias of f32, found f64") != std::string::npos);
  CHECK(of_types(f16, i32).find("conv2d: expected bias of f16 or f32, found i32") != std::string::npos);
  CHECK(of_types(f16, f32).empty());
  CHECK(of_types(i8, f32).find("conv2d: expected bias of i8 or i32, found f32") != std::string::npos);
  CHECK(of_types(bool_, bool_).find("conv_test.cpp:") == 0);
  CHECK(of_types(bool_, bool_).find("conv2d: expected x of numbers, found bool") != std::string::npos);
}
