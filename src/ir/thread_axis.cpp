// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/thread_axis.h>

#include <cstring>

#include <ashlar/ir/refusal.h>

namespace ashlar::ir {
namespace {

struct Name {
  ThreadAxis axis;
  const char* text;
};
constexpr Name axis_names[] = {
    {gpu::block_x, "block_x"},   {gpu::block_y, "block_y"},     {gpu::block_z, "block_z"}, {gpu::thread_x, "thread_x"},
    {gpu::thread_y, "thread_y"}, {gpu::thread_z, "thread_z"},   {gpu::warp, "warp"},       {gpu::lane, "lane"},
    {gpu::threads, "threads"},   {gpu::cluster_x, "cluster_x"},
};

}  // namespace

const char* text(ThreadAxis a) {
  for (const Name& n : axis_names)
    if (n.axis == a) return n.text;
  throw InternalError("an axis of no hardware");
}

bool parse(const char* text, ThreadAxis& a) {
  for (const Name& n : axis_names)
    if (std::strcmp(n.text, text) == 0) {
      a = n.axis;
      return true;
    }
  return false;
}

}  // namespace ashlar::ir
