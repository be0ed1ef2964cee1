#pragma once
// What fragments of docs/generators.md, default.md and explain.md take for granted: a generator, a stage C and its loops.
#include <cstdio>

class Blur : public ashlar::Generator {
 public:
  ashlar::Param<int> strip{"strip", 32};
  ashlar::Input x{"x", ashlar::f32, {8}};
  ashlar::Output y{"y", ashlar::f32, {8}};
  void algorithm() override { y = x; }
};

#define MEMBERS(NAME) struct NAME : Generator
#define FRAGMENT(NAME) \
  [[maybe_unused]] static void NAME(Schedule& s, const Tensor& C, Loop i, Loop j, const ashlar_tensor& in, ashlar_tensor& out) {
