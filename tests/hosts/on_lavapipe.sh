#!/bin/sh
# on_lavapipe.sh TEST EMULATOR SYSROOT PROGRAM...: runs a program of another processor in an emulator, with Mesa's driver for that
# processor (lavapipe), which scripts/unpack_debian.sh has unpacked. 77, which ctest shows as skipped: it is not there.
test=$1 emulator=$2 sysroot=$3
shift 3
if [ ! -e "$sysroot/.unpacked" ]; then
  echo "skipped: $test, there is no $sysroot: ./dev test --all unpacks Debian's packages there"
  exit 77
fi
driver=$(ls "$sysroot"/usr/share/vulkan/icd.d/lvp_icd*.json)
libraries=$(echo "$sysroot"/usr/lib/*-linux-gnu)
exec "$emulator" -L "$sysroot" -E "VK_DRIVER_FILES=$driver" -E "VK_ICD_FILENAMES=$driver" -E "LD_LIBRARY_PATH=$libraries" \
  -E MESA_SHADER_CACHE_DISABLE=true "$@"
