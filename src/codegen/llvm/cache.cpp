// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The key of what emit() makes, and the folder in which it is looked for.
#include <ashlar/codegen/cache.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <system_error>

#include <link.h>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/SHA256.h>
#include <llvm/Target/TargetMachine.h>

#include <ashlar/codegen/ptx.h>
#include <ashlar/ir/refusal.h>

#include "codegen/kernel_bytes.h"
#include "codegen/llvm/backend.h"
#include "codegen/llvm/of_tiles.h"
#include "codegen/store.h"

namespace ashlar::codegen {

extern const char* const source_digest;  // of Ashlar's own sources; made while the project builds

namespace {

std::string hex_of(const std::string& bytes) {
  const auto digest = llvm::SHA256::hash({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  return llvm::toHex(digest, /*LowerCase=*/true);
}

// ---- what generates the code ----------------------------------------------------------------------------------------------

// The build id (ELF note) of the library that holds `address`; empty where its linker wrote none.
std::string build_id_at(const void* address) {
  struct Search {
    std::uintptr_t at;
    std::string id;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        bool holds = false;
        for (int k = 0; k < info->dlpi_phnum; ++k) {
          const auto& p = info->dlpi_phdr[k];
          const std::uintptr_t begin = info->dlpi_addr + p.p_vaddr;
          holds = holds || (p.p_type == PT_LOAD && s.at >= begin && s.at < begin + p.p_memsz);
        }
        if (!holds) return 0;
        for (int k = 0; k < info->dlpi_phnum; ++k) {
          const auto& p = info->dlpi_phdr[k];
          if (p.p_type != PT_NOTE) continue;
          const char* note = reinterpret_cast<const char*>(info->dlpi_addr + p.p_vaddr);
          const char* const end = note + p.p_memsz;
          while (note + sizeof(ElfW(Nhdr)) <= end) {
            const auto* header = reinterpret_cast<const ElfW(Nhdr)*>(note);
            const char* const name = note + sizeof *header;
            const char* const id = name + (header->n_namesz + 3U) / 4 * 4;
            if (header->n_type == NT_GNU_BUILD_ID) s.id.assign(id, header->n_descsz);
            note = id + (header->n_descsz + 3U) / 4 * 4;
          }
        }
        return 1;
      },
      &search);
  return search.id;
}

const std::string& generator_of_code() {
  static const std::string all = std::string(source_digest) + '\0' + LLVM_VERSION_STRING + '\0' +
                                 build_id_at(reinterpret_cast<const void*>(&llvm::Triple::getArchTypeName));
  return all;
}

// ---- the key --------------------------------------------------------------------------------------------------------------

void put(std::string& key, std::string_view text) {
  key += std::to_string(text.size());
  key += ':';
  key += text;
}

// A file of targets may give a name another meaning, so the key has what the name stands for.
void put(std::string& key, const Target& t) {
  put(key, t.text()), put(key, t.triple()), put(key, t.cpu()), put(key, t.tune()), put(key, t.compiler_features());
  for (const std::string& feature : t.enabled()) put(key, feature);
  for (const char* operation : {"fma", "fma64", "round", "half"}) put(key, t.offers(operation) ? "1" : "0");
  for (const std::int64_t n :
       {std::int64_t{t.vector_bits()}, std::int64_t{t.vector_registers()}, t.cache_bytes(1), t.cache_bytes(2), t.cache_bytes(3),
        std::int64_t{t.cache_line()}, std::int64_t{t.flushes_subnormals()}})
    put(key, std::to_string(n));
  if (!t.is_gpu()) return;
  put(key, t.device().name);
  if (t.device().kind == Device::Kind::cuda) put(key, ptx::linker_version(t.device().chip));
  if (t.has_tiles()) put(key, tile_assembler_version());
}

std::string key_of(std::span<const Variant> variants, std::span<const Output> outputs, const Options& options) {
  const auto& [line_tables, wide_indices, profile] = options;
  std::string key;
  put(key, generator_of_code());
  put(key, line_tables ? "lines" : "");
  put(key, wide_indices ? "wide" : "");
  put(key, profile ? "profile" : "");
  for (const Output o : outputs) put(key, std::to_string(static_cast<int>(o)));
  for (const Variant& v : variants) {
    put(key, v.target);
    put(key, kernel_bytes(*v.kernel, line_tables || profile));
    if (v.target.has_tiles()) put(key, tile_bytecode(*v.kernel));
  }
  return hex_of(key);
}

// ---- entries --------------------------------------------------------------------------------------------------------------

// "ashlar 1\n", the SHA-256 of what follows in hex, "\n", and of each output its length, ":" and its bytes.
constexpr std::string_view kHead = "ashlar 1\n";

std::string packed(const std::vector<std::string>& results) {
  std::string body;
  for (const std::string& r : results) put(body, r);
  return std::string(kHead) + hex_of(body) + "\n" + body;
}

std::optional<std::vector<std::string>> unpacked(const std::string& entry, std::size_t count) {
  constexpr std::size_t digits = 64, head = kHead.size() + digits + 1;
  if (entry.size() < head || !entry.starts_with(kHead)) return std::nullopt;
  const std::string body = entry.substr(head);
  if (entry.compare(kHead.size(), digits, hex_of(body)) != 0) return std::nullopt;
  std::vector<std::string> results;
  const char *at = body.data(), *const end = at + body.size();
  while (at < end) {
    std::size_t size = 0;
    const auto number = std::from_chars(at, end, size);
    if (number.ec != std::errc() || number.ptr == end || static_cast<std::size_t>(end - number.ptr - 1) < size)
      return std::nullopt;
    results.emplace_back(number.ptr + 1, size);
    at = number.ptr + 1 + size;
  }
  if (results.size() != count) return std::nullopt;
  return results;
}

// ---- the folder -----------------------------------------------------------------------------------------------------------

std::int64_t asked_size() {
  const char* const text = std::getenv("ASHLAR_CACHE_MB");
  if (!text || !*text) return std::int64_t{1024} << 20;
  std::int64_t mb = 0;
  const char* const end = text + std::char_traits<char>::length(text);
  const auto number = std::from_chars(text, end, mb);
  if (number.ec != std::errc() || number.ptr != end || mb < 16 || mb > (1 << 24))
    refuse("ASHLAR_CACHE_MB", "the size of the cache in MiB, 16 to 16777216", text, Where{});
  return mb << 20;
}

struct Folder {
  std::unique_ptr<Store> store;
  std::string why;  // there is none
};

// The environment is read anew each time: a test, or a program that sets it, finds what it asked for.
Folder folder() {
  const char* const asked = std::getenv("ASHLAR_CACHE");
  if (asked && *asked) {
    if (std::string_view(asked) == "off") return {nullptr, "ASHLAR_CACHE is off"};
    const std::int64_t size = asked_size();
    try {
      return {std::make_unique<Store>(std::filesystem::absolute(asked), size), {}};
    } catch (const std::system_error& e) {
      refuse("ASHLAR_CACHE", "a folder that can be written, or \"off\"", e.what(), Where{});
    }
  }
  const char *const cache = std::getenv("XDG_CACHE_HOME"), *const home = std::getenv("HOME");
  std::filesystem::path path;
  if (cache && *cache == '/')
    path = std::filesystem::path(cache) / "ashlar";
  else if (home && *home == '/')
    path = std::filesystem::path(home) / ".cache" / "ashlar";
  else
    return {nullptr, "neither ASHLAR_CACHE nor XDG_CACHE_HOME nor HOME names a folder"};
  const std::int64_t size = asked_size();
  try {
    return {std::make_unique<Store>(path, size), {}};
  } catch (const std::system_error& e) { return {nullptr, e.what()}; }
}

}  // namespace

std::vector<std::string> emit_cached(std::span<const Variant> variants, std::span<const Output> outputs, Seconds* seconds,
                                     const Options& options, CacheUse* use) {
  CacheUse ignored;
  CacheUse& u = use ? *use : ignored;
  const Folder place = folder();
  if (!place.store) {
    u = {CacheUse::Kind::off, place.why};
    return emit(variants, outputs, seconds, options);
  }
  const std::string key = key_of(variants, outputs, options);
  std::string why;
  try {
    if (const std::optional<std::string> entry = place.store->find(key)) {
      if (std::optional<std::vector<std::string>> results = unpacked(*entry, outputs.size())) {
        u = {CacheUse::Kind::hit, {}};
        return std::move(*results);
      }
      place.store->forget(key);
    }
  } catch (const std::system_error& e) { why = e.what(); }
  std::vector<std::string> results = emit(variants, outputs, seconds, options);
  try {
    if (!place.store->keep(key, packed(results))) why = "larger than a sixteenth of the cache";
  } catch (const std::system_error& e) { why = e.what(); }
  u = {why.empty() ? CacheUse::Kind::stored : CacheUse::Kind::failed, why};
  return results;
}

Compiled compile_cached(const ir::Kernel& kernel, const Target& target, Seconds* seconds, CacheUse* use) {
  require_loadable(target);
  const Variant only{&kernel, target};
  const Output object = Output::object;
  return load(emit_cached(std::span(&only, 1), std::span(&object, 1), seconds, {}, use)[0], kernel, target);
}

}  // namespace ashlar::codegen
