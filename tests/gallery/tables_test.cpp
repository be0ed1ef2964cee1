// Programs whose loops run as far as tables say, beside plain loops.
#include "sparse.h"
#include "tests/gallery/close.h"

TEST_CASE("a sparse matrix times a dense one") {
  struct Size {
    std::int64_t m, k, n;
  };
  for (const Size& s : {Size{1, 1, 1}, {37, 20, 70}, {8, 5, 32}, {3, 4, 0}, {0, 4, 9}, {12, 300, 5}}) {
    CAPTURE(s.m);
    CAPTURE(s.n);
    Dense<std::int32_t> first({s.m + 1}, [](std::size_t) { return 0; });
    for (std::int64_t i = 0; i < s.m; ++i)  // rows of 0 to 6 entries, and one of many
      first.data[static_cast<std::size_t>(i + 1)] =
          first.data[static_cast<std::size_t>(i)] + (i == 2 ? 100 : static_cast<std::int32_t>((i * 5 + 3) % 7));
    const std::int64_t z = first.data.back();
    Dense<std::int32_t> col(
        {z}, [&](std::size_t p) { return static_cast<std::int32_t>((p * 2654435761u >> 7) % static_cast<std::size_t>(s.k)); });
    Dense<float> val({z}, fractions(1)), b({s.k, s.n}, fractions(2)), c({s.m, s.n});
    std::vector<double> expected(c.data.size());
    for (std::int64_t i = 0; i < s.m; ++i)
      for (std::int64_t p = first.data[static_cast<std::size_t>(i)]; p < first.data[static_cast<std::size_t>(i + 1)]; ++p)
        for (std::int64_t j = 0; j < s.n; ++j)
          expected[static_cast<std::size_t>(i * s.n + j)] +=
              static_cast<double>(val.data[static_cast<std::size_t>(p)]) *
              static_cast<double>(b.data[static_cast<std::size_t>(col.data[static_cast<std::size_t>(p)] * s.n + j)]);
    ashlar_tensor f = first.tensor(), o = col.tensor(), v = val.tensor(), d = b.tensor(), r = c.tensor();
    REQUIRE_MESSAGE(sparse(&f, &o, &v, &d, &r) == ASHLAR_OK, last_error());
    close(c.data, expected, 1e-6);
  }
}
