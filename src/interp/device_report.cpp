// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What reports say: where, who, which barrier, and everybody who waits when nobody can run.
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>

#include "interp/device_run.h"

namespace ashlar::interp::device {

using State = Thread::State;

std::string DeviceRun::line(int code) const {
  const Where& w = codes_[static_cast<std::size_t>(code)]->stmt->where;
  const std::string file = w.file_name();
  const auto slash = file.rfind('/');
  return (slash == std::string::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(w.line());
}

std::string DeviceRun::block_text(const Block& b) {
  return "block (" + std::to_string(b.number[0]) + ", " + std::to_string(b.number[1]) + ", " + std::to_string(b.number[2]) +
         ")";
}

std::string DeviceRun::who(int t) const {
  const Thread& x = threads_[static_cast<std::size_t>(t)];
  return block_text(blocks_[static_cast<std::size_t>(x.block)]) + ", thread " + std::to_string(x.in_block);
}

std::string DeviceRun::where() const {
  std::string text = "kernel `" + kernel_.name + "`, launch `" + launch_.name + "`";
  if (current_) text += ", " + who(current_->number);
  if (code_now_) text += " at " + line(code_now_->number);
  return text + ":";
}

std::string DeviceRun::barrier_text(int number) const { return barrier_names_[static_cast<std::size_t>(number)]; }

void DeviceRun::add_lines(RunError& e, const std::vector<int>& codes) const {
  for (int c : codes)
    if (c >= 0) e.lines.push_back(codes_[static_cast<std::size_t>(c)]->stmt->where);
}

void DeviceRun::fail(RunError::Kind kind, const std::string& text, const std::vector<int>& codes,
                     std::vector<std::string> buffers) const {
  RunError e(kind, where() + " " + text);
  add_lines(e, codes);
  e.buffers = std::move(buffers);
  throw e;
}

std::string DeviceRun::state_of(const Thread& t) const {
  switch (t.state) {
    case State::mbarrier: {
      const MBarrier& m = blocks_[static_cast<std::size_t>(t.block)].barriers[static_cast<std::size_t>(t.barrier)];
      return "for parity " + std::to_string(t.parity) + " of " + barrier_text(t.barrier) + ", which is in phase " +
             std::to_string(m.phase) + " with " + std::to_string(m.pending) + " of " + std::to_string(m.count) +
             " arrivals and " + std::to_string(m.bytes) + " bytes pending, " + std::to_string(m.queued) + " bytes on their way";
    }
    case State::named: {
      const Named& n = blocks_[static_cast<std::size_t>(t.block)].named.at(t.named);
      return "at barrier " + std::to_string(t.named) + ", where " + std::to_string(n.arrived) + " of " +
             std::to_string(n.count) + " threads have arrived";
    }
    case State::cluster:
      return "for the cluster, " + std::to_string(cluster_barrier_.arrived) + " of whose " + std::to_string(n_) +
             " threads have arrived";
    case State::collective:
      return "for the rest of its group of " + std::to_string(t.at->width);
    case State::ready:
    case State::done:
      break;
  }
  return "";
}

void DeviceRun::report_deadlock() const {
  std::string text = "nobody can run";
  std::vector<int> codes;
  std::vector<std::string> buffers;
  bool only_collectives = true;
  for (std::size_t k = 0; k < threads_.size();) {
    const Thread& t = threads_[k];
    const std::string state = state_of(t);
    std::size_t end = k + 1;
    while (end < threads_.size() && threads_[end].block == t.block && threads_[end].state == t.state &&
           (t.state == State::done || threads_[end].at == t.at) && state_of(threads_[end]) == state)
      ++end;
    const std::string range =
        who(t.number) + (end - k > 1 ? " to " + std::to_string(threads_[end - 1].in_block) : std::string());
    if (t.state == State::done) {
      text += "; " + range + ": ended";
    } else {
      text += "; " + range + " at " + line(t.at->number) + ": waits " + state;
      codes.push_back(t.at->number);
      if (t.state == State::mbarrier) {
        buffers.push_back(barrier_text(t.barrier));
        const MBarrier& m = blocks_[static_cast<std::size_t>(t.block)].barriers[static_cast<std::size_t>(t.barrier)];
        codes.insert(codes.end(), m.touched_by.begin(), m.touched_by.end());
      }
      if (t.state == State::named) codes.push_back(blocks_[static_cast<std::size_t>(t.block)].named.at(t.named).code);
      only_collectives = only_collectives && t.state == State::collective;
    }
    k = end;
  }
  RunError e(only_collectives ? RunError::Kind::divergence : RunError::Kind::deadlock,
             "kernel `" + kernel_.name + "`, launch `" + launch_.name + "`: " + text);
  add_lines(e, codes);
  e.buffers = std::move(buffers);
  throw e;
}

}  // namespace ashlar::interp::device
