#include "steps.h"

#include <algorithm>

#include "described.h"
#include "schedule/primitives/primitives.h"

namespace fuzz {
namespace {

using namespace ashlar;
using schedule::Drawing;
using schedule::Primitive;

class FromSource final : public schedule::Draw {
 public:
  FromSource(Source& source, const Program& program) : Draw(program), source_(source) {}
  std::uint32_t pick(std::uint32_t n) override { return source_.pick(n); }
  const ir::Intrinsic* intrinsic_for(const Stmt& loop) override {
    const std::optional<Intrinsic> f = describe(source_, p, loop);  // which lives as long as the process
    return f ? &f->node() : nullptr;
  }

 private:
  Source& source_;
};

std::optional<Drawn> drawn(FromSource& d, const Primitive& primitive) {
  if (!static_cast<Drawing>(primitive.draw).draw(d) || d.steps.empty()) return std::nullopt;
  Drawn result{std::move(d.steps.front()), d.reassociates, {}};
  result.then.assign(std::make_move_iterator(d.steps.begin() + 1), std::make_move_iterator(d.steps.end()));
  return result;
}

}  // namespace

std::optional<Drawn> draw_variant(Source& s, const Program& p) {
  FromSource d(s, p);
  return drawn(d, *schedule::primitive_of("specialize"));
}

std::optional<Drawn> draw_named(Source& s, const Program& p, const Target& target, const char* primitive) {
  FromSource d(s, p);
  if (d.stages().empty()) return std::nullopt;
  d.warp = target.is_gpu() ? target.device().warp : 0;
  return drawn(d, *schedule::primitive_of(primitive));
}

std::optional<Drawn> draw_step(Source& s, const Program& p, const Target& target, bool launch) {
  FromSource d(s, p);
  if (d.stages().empty()) return std::nullopt;
  d.launch = launch;
  d.scalable = target.has("sve");
  d.warp = target.is_gpu() ? target.device().warp : 0;
  const auto weight = [&](const Drawing& drawing) { return launch ? drawing.in_launches : drawing.often; };
  std::uint32_t all = 0;
  for (const Primitive* primitive : schedule::primitives()) {
    const Drawing drawing = primitive->draw;
    if (weight(drawing) > 0 && drawing.likely && drawing.likely(d) && s.one_in(3)) return drawn(d, *primitive);
    all += static_cast<std::uint32_t>(weight(drawing));
  }
  const auto table = schedule::primitives();
  const auto first = std::find(table.begin(), table.end(), schedule::primitive_of("split"));  // the simplest choice
  std::uint32_t at = s.pick(all);
  for (std::size_t k = 0; k < table.size(); ++k) {
    const Primitive& primitive = *table[(k + static_cast<std::size_t>(first - table.begin())) % table.size()];
    const auto own = static_cast<std::uint32_t>(weight(primitive.draw));
    if (at < own) return drawn(d, primitive);
    at -= own;
  }
  throw InternalError("no primitive was drawn");
}

}  // namespace fuzz
