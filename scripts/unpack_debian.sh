#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# unpack_debian.sh ARCHITECTURE SUITE FOLDER PACKAGE...: unpacks Debian's packages for another processor, with the libraries that
# they need, into a folder. Nothing is installed: apt works on lists and caches of its own beside the folder, and this system
# keeps its one architecture. What programs and scripts the packages bring is left out; only files are needed, for an emulator:
#
#   scripts/unpack_debian.sh arm64 bookworm build/sysroots/arm64 libvulkan1 mesa-vulkan-drivers
#   qemu-aarch64 -L build/sysroots/arm64 program
#
# Packages come from where this system's own do. A folder that is there already stays as it is.
set -euo pipefail
[[ $# -ge 4 ]] || { echo "usage: unpack_debian.sh ARCHITECTURE SUITE FOLDER PACKAGE..." >&2; exit 2; }
architecture=$1 suite=$2 folder=$3
shift 3
[[ -e $folder/.unpacked ]] && exit 0

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed -n '\:/debian/*$:{p;q}')
[[ -n $mirror ]] || { echo "unpack_debian.sh: apt knows no mirror of Debian" >&2; exit 1; }
rm -rf "$folder"
mkdir -p "$folder" "$folder.apt/lists/partial" "$folder.apt/cache/archives/partial"
apt=$(cd "$folder.apt" && pwd)
: >"$apt/status"  # of this apt nothing is installed
printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$mirror" "$suite" >"$apt/sources.list"
options=(-qq -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o Acquire::Languages=none
         -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists"
         -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" -o Debug::NoLocking=1 -o "APT::Sandbox::User=$(id -un)")
apt-get "${options[@]}" update >"$apt/log" 2>&1 || { cat "$apt/log" >&2; exit 1; }
apt-get "${options[@]}" install -y --download-only --no-install-recommends "$@" >"$apt/log" 2>&1 || { cat "$apt/log" >&2; exit 1; }

mkdir -p "$folder/usr/lib"
ln -s usr/lib "$folder/lib"  # as in a system whose /lib is in /usr, of which packages of later suites are made
for package in "$apt"/cache/archives/*.deb; do
  case $(basename "$package") in
    lib* | zlib* | mesa-*) dpkg -x "$package" "$folder" ;;
  esac
done
rm -rf "$apt"
touch "$folder/.unpacked"
