// Bank conflicts against a count over every lane, phase and base.
#include <map>
#include <set>

#include "accesses.h"

namespace ashlar::test {
namespace {

struct Count {
  int degree = 0, wavefronts = 0;
};
Count count(const Accessed& a) {
  Count worst;
  const std::int64_t bytes = a.addressing.element_bytes * a.access.elements;
  const int in_phase = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  for (std::int64_t b = 0; b < a.bases; ++b) {
    int total = 0;
    for (int begin = 0; begin < 32; begin += in_phase) {
      std::map<std::int64_t, std::set<std::int64_t>> bank;
      for (int l = begin; l < begin + in_phase; ++l)
        for (const std::int64_t e : a.elements(l, b).value_or(std::vector<std::int64_t>{}))
          for (std::int64_t byte = 0; byte < a.addressing.element_bytes; ++byte) {
            const std::int64_t word = (e * a.addressing.element_bytes + byte) / 4;
            bank[word % 32].insert(word);
          }
      int most = 0;
      for (const auto& [_, words] : bank) most = std::max(most, static_cast<int>(words.size()));
      total += most;
      worst.degree = std::max(worst.degree, most);
    }
    worst.wavefronts = std::max(worst.wavefronts, total);
  }
  return worst;
}

Addressing halves(const Expr& address) { return {{1, 2}, address, 2}; }

}  // namespace

TEST_CASE("random accesses: degree and wavefronts are those counted") {
  int answered = 0, conflicts = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const Accessed a = random_access(seed);
    const BankConflicts found = bank_conflicts(a.addressing, a.access, a.facts());
    INFO(a.layout.name << ": " << ir::text(a.layout.address) << ", " << a.access.elements << " of "
                       << a.addressing.element_bytes << " bytes: " << found.why);
    const bool vectors = a.vectors();
    CHECK((found.answer == Answer::proved) == vectors);
    if (!vectors || found.answer != Answer::proved) continue;
    ++answered;
    const Count counted = count(a);
    CHECK(found.degree == counted.degree);
    CHECK(found.wavefronts == counted.wavefronts);
    conflicts += counted.degree > 1;
  }
  CHECK(answered > 500);
  CHECK(conflicts > 100);
}

TEST_CASE("eight rows of a 64-column f16 tile: conflicts of eight, none under the swizzle") {
  Facts f;
  f.bound(21, 0, {});
  const WarpAccess rows{20, {lane % 8, lane / 8 * 8}, 8, 1, 32};  // ldmatrix: eight rows a quarter warp
  CHECK(bank_conflicts(halves(r * 64 + c), rows, f).degree == 8);
  CHECK(bank_conflicts(halves(r * 64 + (c ^ (r % 8 * 8))), rows, f).degree == 1);
  CHECK(bank_conflicts(halves(r * 72 + c), rows, f).degree == 1);  // padded by 16 bytes
  // any group of eight rows, any of four granules of columns: the base has no constant range
  const WarpAccess anywhere{20, {base * 8 + lane % 8, lane / 8 * 8}, 8, 1, 32};
  const BankConflicts all = bank_conflicts(halves(r * 64 + (c ^ (r % 8 * 8))), anywhere, f);
  CHECK_MESSAGE(all.answer == Answer::proved, all.why);
  CHECK(all.degree == 1);
  CHECK(all.wavefronts == 4);
  // the columns move by 16 within the row: xor mixes lanes and base
  f.bound(21, 0, 3);
  const WarpAccess steps{20, {lane % 8, base * 16 + lane / 8 % 2 * 8}, 8, 1, 32};
  CHECK(bank_conflicts(halves(r * 64 + (c ^ (r % 8 * 8))), steps, f).degree == 1);
}

TEST_CASE("a transposed f32 tile: 32, padded by one 1; a broadcast word counts once") {
  const Facts none;
  const WarpAccess column{20, {lane, num(0)}, 1, 1, 32};
  CHECK(bank_conflicts({{1, 2}, r * 32 + c, 4}, column, none).degree == 32);
  CHECK(bank_conflicts({{1, 2}, r * 33 + c, 4}, column, none).degree == 1);
  CHECK(bank_conflicts({{1, 2}, r * 32 + c, 4}, {20, {num(0), num(5)}, 1, 1, 32}, none).degree == 1);
  CHECK(bank_conflicts({{1, 2}, r * 32 + c, 4}, {20, {lane % 2, num(5)}, 1, 1, 32}, none).degree == 2);
}

TEST_CASE("what is not known is said") {
  const Facts none;
  CHECK(bank_conflicts({{1, 2}, r * 32 + c, 4}, {20, {lane, num(1)}, 4, 1, 32}, none).why.find("not aligned") !=
        std::string::npos);
  CHECK(bank_conflicts({{1, 2}, c * 32 + r, 4}, {20, {lane, num(0)}, 4, 1, 32}, none).why.find("one behind the other") !=
        std::string::npos);
  CHECK(bank_conflicts({{1, 2}, r * 32 + c, 4}, {20, {lane, num(0)}, 8, 1, 32}, none).why ==
        "an access of 1, 2, 4, 8 or 16 bytes a lane, found 32");
  const BankConflicts symbolic = bank_conflicts({{1, 2}, r * S + c, 4}, {20, {lane, num(0)}, 1, 1, 32}, none);
  CHECK(symbolic.answer == Answer::unknown);
  CHECK(symbolic.why != "");
}

}  // namespace ashlar::test
