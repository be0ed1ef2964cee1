// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The type section. Its layouts changed with versions: since 13.3 a bit field of what is optional stands first in views with
// padding, since 13.4 in pointers and tensor views too.
#include <algorithm>
#include <map>

#include "tests/tileir/executor/image.h"

namespace ashlar::tileir {

namespace {

constexpr u64 kMostElements = u64(1) << 24;  // of a tile; tileiras takes fewer

std::string list(const std::vector<i64>& v, const char* between) {
  std::string s;
  for (std::size_t n = 0; n < v.size(); ++n) s += (n > 0 ? between : "") + (v[n] == kDynamic ? "?" : std::to_string(v[n]));
  return s;
}

std::string padding_text(Padding p) {
  static const char* const names[] = {"zero", "neg_zero", "nan", "pos_inf", "neg_inf"};
  return p == Padding::kNone ? "" : std::string("padding_value = ") + names[static_cast<int>(p)] + ", ";
}

std::string text_of(const Type& t) {
  switch (t.kind) {
    case Kind::kPointer:
      return "ptr<" + t.of->text + ">";
    case Kind::kTile:
      return "tile<" + list(t.shape, "x") + (t.shape.empty() ? "" : "x") + t.of->text + ">";
    case Kind::kTensorView:
      return "tensor_view<" + list(t.shape, "x") + (t.shape.empty() ? "" : "x") + t.of->text +
             (t.strides.empty() ? "" : ", strides=[" + list(t.strides, ",") + "]") + ">";
    case Kind::kPartitionView:
    case Kind::kStridedView: {
      std::string s = t.kind == Kind::kStridedView ? "strided_view<" : "partition_view<";
      s += "tile=(" + list(t.shape, "x") + "), ";
      if (t.kind == Kind::kStridedView) s += "traversal_strides=[" + list(t.strides, ",") + "], ";
      return s + padding_text(t.padding) + t.of->text + ", dim_map=[" + list(t.dim_map, ", ") + "]>";
    }
    case Kind::kGatherScatterView:
      return "gather_scatter_view<tile=(" + list(t.shape, "x") + "), " + padding_text(t.padding) + t.of->text +
             ", sparse_dim=" + std::to_string(t.sparse_dim) + ">";
    case Kind::kFunction: {
      std::string s = "(";
      for (const Type* p : t.parameters) s += (s.size() > 1 ? ", " : "") + p->text;
      s += ") -> (";
      for (std::size_t n = 0; n < t.results.size(); ++n) s += (n > 0 ? ", " : "") + t.results[n]->text;
      return s + ")";
    }
    default:
      return std::string(name_of(t.kind));
  }
}

class Reader {
 public:
  Reader(Image& image, Cursor section) : image_(image) {
    const u64 count = section.count("the number of types", 4);
    if (count > 0) section.pad(4);
    std::vector<u64> starts;
    for (u64 n = 0; n < count; ++n) starts.push_back(section.little(4, "the offset of a type"));
    const u64 size = section.left();
    for (u64 n = 0; n < count; ++n) {
      const u64 end = n + 1 < count ? starts[n + 1] : size;
      if (starts[n] > end || end > size)
        section.fail("type " + std::to_string(n) + " lies from " + std::to_string(starts[n]) + " to " + std::to_string(end) +
                     " of " + std::to_string(size) + " bytes");
      Cursor c = section;
      c.part(starts[n], "types");
      data_.push_back(c.part(end - starts[n], "a type"));
    }
    read_.resize(count, nullptr);
    busy_.resize(count, false);
  }

  std::vector<const Type*> all() {
    for (u64 n = 0; n < read_.size(); ++n) get(n, data_[n]);
    return read_;
  }

 private:
  const Type* get(u64 n, const Cursor& from) {
    if (n >= data_.size()) from.fail("there is no type " + std::to_string(n) + " of " + std::to_string(data_.size()));
    if (read_[n] != nullptr) return read_[n];
    if (busy_[n]) from.fail("type " + std::to_string(n) + " consists of itself");
    if (++depth_ > 16) from.fail("types are nested more than 16 deep");
    busy_[n] = true;
    Cursor c = data_[n];
    Type t = parse(c);
    if (!c.done()) c.fail("type " + std::to_string(n) + " has " + std::to_string(c.left()) + " bytes more than it takes");
    busy_[n] = false;
    --depth_;
    return read_[n] = intern(image_, std::move(t));
  }

  const Type* type(Cursor& c, const char* what) {
    const Cursor at = c;
    return get(c.varint(what), at);
  }

  std::vector<i64> ints(Cursor& c, int bytes, const char* what) {
    const u64 n = c.count(what, static_cast<std::size_t>(bytes));
    if (n > 16) c.fail(std::string(what) + ": more than 16 dimensions");
    std::vector<i64> v;
    for (u64 k = 0; k < n; ++k) v.push_back(signed_of(c.little(bytes, what), bytes * 8));
    return v;
  }

  bool since(int minor) const { return image_.version.minor >= minor; }

  Padding padding(Cursor& c) {
    const u64 p = c.byte("a padding value");
    if (p > 4) c.fail("there is no padding value " + std::to_string(p), c.at() - 1);
    return static_cast<Padding>(p);
  }

  static void tile_shape(const Cursor& c, const std::vector<i64>& shape) {
    u64 n = 1;
    for (const i64 d : shape) {
      if (d < 1 || (d & (d - 1)) != 0) c.fail("an extent of a tile is " + std::to_string(d) + ", which is no power of two");
      n *= static_cast<u64>(std::min<i64>(d, i64(1) << 25));
      if (n > kMostElements) c.fail("a tile of more than 2^24 elements");
    }
  }

  Type parse(Cursor& c) {
    const u64 tag = c.varint("the tag of a type");
    static const std::map<u64, std::pair<Kind, int>> simple = {
        {0, {Kind::kI1, 1}},    {1, {Kind::kI8, 1}},    {2, {Kind::kI16, 1}},    {3, {Kind::kI32, 1}},   {4, {Kind::kI64, 1}},
        {5, {Kind::kF16, 1}},   {6, {Kind::kBf16, 1}},  {7, {Kind::kF32, 1}},    {8, {Kind::kTf32, 1}},  {9, {Kind::kF64, 1}},
        {10, {Kind::kE4m3, 1}}, {11, {Kind::kE5m2, 1}}, {17, {Kind::kToken, 1}}, {18, {Kind::kE8m0, 2}}, {19, {Kind::kE2m1, 3}},
        {22, {Kind::kI4, 3}},   {130, {Kind::kE5m3, 4}}};
    Type t;
    if (const auto at = simple.find(tag); at != simple.end()) {
      if (!since(at->second.second))
        c.fail(std::string(name_of(at->second.first)) + " came with version 13." + std::to_string(at->second.second));
      t.kind = at->second.first;
      return t;
    }
    if ((tag == 20 || tag == 21) && !since(3)) c.fail("gather, scatter and strided views came with version 13.3");
    switch (tag) {
      case 12:
        pointer(c, t);
        break;
      case 13:
        tile(c, t);
        break;
      case 14:
        tensor_view(c, t);
        break;
      case 15:
        t.kind = Kind::kPartitionView, view(c, t);
        break;
      case 16:
        function(c, t);
        break;
      case 20:
        t.kind = Kind::kGatherScatterView, view(c, t);
        break;
      case 21:
        t.kind = Kind::kStridedView, view(c, t);
        break;
      default:
        c.fail("there is no type with the tag " + std::to_string(tag));
    }
    return t;
  }

  u64 optional_bits(Cursor& c, int minor) {
    if (!since(minor)) return 0;
    const u64 bits = c.varint("the bits of what is optional");
    if (bits > 1) c.fail("bits of what is optional: " + std::to_string(bits));
    return bits;
  }
  void pointer_attribute(Cursor& c, u64 bits) {
    if ((bits & 1) != 0 && c.byte("a pointer's attribute") != 0) c.fail("there is no such attribute of a pointer", c.at() - 1);
  }

  void pointer(Cursor& c, Type& t) {
    const u64 bits = optional_bits(c, 4);
    t.kind = Kind::kPointer, t.of = type(c, "what a pointer points to");
    if (!is_integer(t.of->kind) && !is_float(t.of->kind)) c.fail("a pointer to " + t.of->text);
    pointer_attribute(c, bits);
  }
  void tile(Cursor& c, Type& t) {
    t.kind = Kind::kTile, t.of = type(c, "the element of a tile"), t.shape = ints(c, 8, "the shape of a tile");
    if (t.of->kind > Kind::kPointer) c.fail("a tile of " + t.of->text);
    tile_shape(c, t.shape);
  }
  void tensor_view(Cursor& c, Type& t) {
    const u64 bits = optional_bits(c, 4);
    t.kind = Kind::kTensorView, t.of = type(c, "the element of a tensor view");
    if (t.of->kind >= Kind::kPointer) c.fail("a tensor view of " + t.of->text);
    t.shape = ints(c, 8, "the shape of a tensor view"), t.strides = ints(c, 8, "the strides of a tensor view");
    if (t.shape.size() != t.strides.size())
      c.fail("a tensor view of " + std::to_string(t.shape.size()) + " extents and " + std::to_string(t.strides.size()) +
             " strides");
    for (const i64 d : t.shape)
      if (d != kDynamic && d < 0) c.fail("a tensor view with the extent " + std::to_string(d));
    pointer_attribute(c, bits);
  }
  void view(Cursor& c, Type& t) {
    const u64 bits = optional_bits(c, 3);
    t.shape = ints(c, 4, "the tile of a view");
    if (t.kind == Kind::kStridedView) t.strides = ints(c, 4, "the strides between tiles");
    t.of = type(c, "the tensor view of a view");
    if (t.of->kind != Kind::kTensorView) c.fail("a view of " + t.of->text);
    const std::size_t rank = t.of->shape.size();
    if (t.kind == Kind::kGatherScatterView) {
      t.sparse_dim = static_cast<i64>(c.varint("the sparse dimension"));
      if (t.sparse_dim < 0 || static_cast<u64>(t.sparse_dim) >= rank)
        c.fail("there is no dimension " + std::to_string(t.sparse_dim));
    } else {
      t.dim_map = ints(c, 4, "the dimensions of a view");
    }
    const bool padded = since(3) ? (bits & 1) != 0 : c.byte("whether there is padding") != 0;
    if (padded) t.padding = padding(c);
    tile_shape(c, t.shape);
    if (t.shape.size() != rank)
      c.fail("a view with a tile of " + std::to_string(t.shape.size()) + " dimensions on a tensor of " + std::to_string(rank));
    if (padded && t.padding != Padding::kZero && !is_float(t.of->element())) c.fail("padding of integers that is not zero");
    if (t.kind == Kind::kGatherScatterView) return;
    if (t.kind == Kind::kStridedView && (t.strides.size() != rank || *std::min_element(t.strides.begin(), t.strides.end()) < 1))
      c.fail("strides between tiles: expected " + std::to_string(rank) + " positive numbers");
    std::vector<i64> sorted = t.dim_map;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t n = 0; n < rank; ++n)
      if (sorted.size() != rank || sorted[n] != static_cast<i64>(n)) c.fail("the dimensions of a view are no permutation");
  }
  void function(Cursor& c, Type& t) {
    t.kind = Kind::kFunction;
    for (auto* v : {&t.parameters, &t.results}) {
      const u64 n = c.count("the number of a function's types");
      for (u64 k = 0; k < n; ++k) v->push_back(type(c, "a function's type"));
    }
  }

  Image& image_;
  std::vector<Cursor> data_;
  std::vector<const Type*> read_;
  std::vector<bool> busy_;
  int depth_ = 0;
};

}  // namespace

i64 Type::elements() const {
  i64 n = 1;
  for (const i64 d : shape) n *= d;
  return n;
}

const Type* intern(Image& image, Type t) {
  t.text = text_of(t);
  for (const auto& known : image.owned)
    if (known->kind == t.kind && known->text == t.text) return known.get();
  image.owned.push_back(std::make_unique<Type>(std::move(t)));
  return image.owned.back().get();
}

std::vector<const Type*> read_types(Image& image, Cursor section) { return Reader(image, section).all(); }

}  // namespace ashlar::tileir
