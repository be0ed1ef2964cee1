// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The kinds of parameters that operators share: types, shapes, lists of numbers, paddings, layouts of images. Each is a Param:
// --help shows it with what it may be, and a value that it may not be is refused with that.
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ashlar/ashlar.h>
#include <ashlar/ops/conv.h>
#include <ashlar/ops/shape.h>

template <>
struct ashlar::ParamNames<ashlar::ops::PadMode> {
  static constexpr NamedValue<ops::PadMode> values[] = {{"constant", ops::PadMode::constant},
                                                        {"edge", ops::PadMode::edge},
                                                        {"reflect", ops::PadMode::reflect},
                                                        {"symmetric", ops::PadMode::symmetric},
                                                        {"wrap", ops::PadMode::wrap}};
};

namespace ashlar::generators {

// ---- type=f16 --------------------------------------------------------------------------------------------------------------

enum class Kind { floats, numbers, integers, booleans, any };
Param<Type> type_param(Kind, const char* name = "type", const char* doc = "type of the elements");
const char* text(Kind);  // "floating types"
bool takes(Kind, Type);

// ---- shape=M,N N=1024 ------------------------------------------------------------------------------------------------------

// Shapes are lists of extents: numbers, and names that begin with a capital letter. A name is an extent parameter of its own,
// dynamic unless it is given a number, and stands for one extent in all shapes of the operator. An extent may be
// a product: shape=B*T,4,D.
class Extents {
 public:
  explicit Extents(Symbol::Facts facts = {}) : facts_(facts) {}  // of all extents
  void without_facts() { facts_ = {}; }                          // those that are named first from here on
  // The parameter `param`. Refused: a rank outside of the two.
  std::vector<Extent> shape(const char* param, const char* fallback, const char* doc, int least_rank = 0,
                            int most_rank = max_rank);
  // The same in two steps, for operators that know more of the extent along an axis: the parameter as it is written, and the
  // shape that it is. A number breaks no fact unseen: the operator looks at it. No products: their facts are their factors'.
  std::vector<std::string> list(const char* param, const char* fallback, const char* doc, int least_rank, int most_rank);
  std::vector<Extent> shape(const std::vector<std::string>& list, std::size_t axis, Symbol::Facts of_axis);
  Expr operator[](const std::string& name);
  const std::string& written(const std::string& param) const { return written_.at(param); }  // "M,N"

 private:
  Expr named(const std::string& name, const Symbol::Facts&);
  std::vector<std::string> words(const char* param, const char* fallback, const char* doc, int least_rank, int most_rank,
                                 bool products);
  Symbol::Facts facts_;
  std::map<std::string, std::string> written_;  // by parameter
  std::map<std::string, std::unique_ptr<ExtentParam>> named_;
};

// ---- stride=2,1 ------------------------------------------------------------------------------------------------------------

// `count` numbers of at least `least`, or one for all of them.
class NumbersParam {
 public:
  NumbersParam(const char* name, int count, int fallback, int least, const char* doc);
  int operator[](std::size_t k) const { return values_[k]; }
  template <std::size_t N>
  std::array<int, N> of() const {
    std::array<int, N> all{};
    for (std::size_t k = 0; k < N; ++k) all[k] = values_.at(k);
    return all;
  }

 private:
  std::vector<int> values_;
};

// down=1,2,1; an odd number of numbers.
class WeightsParam {
 public:
  WeightsParam(const char* name, const char* fallback, const char* doc);
  const std::vector<double>& operator*() const { return values_; }

 private:
  std::vector<double> values_;
};

// axes=0,2; all of them is "all", an empty list.
class AxesParam {
 public:
  AxesParam(const char* name, const char* fallback, int rank, const char* doc);
  const std::vector<int>& operator*() const { return values_; }

 private:
  std::vector<int> values_;
};

// An axis of a tensor of the rank, from the back where negative.
Param<int> axis_param(int rank, int fallback = -1, const char* name = "axis");

// ---- padding=1  padding=0:1,2  padding=same --------------------------------------------------------------------------------
// For each dimension of an image both sides alike, or BEFORE:AFTER; one for all dimensions; or `same`, of a stride of 1 the
// extents of the image.
class PaddingParam {
 public:
  explicit PaddingParam(int count, const char* fallback = "0", bool same = true);
  const ops::Pad& operator[](std::size_t d) const { return values_.at(d); }  // where `same` is not among the values
  // window and dilation: what `same` goes by
  template <std::size_t N>
  std::array<ops::Pad, N> of(const std::array<int, N>& window, const std::array<int, N>& dilation) const {
    std::array<ops::Pad, N> all{};
    for (std::size_t k = 0; k < N; ++k) all[k] = same_ ? ops::Pad::same(window[k], dilation[k]) : values_.at(k);
    return all;
  }

 private:
  bool same_ = false;
  std::vector<ops::Pad> values_;
};

// ---- layout=nhwc -----------------------------------------------------------------------------------------------------------

// Of images of 1 to 3 dimensions: ncw, nwc, ncw16c; nchw, nhwc, nchw16c; ncdhw, ndhwc, ncdhw16c. Blocks are of 4, 8, 16 or 32.
class LayoutParam {
 public:
  explicit LayoutParam(int dimensions, bool blocked = true);
  ops::Layout operator*() const { return layout_; }
  bool blocked() const { return block_ > 0; }
  int block() const { return block_; }
  // The dimensions of an image in this layout that hold its channels.
  std::vector<int> channels() const;

 private:
  int dimensions_;
  ops::Layout layout_ = ops::Layout::channels_first;
  int block_ = 0;
};

// What stands between the separators, all of it: split("a,,b", ',') is a, "", b.
std::vector<std::string> split(const std::string&, char separator);

}  // namespace ashlar::generators
