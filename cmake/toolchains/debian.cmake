# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What Debian's cross compilers have in common. CMAKE_SYSROOT may name the root of the device's system; without it programs are
# for the libc that comes with the compiler. The project's tests run in qemu, if it is installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${ashlar_tools}-gcc)
set(CMAKE_CXX_COMPILER ${ashlar_tools}-g++)
set(ashlar_root "${CMAKE_SYSROOT}")
if(NOT ashlar_root)
  set(ashlar_root /usr/${ashlar_tools})
endif()
set(CMAKE_FIND_ROOT_PATH ${ashlar_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
find_program(ASHLAR_${ashlar_emulator} ${ashlar_emulator})
if(ASHLAR_${ashlar_emulator})
  set(CMAKE_CROSSCOMPILING_EMULATOR "${ASHLAR_${ashlar_emulator}};-L;${ashlar_root}")
endif()
