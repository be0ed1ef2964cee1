#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# on_driver.sh FOLDER MANIFEST PROGRAM [ARGUMENTS]: runs a test of Vulkan on a driver that was unpacked beside this system
# (./dev test --all). One of a later Debian comes with the libraries that it was made with, and runs under their loader. Returns
# 77, with the reason, where it is not there.
folder=$1 manifest=$1/$2
shift 2
if [ ! -e "$folder/.unpacked" ] || [ ! -e "$manifest" ]; then
  echo "skipped: $(basename "$1"), there is no $manifest (./dev test --all unpacks it)"
  exit 77
fi
export VK_DRIVER_FILES="$manifest" VK_ICD_FILENAMES="$manifest" MESA_SHADER_CACHE_DISABLE=true
libraries=$folder/usr/lib/x86_64-linux-gnu
loader=$libraries/ld-linux-x86-64.so.2
[ -e "$loader" ] || exec "$@"
exec "$loader" --library-path "$libraries:/usr/lib/x86_64-linux-gnu" "$@"
