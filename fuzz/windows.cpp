#include "windows.h"

#include <ashlar/ashlar.h>

#include "texts.h"

namespace fuzz {
namespace {

using namespace ashlar;

class Maker {
 public:
  explicit Maker(Source& source) : s(source) {}

  Made make() {
    made_.exact = s.one_in(2);  // sums over a window may be regrouped
    made_.edges = !made_.exact && s.one_in(4);
    made_.forms.insert(known_form("chain of windows"));
    rows_ = extent("H", 20), columns_ = extent("W", 12);
    type_ = s.one_in(2) ? i32 : f32;
    const Tensor x = lang::make_input("x", type_, {rows_, columns_});
    every_ = s.one_in(3);
    before_ = now_ = boundary::repeat(x);
    made_.text += std::string("chain of windows of ") + name_of(type_) + "[" + ir::text(rows_.end()) + ", " +
                  ir::text(columns_.end()) + "], repeated at the borders" + (every_ ? " of every stage" : "") + ":\n";
    const int stages = s.between(2, 7);
    for (int k = 0; k < stages; ++k) {
      const Tensor next = window(k + 1 == stages || every_);
      made_.chain.push_back(next);
      before_ = now_;
      now_ = every_ ? boundary::repeat(next) : next;
    }
    const Tensor y = lang::make_output("y", type_, {rows_, columns_});
    lang::bind(y, made_.chain.back());
    made_.built = lang::build_program("fuzzed", {x, y});
    return std::move(made_);
  }

 private:
  Extent extent(const char* name, int most) {
    if (s.one_in(4)) return Extent(static_cast<std::int64_t>(s.between(1, most)));
    Symbol::Facts facts;
    if (s.one_in(4)) facts.multiple_of = s.between(2, 4);
    facts.min = s.one_in(2) ? facts.multiple_of : 0;
    return Extent(name, Expr(Symbol(name, facts)));
  }

  template <class F>
  Tensor stage(bool whole, F&& formula) {  // of the input's size, or as large as its readers ask for
    return whole ? compute("w", {rows_, columns_}, formula) : compute("w", formula);
  }

  // The next stage, over the one before it, and sometimes over the one before that.
  Tensor window(bool whole) {
    const int lo = s.between(0, 2) - 2, hi = lo + s.between(0, 4), across = s.between(0, 2) - 1;
    const int step = s.one_in(10) ? 2 : 1, form = s.between(0, 4);
    const bool both = s.one_in(6);
    static constexpr const char* forms[] = {"ends", "sum", "choice at borders", "choice of rows", "ends and a column"};
    made_.text += "  rows " + std::to_string(step) + " i + [" + std::to_string(lo) + ", " + std::to_string(hi) +
                  "], column j + " + std::to_string(across) + ", " + forms[form] +
                  (both && form != 1 ? ", and the one before\n" : "\n");
    if (form == 1)
      return stage(whole, [&](Var i, Var j) {
        const Axis r{"r", hi - lo + 1};
        return sum(now_(i * step + lo + r, j + across), r);
      });
    return stage(whole, [&](Var i, Var j) {
      const Expr first = now_(i * step + lo, j), last = now_(i * step + hi, j + across);
      Expr e = first * 2 + last;
      if (form == 2)  // two conditions on one index
        e = select(i < 1, first, select(i > 5, last, first - last));
      else if (form == 3)
        e = select(i % 2 == 0, first, last);
      else if (form == 4)
        e = e - now_(i * step, j - across);
      return both ? e - before_(i, j) : e;
    });
  }

  Source& s;
  Made made_;
  Type type_ = f32;
  Extent rows_ = 0, columns_ = 0;
  bool every_ = false;  // every stage is of the input's size, and repeated at its borders; else only the input is
  Tensor now_, before_;
};

// A refused step leaves the schedule as it is; the ones after it are tried all the same.
template <class F>
bool taken(F&& step) {
  try {
    step();
    return true;
  } catch (const RefusalError&) { return false; }
}

class Slider {
 public:
  Slider(Source& source, Schedule& schedule, const Made& made) : s(source), schedule_(schedule), made_(made) {}

  void write() {
    static constexpr Tail tails[] = {Tail::guard, Tail::guard, Tail::shift, Tail::exact, Tail::peel, Tail::predicate};
    const Stage out = schedule_[made_.chain.back()];
    auto [y, x] = out.spatial<2>();
    std::optional<Loop> along = y, outside;
    Loop lanes = x;
    const int rows = s.between(1, 9), columns = s.between(1, 9);
    const Tail tail = tails[s.pick(6)];
    const int form = s.between(0, 3);  // unsplit, split, split and tight, a tile of rows and columns
    if (form == 1 || form == 2)
      taken([&] {
        const Split split = out.split(y, rows, tail);
        outside = split.outer, along = split.inner;
        if (form == 2) out.tighten(split.inner);
      });
    else if (form == 3)
      taken([&] {
        const Tiles tile = out.tile(y, x, rows, columns, tail);
        outside = s.one_in(2) ? tile.outer_i : tile.outer_j;
        along = tile.inner_i, lanes = tile.inner_j;
      });
    if (outside && s.one_in(3)) taken([&] { out.parallel(*outside); });
    for (std::size_t k = made_.chain.size() - 1; k-- > 0;) place(schedule_[made_.chain[k]], *along, outside);
    if (s.one_in(3)) taken([&] { out.vectorize(lanes, 4); });
  }

 private:
  void place(const Stage& stage, const Loop& along, const std::optional<Loop>& outside) {
    static constexpr int rings[] = {1, 2, 3, 4, 5, 6, 8, 16};
    const std::uint32_t what = s.pick(12);
    if (what == 11) return;
    if (what == 10) {
      taken([&] { stage.inline_(); });
      return;
    }
    if (!taken([&] { stage.compute_at(along); })) return;
    if (outside && s.one_in(2)) taken([&] { stage.store_at(*outside); });
    if (what != 9) taken([&] { stage.slide(along); });
    if (!s.one_in(3)) taken([&] { stage.fold(0, rings[s.pick(8)]); });
    if (s.one_in(4)) taken([&] { stage.vectorize(stage.spatial<2>()[1], 4); });
  }

  Source& s;
  Schedule& schedule_;
  const Made& made_;
};

}  // namespace

Made make_chain_of_windows(Source& source) { return Maker(source).make(); }

std::vector<schedule::Step> sliding_steps(Source& source, const Made& made, const Target& target) {
  if (made.chain.empty()) return {};
  Schedule s(made.built, target);
  Slider(source, s, made).write();
  return s.scheduled().trace;
}

}  // namespace fuzz
