# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs in cpack before packages are made: gives each package for Debian its copyright and change log, presses man pages, and
# takes out what is there for prefixes that move.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
get_filename_component(source "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(STRINGS "${source}/LICENSE" lines)
set(exception "")  # what LICENSE has behind the Apache license itself, which Debian has once for all
set(behind OFF)
foreach(line IN LISTS lines)
  if(line MATCHES "LLVM Exceptions to the Apache 2.0 License")
    set(behind ON)
  endif()
  if(behind)
    string(STRIP "${line}" line)
    string(APPEND exception " ${line}\n")
  endif()
endforeach()
if(NOT exception)
  message(FATAL_ERROR "debian.cmake: ${source}/LICENSE has no exceptions of LLVM")
endif()
string(TIMESTAMP year "%Y" UTC)
string(CONCAT copyright
  "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
  "Upstream-Name: Ashlar\n\n"
  "Files: *\nCopyright: ${year} the authors of Ashlar\nLicense: Apache-2.0 with LLVM exception\n"
  " Licensed under the Apache License, Version 2.0, with the exceptions below. On\n"
  " Debian systems its text is in /usr/share/common-licenses/Apache-2.0.\n .\n${exception}")
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(GLOB groups "${CPACK_TEMPORARY_DIRECTORY}/*")
foreach(root IN LISTS groups)
  get_filename_component(group "${root}" NAME)
  string(TOUPPER "${group}" upper)
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  if(NOT package)
    message(FATAL_ERROR "debian.cmake: ${root} is the folder of no package")
  endif()
  set(doc "${root}/usr/share/doc/${package}")
  file(WRITE "${doc}/copyright" "${copyright}")
  file(WRITE "${doc}/changelog" "ashlar (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * Made by cpack from the sources of this version.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
  execute_process(COMMAND gzip -9n "${doc}/changelog" COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE "${root}/usr/share/ashlar/LICENSE")  # the text is in /usr/share/doc
  file(GLOB pages "${root}/usr/share/man/man*/*.[0-9]")
  foreach(page IN LISTS pages)
    execute_process(COMMAND gzip -9n "${page}" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  if(EXISTS "${root}/usr/share/zsh/site-functions")  # where Debian has those of packages
    file(RENAME "${root}/usr/share/zsh/site-functions" "${root}/usr/share/zsh/vendor-completions")
  endif()
  if(EXISTS "${root}/usr/lib/pkgconfig")  # of one architecture: its place, and a prefix that no longer moves
    execute_process(COMMAND dpkg-architecture -qDEB_HOST_MULTIARCH OUTPUT_VARIABLE triplet OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    file(MAKE_DIRECTORY "${root}/usr/lib/${triplet}")
    file(RENAME "${root}/usr/lib/pkgconfig" "${root}/usr/lib/${triplet}/pkgconfig")
    file(GLOB texts "${root}/usr/lib/${triplet}/pkgconfig/*.pc")
    foreach(file IN LISTS texts)
      file(READ "${file}" text)
      string(REGEX REPLACE "\nprefix=[^\n]*" "\nprefix=/usr" text "${text}")
      file(WRITE "${file}" "${text}")
    endforeach()
  endif()
  file(GLOB programs "${root}/usr/bin/*")
  foreach(program IN LISTS programs)
    file(RPATH_REMOVE FILE "${program}")
  endforeach()
endforeach()
