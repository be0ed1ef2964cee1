#pragma once
// Memory between two pages that nobody may touch, so that a read or write of one byte outside of it ends the program.
//
//   Fenced x(3 * sizeof(float), Fenced::at_end);      // x.data() + 12 is not readable
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace fenced {

class Fenced {
 public:
  enum Side { at_begin, at_end };  // which of the two pages it touches
  Fenced(std::size_t bytes, Side side) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    inside_ = (bytes / page_ + 1) * page_;
    void* const all = mmap(nullptr, inside_ + 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    pages_ = static_cast<std::byte*>(all);
    if (mprotect(pages_, page_, PROT_NONE) != 0 || mprotect(pages_ + page_ + inside_, page_, PROT_NONE) != 0)
      throw std::bad_alloc();
    data_ = side == at_begin ? pages_ + page_ : pages_ + page_ + inside_ - bytes;
  }
  ~Fenced() { munmap(pages_, inside_ + 2 * page_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::size_t page_, inside_ = 0;
  std::byte *pages_ = nullptr, *data_ = nullptr;
};

}  // namespace fenced
