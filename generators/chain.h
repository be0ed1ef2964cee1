// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elementwise operators by their names, in front of an operator (prologue) or behind it (epilogue), in its accumulator's type:
//
//   epilogue=bias,gelu,residual              y = gelu(A B + bias) + residual
//   epilogue=dequantize,bias,relu,quantize:u8    from sums of bytes by way of f32 to bytes
//   prologue=scale:0.125,abs                 on x (of products: A), as it is read
//
// A link is an elementwise operator of one operand (elementwise.cpp; its numbers may follow, leaky_relu:0.1), or, in an
// epilogue, one that takes an input of its own, named as the link is: `bias`, a number for each channel, and `residual`, `add`,
// `sub`, `mul`, `div`, `minimum`, `maximum`, of the shape of the result; or one that changes the type:
//
//   cast:f16         x in that type
//   dequantize       f32(x) scale, x of integers; an input scale, f32, a number for each channel
//   requantize:i8    saturate(round(x scale) + zero), x of i32; scale as above, and a Scalar zero, i32
//   quantize:i8      saturate(round(x / out_scale) + out_zero), x of floats; Scalars, f32 and i32
//
// Without one of these the result has the type of the operator's own, and inputs that of its operands; behind one both have the
// type that it makes. The second input of one name is bias2, and so on.
#include <string>
#include <vector>

#include "generators/op.h"
#include "generators/params.h"

namespace ashlar::generators {

struct Attribute {
  const char* name = nullptr;
  double fallback = 0;
  const char* doc = "";
};

// y(i) = f(x(i)) with up to two numbers.
struct UnaryRow {
  const char* name;
  const char* formula;
  Kind types;
  Tensor (*apply)(const Tensor& x, const double* attributes);
  Attribute attributes[2] = {};
  bool same_type = true;  // of x and y: what a chain is made of
};
const UnaryRow* find_unary(const std::string& name);  // null: none
std::vector<std::string> unary_names();               // of those that a chain may have

class Chain {
 public:
  enum class Place { prologue, epilogue };
  explicit Chain(Place);
  bool empty() const { return links_.empty(); }
  Place place() const { return place_; }
  // What the inputs are that links take: of the type `given`, until a link changes it; a bias has the extents of the result in
  // the dimensions `channels`.
  struct Inputs {
    Type given;
    std::vector<int> channels = {};
  };

 private:
  friend class ChainedOp;
  struct Link {
    std::string name;
    const UnaryRow* unary = nullptr;
    double attributes[2] = {};
    Type to = {};  // of a link that changes the type
  };
  std::string read(const std::string& word, Link*) const;
  bool changes_type() const;
  Place place_;
  std::vector<Link> links_;
  std::string rejected_;  // what was expected in its place, said when it is applied
};

// An operator with chains.
class ChainedOp : public Op {
 protected:
  // x through the chain. Rejected, by the chain's name: a link that does not take the type that it meets.
  Tensor apply(const Chain&, const Tensor& x, const Chain::Inputs& = {});
  // What an operator made, `accumulated` in its accumulator, `result` in its own type: through the epilogue, then in that type,
  // unless a link said another one. The result itself where there is no epilogue.
  Tensor finish(const Chain& epilogue, const Tensor& accumulated, const Tensor& result, const Chain::Inputs&);

 private:
  Tensor retyped(const Chain::Link&, const Tensor& x, const Chain::Inputs&);
};

}  // namespace ashlar::generators
