#pragma once
// Elementwise operators by their names, in front of an operator (prologue) or behind it (epilogue), in its accumulator's type:
//
//   epilogue=bias,gelu,residual       y = gelu(A B + bias) + residual
//   prologue=scale:0.125,abs          on x, as it is read
//
// A link is an elementwise operator of one operand (elementwise.cpp; its numbers may follow, leaky_relu:0.1), or, in an
// epilogue, one that takes an input of its own, named as the link is: `bias`, a number for each channel, and `residual`, `add`,
// `sub`, `mul`, `div`, `minimum`, `maximum`, of the shape of the result. The second of one name is bias2, and so on.
#include <string>
#include <vector>

#include "generators/op.h"
#include "generators/params.h"

namespace ashlar::generators {

struct Attribute {
  const char* name = nullptr;
  double fallback = 0;
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
  // x through the chain, in the type of x. `op` declares what inputs it takes, of the type `given`; a bias has the extents of x
  // in the dimensions `channels`. Rejected, by its name: a link that does not take the type of x.
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
  };
  Place place_;
  std::vector<Link> links_;
  std::string rejected_;  // what was expected in its place, said when it is applied
};

// An operator with chains.
class ChainedOp : public Op {
 protected:
  Tensor apply(const Chain&, const Tensor& x, const Chain::Inputs& = {});
  // What an operator made, `accumulated` in its accumulator, `result` in its own type: through the epilogue, then in that type.
  // The result itself where there is no epilogue.
  Tensor finish(const Chain& epilogue, const Tensor& accumulated, const Tensor& result, const Chain::Inputs&);
};

}  // namespace ashlar::generators
