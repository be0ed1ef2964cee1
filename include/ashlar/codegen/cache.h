// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A cache of generated code in a folder on disk. If a kernel with the same meaning, target and options was compiled before, by
// this process or another, its code comes from the cache.
//
//   std::vector<std::string> code = codegen::emit_cached(variants, outputs, &seconds, options, &use);   // as emit()
//
// The key is a SHA-256 of the whole kernel, the target, the options, the outputs, and everything that generates code: Ashlar's
// sources, the LLVM library, for CUDA devices nvJitLink. So a cached object has the bytes that emit() would write, and updating
// any of them invalidates old entries. An entry with a wrong checksum is deleted and made again.
//
// Several processes may share a folder: entries appear atomically, by a rename. If the folder exceeds its size, the least
// recently used entries are deleted.
//
//   ASHLAR_CACHE      the folder; "off": none. Left out: $XDG_CACHE_HOME/ashlar, or $HOME/.cache/ashlar
//   ASHLAR_CACHE_MB   its size in MiB, 16 at least; left out: 1024
#include <cstdint>
#include <optional>
#include <string>

#include <ashlar/codegen/emit.h>
#include <ashlar/codegen/jit.h>

namespace ashlar::codegen {

struct CacheUse {
  enum class Kind {
    off,     // there is no folder
    hit,     // nothing was generated
    stored,  // generated, and kept
    failed,  // generated; reading or keeping it failed
  };
  Kind kind = Kind::off;
  std::string why;  // off, failed: the reason
};

// Refused: an ASHLAR_CACHE that is not a writable folder, and an ASHLAR_CACHE_MB that is not a number of at least 16. If the
// default folder cannot be created, nothing is cached: some builds have no home directory.
std::vector<std::string> emit_cached(std::span<const Variant>, std::span<const Output>, Seconds* = nullptr, const Options& = {},
                                     CacheUse* = nullptr);
// compile(), with the object from the cache if it is there.
Compiled compile_cached(const ir::Kernel&, const Target&, Seconds* = nullptr, CacheUse* = nullptr);

}  // namespace ashlar::codegen
