// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Views of arrays: lets C++ code pass its own containers to kernels. The header that the generator writes with -e cpp includes
// this file (C++17).
//
//   float a[4][8];
//   std::vector<float> b(8), y(4);
//   mine::row_norm(a, b, y);                  throws an ashlar::views::Error with the runtime's message, if refused
//   if (auto done = mine::row_norm(std::nothrow, a, b, y); !done) std::puts(done.text().c_str());
//   ashlar::views::View<float, 2> v(data, {4, 8}, {16, 1});       4 rows of 8 elements, 16 apart
//
// C arrays, anything with data() and size() (std::vector, std::array, std::span), std::mdspan, and the matrices and maps of
// Eigen convert to a View. For a type of your own, specialize AsView.
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <ashlar/runtime/runtime.h>

namespace ashlar::views {

template <class A, class = void>
struct AsView;  // static View<element, rank> of(A&)

template <class A>
using Plain = std::remove_cv_t<std::remove_reference_t<A>>;

// A pointer with extents and strides; strides count elements. T is const for inputs of a kernel.
template <class T, std::size_t Rank>
struct View {
  using Extents = std::array<std::int64_t, Rank>;
  T* data = nullptr;
  Extents shape{}, strides{};

  View() = default;
  View(T* data_, const Extents& shape_, const Extents& strides_) : data(data_), shape(shape_), strides(strides_) {}
  View(T* data_, const Extents& shape_) : data(data_), shape(shape_) {  // dense, row-major
    std::int64_t stride = 1;
    for (std::size_t d = Rank; d-- > 0; stride *= shape[d]) strides[d] = stride;
  }
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T> && !std::is_const_v<U>>>
  View(const View<U, Rank>& v) : data(v.data), shape(v.shape), strides(v.strides) {}
  template <class A, class V = decltype(AsView<Plain<A>>::of(std::declval<A&>())),
            class = std::enable_if_t<std::is_convertible_v<V, View>>>
  View(A&& a) : View(static_cast<View>(AsView<Plain<A>>::of(a))) {}

  ashlar_tensor tensor(int type) const {  // valid as long as this view
    ashlar_tensor t = ashlar_dense(data, type, static_cast<int32_t>(Rank), shape.data());
    t.strides = const_cast<std::int64_t*>(strides.data());
    return t;
  }
};

// ---- types that convert to a View -----------------------------------------------------------------------------------------
template <class E, std::size_t N>
struct AsView<E[N]> {  // C arrays of any rank
  template <class A, std::size_t... D>
  static auto over(A& a, std::index_sequence<D...>) {
    using T = std::remove_pointer_t<decltype(first(a))>;
    return View<T, sizeof...(D)>(first(a), {static_cast<std::int64_t>(std::extent_v<A, D>)...});
  }
  template <class A>
  static auto of(A& a) {
    return over(a, std::make_index_sequence<std::rank_v<A>>());
  }

 private:
  template <class A>
  static auto first(A& a) {
    if constexpr (std::is_array_v<std::remove_reference_t<decltype(a[0])>>)
      return first(a[0]);
    else
      return &a[0];
  }
};

template <class A, class = void>
struct HasRows : std::false_type {};
template <class A>
struct HasRows<A, std::void_t<decltype(std::declval<A&>().rows())>> : std::true_type {};

template <class A>
struct AsView<A, std::enable_if_t<!HasRows<A>::value,
                                  std::void_t<decltype(std::declval<A&>().data()), decltype(std::declval<A&>().size())>>> {
  template <class R>  // std::vector, std::array, std::span; not std::valarray, which has no data()
  static auto of(R& a) {
    using T = std::remove_pointer_t<decltype(a.data())>;
    return View<T, 1>(a.data(), {static_cast<std::int64_t>(a.size())});
  }
};

template <class A>
struct AsView<
    A, std::void_t<decltype(std::declval<A&>().data_handle()), decltype(std::declval<A&>().stride(0)), decltype(A::rank())>> {
  template <class M>  // std::mdspan and types like it
  static auto of(M& a) {
    using T = std::remove_pointer_t<decltype(a.data_handle())>;
    View<T, A::rank()> v;
    v.data = a.data_handle();
    for (std::size_t d = 0; d < A::rank(); ++d)
      v.shape[d] = static_cast<std::int64_t>(a.extent(d)), v.strides[d] = static_cast<std::int64_t>(a.stride(d));
    return v;
  }
};

template <class A>
struct AsView<
    A, std::void_t<decltype(std::declval<A&>().data()), decltype(std::declval<A&>().outerStride()), decltype(A::IsRowMajor)>> {
  template <class M>  // Eigen's matrices, vectors, maps and blocks of them
  static auto of(M& a) {
    using T = std::remove_pointer_t<decltype(a.data())>;
    const std::int64_t inner = a.innerStride(), outer = a.outerStride(), rows = a.rows(), columns = a.cols();
    if constexpr (bool(A::IsVectorAtCompileTime))
      return View<T, 1>(a.data(), {rows * columns}, {inner});
    else
      return View<T, 2>(a.data(), {rows, columns}, {A::IsRowMajor ? outer : inner, A::IsRowMajor ? inner : outer});
  }
};

// ---- results of a call --------------------------------------------------------------------------------------------------
class Error : public std::runtime_error {
 public:
  Error(const std::string& text, const ashlar_error& record) : std::runtime_error(text), record_(record) {}
  int code() const { return record_.code; }  // ASHLAR_E_SHAPE
  const ashlar_error& record() const { return record_; }

 private:
  ashlar_error record_;
};

class [[nodiscard]] Result {
 public:
  Result(int code, const ashlar_error& record) : code_(code), record_(record) {}
  explicit operator bool() const { return code_ == ASHLAR_OK; }
  int code() const { return code_; }
  const ashlar_error& record() const { return record_; }
  std::string text() const {  // empty after a success
    if (code_ == ASHLAR_OK) return {};
    std::string s(ashlar_error_text(&record_, nullptr, 0), '\0');
    if (!s.empty()) ashlar_error_text(&record_, s.data(), s.size() + 1);
    return s;
  }
  void or_throw() const {
    if (code_ != ASHLAR_OK) throw Error(text(), record_);
  }

 private:
  int code_;
  ashlar_error record_;
};

// Calls an entry with a context that receives the error: the caller's, or one with the default pool and allocator.
template <class F>
Result called(const ashlar_context* given, F&& entry) {
  ashlar_error record{};
  ashlar_context context{};
  if (given != nullptr)
    context = *given;
  else
    ashlar_default_context(&context);
  context.error = &record;
  const int code = entry(&context);
  return Result(code, record);
}

}  // namespace ashlar::views
