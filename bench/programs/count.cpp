#include "bench/programs/count.h"

#include <ashlar/runtime/runtime.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <ashlar/schedules/by_default.h>

#include "bench/programs/run.h"

namespace {
const std::function<void()>* one_call = nullptr;
}
extern "C" __attribute__((noinline)) void ashlar_programs_one_call() {
  (*one_call)();
  asm volatile("");  // keeps the call from becoming a tail call, so that its instructions count toward this function
}

namespace bench::programs {
namespace {

#ifdef __linux__
std::uint64_t by_the_processor() {
  perf_event_attr what{};
  what.size = sizeof what, what.type = PERF_TYPE_HARDWARE, what.config = PERF_COUNT_HW_INSTRUCTIONS;
  what.disabled = 1, what.exclude_kernel = 1, what.exclude_hv = 1;
  const int file = static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, -1, 0));
  if (file < 0)
    throw std::runtime_error("the processor's counter cannot be read here: perf_event_open says " +
                             std::string(std::strerror(errno)));
  ioctl(file, PERF_EVENT_IOC_RESET, 0);
  ioctl(file, PERF_EVENT_IOC_ENABLE, 0);
  ashlar_programs_one_call();
  ioctl(file, PERF_EVENT_IOC_DISABLE, 0);
  std::uint64_t count = 0;
  const bool complete = read(file, &count, sizeof count) == sizeof count;
  close(file);
  if (!complete || count == 0) throw std::runtime_error("the processor's counter counts nothing here");
  return count;
}
#else
std::uint64_t by_the_processor() { throw std::runtime_error("the processor's counter is read on Linux only"); }
#endif

}  // namespace

std::optional<std::uint64_t> instructions(const Entry& entry, const std::string& target, Counting counting) {
  lang::DefinitionScope scope;
  Program p;
  entry.build(p);
  Schedule s(lang::build_program("program_", p.arguments), Target::parse(target));
  schedule_by_default(s, {.regroup = p.regroup});
  const codegen::Compiled code = compile(s);
  if (ashlar_set_threads(1) != ASHLAR_OK) throw std::runtime_error("the pool refuses one thread");
  Arrays arrays(p);
  const std::function<void()> call = arrays.call(code);
  call();  // the first touches memory and makes what stays
  one_call = &call;
  if (counting == Counting::perf) return by_the_processor();
  ashlar_programs_one_call();
  return std::nullopt;
}

}  // namespace bench::programs
