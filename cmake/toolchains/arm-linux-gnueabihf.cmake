# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ARMv7 with Linux, by Debian's cross compilers gcc-arm-linux-gnueabihf and g++-arm-linux-gnueabihf
set(CMAKE_SYSTEM_PROCESSOR armv7-a)
set(ashlar_tools arm-linux-gnueabihf)
set(ashlar_emulator qemu-arm)
include("${CMAKE_CURRENT_LIST_DIR}/debian.cmake")
