#pragma once
// A context of the default pool with a workspace that is kept from call to call, as a program that calls a kernel often does.
#include <ashlar/runtime/runtime.h>

#include <cstdlib>
#include <new>

namespace bench {

struct Workspace {
  ashlar_context context;
  ashlar_error error{};

  Workspace() {
    ashlar_default_context(&context);
    context.error = &error;
  }
  ~Workspace() { std::free(context.workspace); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void reserve(std::size_t bytes) {
    context.workspace_bytes = (bytes + 4095) / 4096 * 4096;
    context.workspace = std::aligned_alloc(4096, context.workspace_bytes);
    if (bytes > 0 && !context.workspace) throw std::bad_alloc();
  }
};

}  // namespace bench
