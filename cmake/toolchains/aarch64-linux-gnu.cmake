# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# AArch64 with Linux, by Debian's cross compilers gcc-aarch64-linux-gnu and g++-aarch64-linux-gnu
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(ashlar_tools aarch64-linux-gnu)
set(ashlar_emulator qemu-aarch64)
include("${CMAKE_CURRENT_LIST_DIR}/debian.cmake")
