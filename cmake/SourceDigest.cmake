# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
cmake_minimum_required(VERSION 3.22)
# cmake -DFILES=<list of files, one a line> -DROOT=<project> -DOUTPUT=<file.cpp> -P SourceDigest.cmake
# Defines ashlar::codegen::source_digest: a SHA-256 of the files' contents and of their names inside the project.
file(STRINGS "${FILES}" files)
list(SORT files)
set(all "")
foreach(file IN LISTS files)
  file(SHA256 "${file}" digest)
  file(RELATIVE_PATH name "${ROOT}" "${file}")
  string(APPEND all "${digest} ${name}\n")
endforeach()
string(SHA256 digest "${all}")
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT
  "namespace ashlar::codegen {\nextern const char* const source_digest;\nconst char* const source_digest = \"@digest@\";\n}  // namespace ashlar::codegen\n")
