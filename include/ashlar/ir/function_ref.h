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
  FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(__builtin_addressof(f)))), call_([](void* object, A... a) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(static_cast<A&&>(a)...);
        }) {}
  R operator()(A... a) const { return call_(object_, static_cast<A&&>(a)...); }

 private:
  void* object_;
  R (*call_)(void*, A...);
};

}  // namespace ashlar::ir
