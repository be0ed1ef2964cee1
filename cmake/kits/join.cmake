# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DBEGIN=... -DSTUBS=... -DOUT=... -P join.cmake: OUT is BEGIN and then all of STUBS.
file(READ "${BEGIN}" text)
foreach(file IN LISTS STUBS)
  file(READ "${file}" more)
  string(APPEND text "${more}\n")
endforeach()
file(WRITE "${OUT}" "${text}")
