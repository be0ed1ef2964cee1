// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <concepts>

namespace ashlar::schedule {

template <class T>
class Must {  // a member of a record that is not left out
 public:
  template <class U>
    requires std::convertible_to<U, T>
  constexpr Must(U value) : value_(value) {}
  constexpr operator T() const { return value_; }

 private:
  T value_;
};

}  // namespace ashlar::schedule
