// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Code that was generated before, kept in a folder on disk: what was compiled with the same meaning, target and options comes
// from there, in this process and in later ones.
//
//   std::vector<std::string> code = codegen::emit_cached(variants, outputs, &seconds, options, &use);   // as emit()
//
// The key is a SHA-256 of the whole kernel, the target, the options, the outputs, and what generates code: Ashlar's sources,
// the LLVM library, for a CUDA device nvJitLink. So a cached object has the bytes that emit() would write, and an update of
// any of them finds nothing old. An entry whose checksum does not hold is thrown away and made again.
//
// Several processes may use a folder at a time: entries appear whole, by a rename. The folder stays below its size: what has
// not been used for longest goes.
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

// Refused: an ASHLAR_CACHE that is not a writable folder, or an ASHLAR_CACHE_MB that is not such a number. The default folder
// is left out where it cannot be made: a build has no home now and then.
std::vector<std::string> emit_cached(std::span<const Variant>, std::span<const Output>, Seconds* = nullptr, const Options& = {},
                                     CacheUse* = nullptr);
// compile(), with the object from the folder where it is there.
Compiled compile_cached(const ir::Kernel&, const Target&, Seconds* = nullptr, CacheUse* = nullptr);

}  // namespace ashlar::codegen
