# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RISC-V with Linux, by Debian's cross compilers gcc-riscv64-linux-gnu and g++-riscv64-linux-gnu
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(ashlar_tools riscv64-linux-gnu)
set(ashlar_emulator qemu-riscv64)
include("${CMAKE_CURRENT_LIST_DIR}/debian.cmake")
