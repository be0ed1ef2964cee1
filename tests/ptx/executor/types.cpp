// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/executor/types.h"

#include <array>

namespace ashlar::ptx {
namespace {

constexpr std::array<TypeRow, 33> rows = {{
    {T::none, "", 0, 'b'},        {T::pred, "pred", 1, 'b'},      {T::b1, "b1", 1, 'b'},
    {T::b4, "b4", 4, 'b'},        {T::u4, "u4", 4, 'u'},          {T::s4, "s4", 4, 's'},
    {T::b8, "b8", 8, 'b'},        {T::u8, "u8", 8, 'u'},          {T::s8, "s8", 8, 's'},
    {T::b16, "b16", 16, 'b'},     {T::u16, "u16", 16, 'u'},       {T::s16, "s16", 16, 's'},
    {T::b32, "b32", 32, 'b'},     {T::u32, "u32", 32, 'u'},       {T::s32, "s32", 32, 's'},
    {T::b64, "b64", 64, 'b'},     {T::u64, "u64", 64, 'u'},       {T::s64, "s64", 64, 's'},
    {T::b128, "b128", 128, 'b'},  {T::f16, "f16", 16, 'f'},       {T::bf16, "bf16", 16, 'f'},
    {T::f16x2, "f16x2", 32, 'f'}, {T::bf16x2, "bf16x2", 32, 'f'}, {T::f32, "f32", 32, 'f'},
    {T::tf32, "tf32", 32, 'f'},   {T::f64, "f64", 64, 'f'},       {T::e4m3, "e4m3", 8, 'f'},
    {T::e5m2, "e5m2", 8, 'f'},    {T::e4m3x2, "e4m3x2", 16, 'f'}, {T::e5m2x2, "e5m2x2", 16, 'f'},
    {T::u16x2, "u16x2", 32, 'u'}, {T::s16x2, "s16x2", 32, 's'},   {T::f32x2, "f32x2", 64, 'f'},
}};

}  // namespace

const TypeRow& row_of(T t) { return rows[static_cast<std::size_t>(t)]; }

T type_named(std::string_view name) {
  for (const TypeRow& r : rows)
    if (r.type != T::none && name == r.name) return r.type;
  return T::none;
}

const char* name_of(Space s) {
  static constexpr const char* names[] = {"generic", "global", "shared", "shared::cluster", "local", "const", "param"};
  return names[static_cast<int>(s)];
}

}  // namespace ashlar::ptx
