#pragma once
// The entry of plain loops: pointers to the inputs, the outputs and the sizes, in the order in which the program declares them.
//
//   PLAIN(a) {
//     const std::int64_t rows = a.size(0), columns = a.size(1);
//     const float* __restrict x = a.in<float>(0);
//     float* __restrict y = a.out<float>(0);
//     …
//   }
#include <cstdint>

namespace plain {

struct Arguments {
  const void* const* inputs;
  void* const* outputs;
  const std::int64_t* sizes;

  std::int64_t size(int k) const { return sizes[k]; }
  template <class T>
  const T* in(int k) const {
    return static_cast<const T*>(inputs[k]);
  }
  template <class T>
  T* out(int k) const {
    return static_cast<T*>(outputs[k]);
  }
};

using Function = void (*)(const Arguments&);

}  // namespace plain

#define PLAIN(arguments) extern "C" void PLAIN_ENTRY(const plain::Arguments& arguments)
