# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Windows on x86-64, by Debian's MinGW-w64 compilers g++-mingw-w64-x86-64. Programs hold the compiler's libraries and need no DLL of
# it. The project's tests run in Wine, if it is installed.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
find_program(ASHLAR_WINE NAMES wine64-stable wine64 wine PATHS /usr/lib/wine)
if(ASHLAR_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${ASHLAR_WINE}")
endif()
