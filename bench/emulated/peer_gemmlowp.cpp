// gemmlowp multiplies u8 with offsets that are added to them. Bytes of the other sign are made by exchanging the highest bit,
// which is counted: a pass over both matrices.
#include <public/gemmlowp.h>

#include <vector>

#include "product.h"

void product_s8(const int8_t* a, const int8_t* b, int32_t* c, int64_t n) {
  const int size = static_cast<int>(n);
  static std::vector<std::uint8_t> left, right;
  static gemmlowp::GemmContext context;
  context.set_max_num_threads(1);
  left.resize(static_cast<std::size_t>(n * n)), right.resize(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = static_cast<std::uint8_t>(a[i] ^ 0x80);
    right[i] = static_cast<std::uint8_t>(b[i] ^ 0x80);
  }
  const gemmlowp::MatrixMap<const std::uint8_t, gemmlowp::MapOrder::RowMajor> l(left.data(), size, size),
      r(right.data(), size, size);
  gemmlowp::MatrixMap<std::int32_t, gemmlowp::MapOrder::RowMajor> out(c, size, size);
  gemmlowp::GemmWithOutputPipeline<std::uint8_t, std::int32_t, gemmlowp::DefaultL8R8BitDepthParams>(&context, l, r, &out, -128,
                                                                                                    -128, std::tuple<>());
}
