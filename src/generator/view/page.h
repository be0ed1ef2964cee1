// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The files of page/, which the build embeds in the library. The script consists of all .js files, in the order of their names.

namespace ashlar::generator::view {

extern const char* const page_html;
extern const char* const page_css;
extern const char* const page_script;

}  // namespace ashlar::generator::view
