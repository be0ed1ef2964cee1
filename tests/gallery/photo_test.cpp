// The bilateral grid on a photograph.
#include "apps/support/image.h"
#include "bilateral_grid.h"
#include "tests/gallery/bilateral.h"
#include "tests/gallery/close.h"

TEST_CASE("a photograph of a harbour through the bilateral grid") {
  const apps::Image photo = apps::read_png(GALLERY_PHOTO);
  REQUIRE(photo.channels == 3);
  const std::int64_t h = photo.height, w = photo.width;
  Dense<std::uint8_t> in({h, w}, [&](std::size_t i) {
    return std::lround(255 * (0.299f * photo.plane(0)[i] + 0.587f * photo.plane(1)[i] + 0.114f * photo.plane(2)[i]));
  });
  Dense<float> out({h, w});
  ashlar_tensor a = in.tensor(), b = out.tensor();
  REQUIRE_MESSAGE(bilateral_grid(&a, &b) == ASHLAR_OK, last_error());
  const std::vector<double> expected = bilateral_by_loops(in.data, h, w, 8, 32);
  double worst = 0, moved = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    worst = std::max(worst, std::fabs(static_cast<double>(out.data[k]) - expected[k]) / expected[k]);
    moved = std::max(moved, std::fabs(static_cast<double>(out.data[k]) - in.data[k]));
  }
  CHECK(worst <= bilateral_bound);
  CHECK(moved > 1);  // it is not the photograph itself
}
