#pragma once
// What fragments of docs/schedules.md take for granted: tensors, stages and loops that stand there already.
#include <ashlar/instructions/x86.h>
#include <ashlar/schedule/schedule.h>

namespace schedules_page {
struct LoopOrTensor : ashlar::Tensor {  // y: an image in one fragment, its rows in another
  operator ashlar::Loop() const { return {}; }
};
}  // namespace schedules_page
static const ashlar::Scope spad{"spad"}, accumulators{"accumulators"};

#define FRAGMENT(NAME)                                                                                                       \
  [[maybe_unused]] static void NAME(Schedule& s, const Tensor& A, const Tensor& B, const Tensor& C, const Tensor& K,         \
                                    const Tensor& d, const Tensor& o, const Tensor& out, const Tensor& top,                  \
                                    const Tensor& total, const Tensor& e, const Tensor& weighted, const Tensor& product,     \
                                    const Tensor& counts, const Tensor& grad, const Tensor& scores,                          \
                                    const schedules_page::LoopOrTensor& y, const Stage& acc, Loop i, Loop j, Loop b, Loop x, \
                                    Loop jo, Loop yo, Loop ko, Loop kk, Loop ai, Loop ci, Loop tile, Loop warp,              \
                                    const Stage& a_shared, const Symbol& M, const Symbol& N, const Symbol& W) {
