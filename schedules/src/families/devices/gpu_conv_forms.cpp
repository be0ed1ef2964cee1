// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which stages are convolutions as ashlar/ops/conv.h writes them: the sum over channels and a window of
// x[n, c, p stride + r dilation] w[o, c, r], where p and r are points of one to three dimensions. With groups, the channel of x
// is o / results * channels + c.
#include <algorithm>
#include <array>

#include "schedules/src/families/devices/gpu_conv_tensor.h"
#include "schedules/src/reading.h"

namespace ashlar::schedules::detail {

namespace {

constexpr double cheap = 16;  // operations of an image element that each tile may recompute

const Expr* loaded(const Expr& e) {
  if (ir::is(e, ir::Op::load)) return &e;
  return ir::is(e, ir::Op::cast) ? loaded(ir::args_of(e)[0]) : nullptr;
}

std::optional<std::size_t> place(const std::vector<ir::IterVar>& all, const Expr& e) {
  for (std::size_t k = 0; ir::is(e, ir::Op::var) && k < all.size(); ++k)
    if (all[k].id == e.node()->id) return k;
  return std::nullopt;
}

class Finder {
 public:
  Finder(const ir::Program& program, const ir::Stage& stage)
      : p(program), sum(stage), dims(spatial_of(stage)), terms(reduce_of(stage)) {}

  std::optional<TensorConv> find() {
    if (sum.reducer.kind != ir::ReducerKind::sum || sum.scatters() || sum.is_recurrence() || sum.values.size() != 1 ||
        !sum.domain.empty() || dims.size() < 3 || dims.size() > 5 || terms.size() + 1 != dims.size() ||
        !ir::is(sum.values.front(), ir::Op::mul) || !(sum.values.front().type() == f32))
      return {};
    const Expr *x = loaded(ir::args_of(sum.values.front())[0]), *w = loaded(ir::args_of(sum.values.front())[1]);
    if (!x || !w || !(x->type() == f16 || x->type() == bf16) || !(w->type() == x->type())) return {};
    const auto at_x = ir::args_of(*x), at_w = ir::args_of(*w);
    if (at_x.size() != dims.size() || at_w.size() != dims.size()) return {};
    for (const bool last : {true, false})
      if (lies(at_x, at_w, last)) {
        c.x = x->node()->id, c.w = w->node()->id, c.channels_last = last;
        c.rim = rim(c.x);
        return c;
      }
    return {};
  }

 private:
  bool lies(std::span<const Expr> at_x, std::span<const Expr> at_w, bool last) {
    c = {};
    const std::size_t rank = dims.size() - 2, image = last ? 1 : 2, window = last ? 0 : 2;
    const auto n = place(dims, at_x[0]), o = place(dims, at_w[last ? rank + 1 : 0]),
               channel = place(terms, at_w[last ? rank : 1]);
    if (!n || !o || !channel || !channels(at_x[last ? rank + 1 : 1], *o, *channel)) return false;
    c.n = *n, c.o = *o, c.c = *channel;
    for (std::size_t d = 0; d < rank; ++d) {
      const auto tap = place(terms, at_w[window + d]);
      const Index i = index_of(at_x[image + d], sum);
      if (!tap || i.bent || i.symbolic || i.from_data || i.constant != 0 || i.coefficients.size() != 2) return false;
      std::optional<std::size_t> point;
      std::int64_t stride = 0, dilation = 0;
      for (const auto& [v, k] : i.coefficients) {
        if (v == terms[*tap].id) dilation = k;
        for (std::size_t q = 0; q < dims.size(); ++q)
          if (v == dims[q].id) point = q, stride = k;
      }
      if (!point || stride < 1 || dilation < 1) return false;
      c.image.push_back(*point), c.window.push_back(*tap), c.strides.push_back(stride), c.dilations.push_back(dilation);
    }
    std::vector<std::size_t> all{c.n, c.o};
    all.insert(all.end(), c.image.begin(), c.image.end());
    std::vector<std::size_t> all_terms{c.c};
    all_terms.insert(all_terms.end(), c.window.begin(), c.window.end());
    return apart(all) && apart(all_terms);
  }

  static bool apart(std::vector<std::size_t> all) {
    std::sort(all.begin(), all.end());
    return std::adjacent_find(all.begin(), all.end()) == all.end();
  }

  // c, or o / results * channels + c.
  bool channels(const Expr& e, std::size_t o, std::size_t channel) {
    if (place(terms, e) == channel) return true;
    if (!ir::is(e, ir::Op::add)) return false;
    for (const int side : {0, 1}) {
      const Expr &own = ir::args_of(e)[side], &group = ir::args_of(e)[1 - side];
      if (place(terms, own) != channel) continue;
      const Expr number = ir::is(group, ir::Op::mul) ? ir::args_of(group)[0] : group;
      const bool steps = !ir::is(group, ir::Op::mul) || ir::is_int(ir::args_of(group)[1]);
      if (steps && ir::is(number, ir::Op::div) && place(dims, ir::args_of(number)[0]) == o &&
          ir::is_int(ir::args_of(number)[1], &c.results_of_group))
        return c.results_of_group > 0;
    }
    return false;
  }

  ir::Id rim(ir::Id image) const {
    const ir::Id made = p.buffer(image).stage;
    if (!made) return 0;
    const ir::Stage& s = p.stage(made);
    const bool plain = !s.is_reduction() && !s.scatters() && !s.is_recurrence() && s.values.size() == 1;
    return plain && cost_of(s) <= cheap && readers_of(p, s) == std::vector<ir::Id>{sum.id} && !is_output(p, s) ? made : 0;
  }

  const ir::Program& p;
  const ir::Stage& sum;
  const std::vector<ir::IterVar> dims, terms;
  TensorConv c;
};

}  // namespace

std::optional<TensorConv> tensor_conv(const ir::Program& p, const ir::Stage& sum) { return Finder(p, sum).find(); }

}  // namespace ashlar::schedules::detail
