#pragma once
// Attention of the bench, by the library and its family of schedules.
#include <ashlar/generator/generator.h>
#include <ashlar/ops.h>
#include <ashlar/schedules/attention.h>

namespace kernels {

using namespace ashlar;

class Attention : public Generator {
 public:
  Param<int> head{"head", 64, between(1, 1024), "numbers in a query, key and value"};
  Param<int> tile_i{"tile_i", 0, between(0, 64), "queries in a register tile; 0: as many as the file holds"};
  Param<int> queries{"queries", 0, between(0, 1024), "of each head; 0: as many as a call has"};
  Symbol H{"H"}, M{"M"}, N{"N", {.min = 1}};
  Extent rows = queries > 0 ? Extent(*queries) : Extent(M);
  Input q{"q", f32, {1, H, rows, *head}}, k{"k", f32, {1, H, N, *head}}, v{"v", f32, {1, H, N, *head}};
  Output y{"y", f32, {1, H, rows, *head}};
  ops::Attention a;

  void algorithm() override {
    a = ops::attention(q, k, v);
    y = a.result;
  }
  void schedule(Schedule& s) override { schedules::attention(s, a, q, k, v, {.tile_i = tile_i}); }
};

}  // namespace kernels
