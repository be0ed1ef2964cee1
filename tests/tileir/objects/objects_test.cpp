// Objects of programs for tiles, called through their C entries on a driver that runs bytecode (tests/ptx/driver.cpp): shapes,
// alignments and strides, errors, launches behind each other, and which of several targets a call takes.
#include <algorithm>
#include <cstring>

#include "tests/tileir/objects/device.h"
#include "tile_bias.h"
#include "tile_center.h"
#include "tile_choice.h"
#include "tile_counts.h"
#include "tile_empty.h"
#include "tile_parts.h"
#include "tile_product.h"
#include "tile_turn.h"

using tile_objects::launched;
using tile_objects::OnDevice;
using tile_objects::said;

namespace {

constexpr unsigned char of_int = 0, of_unsigned = 1, of_float = 2, of_bfloat = 4;

struct Bias {
  Bias(std::int64_t m, std::int64_t n, std::int64_t pitch = 0, std::size_t skipped = 0)
      : rows(m), columns(n), x({m, n}, of_float, pitch, skipped), b({n}, of_float), y({m, n}, of_float, pitch) {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) x(i, j) = static_cast<float>((i * 7 + j * 3) % 11 - 5), y(i, j) = -1;
    for (std::int64_t j = 0; j < n; ++j) b(j) = static_cast<float>(j % 5 - 2);
    x.up(), b.up(), y.up();
    launched();
  }
  void check() {
    y.down();
    int wrong = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) wrong += y(i, j) != std::max(x(i, j) + b(j), 0.f);
    CHECK(wrong == 0);
  }
  std::int64_t rows, columns;
  OnDevice<float> x, b, y;
};

}  // namespace

TEST_CASE("the form of a call: aligned tensors, rows and lengths, or any") {
  struct {
    std::int64_t m, n, pitch;
    std::size_t skipped;
    const char* taken;
  } const cases[] = {{8, 64, 0, 0, "tiles tile_bias"},     {5, 36, 0, 0, "tiles tile_bias"},
                     {1, 4, 0, 0, "tiles tile_bias"},      {7, 48, 52, 0, "tiles tile_bias"},
                     {5, 37, 0, 0, "tiles tile_bias_any"}, {5, 36, 37, 0, "tiles tile_bias_any"},
                     {5, 36, 0, 4, "tiles tile_bias_any"}, {1, 36, 37, 0, "tiles tile_bias"},
                     {9, 1, 0, 0, "tiles tile_bias_any"},  {33, 130, 133, 8, "tiles tile_bias_any"}};
  for (const auto& c : cases) {
    CAPTURE(c.m);
    CAPTURE(c.n);
    CAPTURE(c.pitch);
    CAPTURE(c.skipped);
    Bias t(c.m, c.n, c.pitch, c.skipped);
    REQUIRE_MESSAGE(tile_bias(&t.x.tensor, &t.b.tensor, &t.y.tensor) == ASHLAR_OK, said());
    CHECK(launched() == c.taken);
    t.check();
  }
}

TEST_CASE("nothing to do launches nothing") {
  Bias t(3, 4);
  std::int64_t none[2] = {0, 4};
  t.x.tensor.shape = t.y.tensor.shape = none;
  CHECK_MESSAGE(tile_bias(&t.x.tensor, &t.b.tensor, &t.y.tensor) == ASHLAR_OK, said());
  CHECK(launched() == "");
}

TEST_CASE("strides and extents that 32 bits do not hold are refused, and so are those of no use to tiles") {
  Bias t(2, 4);
  t.x.strides()[0] = (std::int64_t{1} << 31) - (std::int64_t{1} << 24) + 4;
  CHECK(tile_bias(&t.x.tensor, &t.b.tensor, &t.y.tensor) == ASHLAR_E_TARGET);
  CHECK(said() == "tile_bias: x.strides[0] is 2130706436, expected at most 2130706432 for tiles (cuda-tile-sm_80)");
  CHECK(ashlar_last_error()->argument == 0);
  CHECK(ashlar_last_error()->dimension == 0);
  CHECK(launched() == "");
  t.y.down();
  CHECK(t.y(0, 0) == -1);
}

TEST_CASE("a dimension of one place may have any stride") {
  Bias t(1, 36);
  t.x.strides()[0] = std::int64_t{1} << 40;
  CHECK_MESSAGE(tile_bias(&t.x.tensor, &t.b.tensor, &t.y.tensor) == ASHLAR_OK, said());
  CHECK(launched() == "tiles tile_bias");
  t.check();
}

TEST_CASE("the checks of every entry") {
  Bias t(4, 8);
  std::int64_t other[1] = {7};
  t.b.tensor.shape = other;
  CHECK(tile_bias(&t.x.tensor, &t.b.tensor, &t.y.tensor) == ASHLAR_E_SHAPE);
  CHECK(said() == "tile_bias: b.shape[0] is 7, expected 8 (N, from x.shape[1])");
  other[0] = 8;
  t.x.tensor.device_type = 1;
  CHECK(tile_bias(&t.x.tensor, &t.b.tensor, &t.y.tensor) == ASHLAR_E_DEVICE);
  CHECK(said() == "tile_bias: x lies on the host, expected a CUDA device");
  t.x.tensor.device_type = 2, t.x.tensor.type_bits = 64;
  CHECK(tile_bias(&t.x.tensor, &t.b.tensor, &t.y.tensor) == ASHLAR_E_TYPE);
  CHECK(said() == "tile_bias: x is f64, expected f32");
  CHECK(launched() == "");
}

TEST_CASE("on plain pointers, and prepared") {
  Bias t(6, 20);
  ashlar_error error = {};
  ashlar_context ctx = {};
  ctx.size = sizeof ctx, ctx.error = &error;
  tile_bias_args args = {};
  args.x = static_cast<const float*>(t.x.tensor.data), args.b = static_cast<const float*>(t.b.tensor.data);
  args.y = static_cast<float*>(t.y.tensor.data), args.M = 6, args.N = 20;
  CHECK(tile_bias_prepare(&t.x.tensor, &t.b.tensor, &t.y.tensor, &ctx) == ASHLAR_OK);
  CHECK(launched() == "");
  CHECK(tile_bias_run(&args, &ctx) == ASHLAR_OK);
  CHECK(launched() == "tiles tile_bias");
  t.check();
}

TEST_CASE("variants: the terms of a call decide, each variant has both forms and needs its own workspace") {
  struct {
    std::int64_t m, n, k;
    const char* taken;
  } const cases[] = {{20, 24, 1040, "tiles tile_parts_variant_C_rf, tiles tile_parts_variant_C"},
                     {5, 9, 1100, "tiles tile_parts_variant_C_rf_any, tiles tile_parts_variant_C_any"},
                     {20, 24, 1016, "tiles tile_parts"},
                     {5, 9, 7, "tiles tile_parts_any"},
                     {5, 9, 0, "tiles tile_parts_any"}};
  for (const auto& c : cases) {
    CAPTURE(c.k);
    OnDevice<std::uint16_t> a({c.m, c.k}, of_bfloat), b({c.k, c.n}, of_bfloat);
    OnDevice<float> y({c.m, c.n}, of_float);
    const auto left = [](std::int64_t i, std::int64_t j) { return (i + 2 * j) % 5 - 2; };
    const auto right = [](std::int64_t i, std::int64_t j) { return (3 * i + j) % 7 - 3; };
    const auto bits = [](std::int64_t n) {
      const float x = static_cast<float>(n);
      std::uint32_t u = 0;
      std::memcpy(&u, &x, sizeof u);
      return static_cast<std::uint16_t>(u >> 16);
    };
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.k; ++j) a(i, j) = bits(left(i, j));
    for (std::int64_t i = 0; i < c.k; ++i)
      for (std::int64_t j = 0; j < c.n; ++j) b(i, j) = bits(right(i, j));
    a.up(), b.up(), y.up();
    launched();
    tile_parts_args args = {};
    args.M = c.m, args.N = c.n, args.K = c.k;
    const std::size_t parts = c.k >= 1024 ? static_cast<std::size_t>((c.k + 511) / 512 * c.m * c.n) * sizeof(float) : 0;
    CHECK((parts == 0) == (tile_parts_workspace_bytes(&args, nullptr) == 0));
    CHECK(tile_parts_workspace_bytes(&args, nullptr) >= parts);
    REQUIRE_MESSAGE(tile_parts(&a.tensor, &b.tensor, &y.tensor) == ASHLAR_OK, said());
    CHECK(launched() == c.taken);
    y.down();
    int wrong = 0;
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.n; ++j) {
        std::int64_t sum = 0;
        for (std::int64_t t = 0; t < c.k; ++t) sum += left(i, t) * right(t, j);
        wrong += y(i, j) != static_cast<float>(sum);
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a product with a scalar: whole, ragged with rows in lines, and any") {
  struct {
    std::int64_t n, k, pitch;  // pitch of both factors; 0: no gaps
    const char* taken;
  } const cases[] = {{32, 64, 0, "tiles tile_product"},         {19, 38, 0, "tiles tile_product_any"},
                     {1, 2, 0, "tiles tile_product_any"},       {19, 38, 40, "tiles tile_product_ragged"},
                     {24, 37, 40, "tiles tile_product_ragged"}, {1, 16, 16, "tiles tile_product_ragged"},
                     {37, 38, 44, "tiles tile_product_any"},    {17, 100, 104, "tiles tile_product_ragged"}};
  for (const auto& [n, k, pitch, taken] : cases) {
    CAPTURE(n);
    CAPTURE(k);
    CAPTURE(pitch);
    const std::int64_t m = n + 3, floats = pitch ? (n + 3) / 4 * 4 : 0;
    OnDevice<std::uint16_t> a({m, k}, of_bfloat, pitch), b({k, n}, of_bfloat, pitch);
    OnDevice<float> c({m, n}, of_float, floats);
    const auto bits = [](float x) {
      std::uint32_t u = 0;
      std::memcpy(&u, &x, sizeof u);
      return static_cast<std::uint16_t>(u >> 16);
    };
    const auto left = [](std::int64_t i, std::int64_t j) { return static_cast<float>((i + 2 * j) % 5 - 2); };
    const auto right = [](std::int64_t i, std::int64_t j) { return static_cast<float>((3 * i + j) % 7 - 3); };
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < k; ++j) a(i, j) = bits(left(i, j));
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < n; ++j) b(i, j) = bits(right(i, j));
    a.up(), b.up(), c.up();
    launched();
    REQUIRE_MESSAGE(tile_product(&a.tensor, &b.tensor, 0.5f, &c.tensor) == ASHLAR_OK, said());
    CHECK(launched() == taken);
    c.down();
    int wrong = 0;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t t = 0; t < k; ++t) sum += left(i, t) * right(t, j);
        wrong += c(i, j) != 0.5f * sum;
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("stages between launches lie in the workspace: the caller's, an allocator's, the runtime's") {
  for (const std::int64_t rows : {1, 8, 21}) {
    CAPTURE(rows);
    OnDevice<float> x({rows, 20}, of_float), y({rows, 20}, of_float);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < 20; ++j) x(i, j) = static_cast<float>((i * 5 + j) % 9 - 4);
    x.up(), y.up();
    launched();
    tile_center_args args = {};
    args.R = rows;
    const std::size_t bytes = tile_center_workspace_bytes(&args, nullptr);
    CHECK(bytes >= static_cast<std::size_t>(rows * (4 + 20)));
    OnDevice<char> space({static_cast<std::int64_t>(bytes)}, of_int);
    for (const bool given : {false, true}) {
      ashlar_error error = {};
      ashlar_context ctx = {};
      ctx.size = sizeof ctx, ctx.error = &error;
      if (given) ctx.workspace = space.tensor.data, ctx.workspace_bytes = bytes;
      REQUIRE(tile_center_with(&x.tensor, &y.tensor, &ctx) == ASHLAR_OK);
      CHECK(launched() == "tiles tile_center_total, tiles tile_center_positive, tiles tile_center_y");
      y.down();
      int wrong = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        float total = 0;
        for (std::int64_t j = 0; j < 20; ++j) total += x(i, j);
        for (std::int64_t j = 0; j < 20; ++j) wrong += y(i, j) != (x(i, j) > 0 ? x(i, j) * 20 - total : 0);
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("any strides: transposed memory, and steps backwards, which tiles do not take") {
  OnDevice<std::int16_t> x({12, 33}, of_int), y({33, 12}, of_int);
  for (std::int64_t i = 0; i < 12; ++i)
    for (std::int64_t j = 0; j < 33; ++j) x(i, j) = static_cast<std::int16_t>(i * 100 + j);
  x.up(), y.up();
  launched();
  REQUIRE_MESSAGE(tile_turn(&x.tensor, &y.tensor) == ASHLAR_OK, said());
  y.down();
  int wrong = 0;
  for (std::int64_t i = 0; i < 12; ++i)
    for (std::int64_t j = 0; j < 33; ++j) wrong += y(j, i) != x(i, j);
  CHECK(wrong == 0);
  x.tensor.data = static_cast<std::int16_t*>(x.tensor.data) + 32;
  x.strides()[1] = -1;
  CHECK(tile_turn(&x.tensor, &y.tensor) == ASHLAR_E_TARGET);
  CHECK(said() == "tile_turn: x.strides[1] is -1, expected at least 0 for tiles (cuda-tile)");
}

TEST_CASE("quotients by a Symbol that is 0: the host computes their numbers, and goes on") {
  const struct {
    std::int64_t m, n;
  } cases[] = {{5, 0}, {5, 2}, {3, 9}, {17, 1}};
  for (const auto& c : cases) {
    CAPTURE(c.m);
    CAPTURE(c.n);
    OnDevice<std::int32_t> x({c.n}, of_int), y({c.m}, of_int);
    for (std::int64_t i = 0; i < c.n; ++i) x(i) = static_cast<std::int32_t>(i * 3 + 1);
    x.up(), y.up();
    launched();
    REQUIRE_MESSAGE(tile_empty(&x.tensor, &y.tensor) == ASHLAR_OK, said());
    CHECK(launched() != "");
    y.down();
    const std::int64_t terms = c.n ? c.m / c.n * 4 : 0;
    for (std::int64_t i = 0; i < c.m; ++i) {
      std::int32_t sum = 3;
      for (std::int64_t k = 0; k < terms; ++k) {
        const std::int64_t period = 2 * c.n, at = ((k + i - 2) % period + period) % period;
        sum += x(at < c.n ? at : period - 1 - at);
      }
      CHECK(y(i) == sum);
    }
  }
}

TEST_CASE("a scatter through its entry: starting values, atomic updates, a table of the kernel") {
  for (const std::int64_t n : {1, 100, 0}) {
    CAPTURE(n);
    OnDevice<std::uint8_t> x({n}, of_unsigned);
    OnDevice<std::int32_t> y({16}, of_int);
    std::vector<std::int32_t> expected(16, 0);
    for (std::int64_t i = 0; i < n; ++i) {
      x(i) = static_cast<std::uint8_t>(i * 37);
      ++expected[static_cast<std::size_t>((x(i) + 100) * 7 % 16)];
    }
    for (std::int64_t i = 0; i < 16; ++i) y(i) = 99;
    x.up(), y.up();
    launched();
    REQUIRE_MESSAGE(tile_counts(&x.tensor, &y.tensor) == ASHLAR_OK, said());
    y.down();
    for (std::int64_t i = 0; i < 16; ++i) CHECK(y(i) == expected[static_cast<std::size_t>(i)]);
  }
}

// ---- several targets -----------------------------------------------------------------------------------------------------
namespace {

const bool old_driver = std::getenv("TILE_EXECUTOR_VERSION") != nullptr;  // as a test of its own sets it

}  // namespace

TEST_CASE("an old driver: one message, and threads where there are some" * doctest::skip(!old_driver)) {
  Bias t(6, 20);
  CHECK(tile_bias(&t.x.tensor, &t.b.tensor, &t.y.tensor) == ASHLAR_E_TARGET);
  CHECK(said() ==
        "tile_bias: made for cuda-tile-sm_80: tiles on PTX executor need a driver of CUDA 13.3 or later, this one is of CUDA "
        "12.4");
  CHECK(launched() == "");
  REQUIRE_MESSAGE(tile_choice(&t.x.tensor, &t.b.tensor, &t.y.tensor) == ASHLAR_OK, said());
  CHECK(launched() == "threads tile_choice");
  t.check();
}

TEST_CASE("of tiles, threads and the processor a call takes what fits its memory, the device and the driver") {
  Bias t(6, 20);
  const auto call = [&] { return tile_choice(&t.x.tensor, &t.b.tensor, &t.y.tensor); };
  REQUIRE_MESSAGE(call() == ASHLAR_OK, said());
  CHECK(launched() == "tiles tile_choice");
  t.check();
  // what tiles do not take is taken by threads
  t.x.strides()[0] = std::int64_t{1} << 31;
  CHECK(tile_bias(&t.x.tensor, &t.b.tensor, &t.y.tensor) == ASHLAR_E_TARGET);
  std::int64_t one[2] = {1, 20};
  t.x.tensor.shape = t.y.tensor.shape = one;
  REQUIRE_MESSAGE(call() == ASHLAR_OK, said());
  CHECK(launched() == "tiles tile_choice");
  // host memory is the processor's
  std::vector<float> x(20, 3.f), b(20, -1.f), y(20, 0.f);
  std::int64_t columns[1] = {20};
  const auto on_host = [](float* data, std::int64_t* shape, int rank) {
    ashlar_tensor h = {};
    h.data = data, h.device_type = 1, h.ndim = rank, h.type_code = 2, h.type_bits = 32, h.type_lanes = 1, h.shape = shape;
    return h;
  };
  const ashlar_tensor hx = on_host(x.data(), one, 2), hb = on_host(b.data(), columns, 1);
  ashlar_tensor hy = on_host(y.data(), one, 2);
  REQUIRE_MESSAGE(tile_choice(&hx, &hb, &hy) == ASHLAR_OK, said());
  CHECK(launched() == "");
  CHECK(std::all_of(y.begin(), y.end(), [](float v) { return v == 2; }));
}
