#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# unpack_swiftshader.sh FOLDER: SwiftShader, a Vulkan driver for processors that Debian's chromium-common brings, without the
# rest of that package. Nothing is installed. A folder that is there already stays as it is.
#
#   scripts/unpack_swiftshader.sh build/sysroots/swiftshader
#   VK_DRIVER_FILES=build/sysroots/swiftshader/vk_swiftshader_icd.json program
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: unpack_swiftshader.sh FOLDER" >&2; exit 2; }
folder=$1
[[ -e $folder/.unpacked ]] && exit 0
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
apt-get download -qq -o APT::Sandbox::User="$(id -un)" chromium-common
dpkg-deb --fsys-tarfile chromium-common_*.deb |
  tar -x --strip-components=4 ./usr/lib/chromium/libvk_swiftshader.so ./usr/lib/chromium/vk_swiftshader_icd.json
rm chromium-common_*.deb
touch .unpacked
