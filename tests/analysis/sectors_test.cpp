// Coalescing against a count over every byte, base and alignment.
#include <set>

#include "accesses.h"

namespace ashlar::test {

TEST_CASE("random accesses: sectors are those counted, never fewer than the bytes need") {
  int answered = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const Accessed a = random_access(seed + 5000);
    const std::int64_t align = std::int64_t{1} << (seed % 7);
    const Sectors found = sectors(a.addressing, a.access, align, a.facts());
    INFO(a.layout.name << ": " << ir::text(a.layout.address) << ", aligned to " << align << ": " << found.why);
    const bool vectors = a.vectors();
    CHECK((found.answer == Answer::proved) == vectors);
    if (!vectors || found.answer != Answer::proved) continue;
    ++answered;
    int most = 0, fewest = 0;
    for (std::int64_t b = 0; b < a.bases; ++b)
      for (std::int64_t start = 0; start < 128; start += align) {
        std::set<std::int64_t> bytes, touched;
        for (int l = 0; l < 32; ++l)
          for (const std::int64_t e : a.elements(l, b).value_or(std::vector<std::int64_t>{}))
            for (std::int64_t k = 0; k < a.addressing.element_bytes; ++k)
              bytes.insert(start + e * a.addressing.element_bytes + k);
        for (const std::int64_t x : bytes) touched.insert((x + 4096 * 32) / 32);
        if (static_cast<int>(touched.size()) > most) {
          most = static_cast<int>(touched.size());
          fewest = static_cast<int>((bytes.size() + 31) / 32);
        }
      }
    CHECK(found.sectors == most);
    CHECK(found.minimum <= most);
    CHECK(found.minimum >= 1);
    if (a.bases == 1) CHECK(found.minimum == fewest);
  }
  CHECK(answered > 500);
}

TEST_CASE("an xored base and a buffer that starts inside of a sector") {
  // Bytes 0 and 31 of a sector: moved by 8, in two sectors; xored by 16 and moved by 8, in one. So no base stands for the
  // others.
  const Expr address = (r * 31) ^ (c * 4);
  const WarpAccess two{20, {lane % 2, base}, 1, 1, 32};
  for (const std::int64_t align : {1, 8, 32}) {
    int most = 0;
    for (std::int64_t b = 0; b < 8; ++b)
      for (std::int64_t start = 0; start < 32; start += align)
        most = std::max<int>(most, 1 + ((start + (b * 4)) / 32 != (start + (31 ^ (b * 4))) / 32));
    Facts f;
    f.bound(21, 0, 7);
    CHECK(sectors({{1, 2}, address, 1}, two, align, f).sectors == most);
  }
  // bits of the lane are bits of the address: no range of the base is needed, but where the buffer starts
  Facts f;
  f.bound(21, 0, {});
  const Addressing swizzled{{1, 2}, r ^ (c % 8), 1};
  const WarpAccess eight{20, {lane % 8, base}, 1, 1, 32};
  CHECK(sectors(swizzled, eight, 32, f).answer == Answer::proved);
  CHECK(sectors(swizzled, eight, 32, f).sectors == 1);
  CHECK(sectors(swizzled, eight, 16, f).answer == Answer::unknown);
}

TEST_CASE("rows, columns, and rows of any length") {
  Facts f;
  f.bound(9, 1, {});
  f.bound(21, 0, {});
  const WarpAccess along{20, {base, lane}, 1, 1, 32}, down{20, {lane, base}, 1, 1, 32}, vectors{20, {base, lane * 4}, 4, 1, 32};
  const Addressing rows{{1, 2}, r * 256 + c, 4};
  CHECK(sectors(rows, along, 128, f).sectors == 4);
  CHECK(sectors(rows, along, 4, f).sectors == 5);  // where the buffer starts is not known
  CHECK(sectors(rows, vectors, 16, f).sectors == 17);
  CHECK(sectors(rows, vectors, 32, f).sectors == 16);
  const Sectors column = sectors(rows, down, 128, f);
  CHECK(column.sectors == 32);
  CHECK(column.minimum == 4);
  const Sectors any =
      sectors({{1, 2}, r * S + c, 4}, along, 128, f);  // rows start anywhere: at most 5, and not known to be less
  CHECK(any.sectors == 5);
  f.multiple(9, 8);
  CHECK(sectors({{1, 2}, r * S + c, 4}, along, 128, f).sectors == 4);
  CHECK(sectors({{1, 2}, r * S + c, 4}, along, 128, f).answer == Answer::proved);
  CHECK(sectors(rows, along, 24, f).why == "an alignment that is a power of two, found 24");
}

}  // namespace ashlar::test
