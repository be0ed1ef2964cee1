// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A reference to something callable, for parameters that are called before the function returns: std::function_ref of C++26.
#include <type_traits>

namespace ashlar::ir {

template <class Signature>
class FunctionRef;

template <class R, class... A>
class FunctionRef<R(A...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, A...>)
  FunctionRef(F&& f) {
    using Callee = std::remove_reference_t<F>;
    if constexpr (std::is_function_v<Callee>)
      callee_ = reinterpret_cast<void*>(&f);
    else
      callee_ = const_cast<void*>(static_cast<const void*>(__builtin_addressof(f)));
    call_ = [](void* callee, A... a) -> R {
      if constexpr (std::is_function_v<Callee>)
        return reinterpret_cast<Callee*>(callee)(static_cast<A&&>(a)...);
      else
        return (*static_cast<Callee*>(callee))(static_cast<A&&>(a)...);
    };
  }
  R operator()(A... a) const { return call_(callee_, static_cast<A&&>(a)...); }

 private:
  void* callee_;
  R (*call_)(void*, A...);
};

}  // namespace ashlar::ir
