#!/usr/bin/env bash
# debian_root.sh PACKAGES WORK PROJECT: the packages in a bare root of this machine's Debian, made by mmdebstrap from the sources
# of apt. Beside the packages and what they depend on, the root has g++ and CMake alone. A project is built and run there without
# LLVM's headers, and a purge leaves no file behind.
set -euo pipefail
packages=$1 work=$2 project=$3
skip() { echo "skipped: package_debian_root, $*"; exit 77; }
fail() { printf 'debian_root.sh: %s\n' "$*" >&2; exit 1; }
[[ $(id -u) == 0 ]] || skip "it needs root, for chroot"
command -v mmdebstrap >/dev/null || skip "there is no mmdebstrap"
compgen -G "$packages/*.deb" >/dev/null || skip "package_debian made no packages"
. /etc/os-release
[[ ${ID:-} == debian ]] || skip "this machine runs ${ID:-another system}, not Debian"
root=$work/root
if [[ ! -e $root/.made ]]; then
  rm -rf "$root"
  mkdir -p "$work"
  mapfile -t sources < <(compgen -G '/etc/apt/sources.list.d/*.sources'; compgen -G '/etc/apt/sources.list.d/*.list'; compgen -G /etc/apt/sources.list)
  ((${#sources[@]})) || skip "apt has no sources here"
  mmdebstrap --variant=apt --include=ca-certificates,g++,cmake,ninja-build "$VERSION_CODENAME" "$root" "${sources[@]}" >"$work/log" 2>&1 ||
    skip "mmdebstrap could not make a root ($(tail -n 1 "$work/log"))"
  touch "$root/.made"
fi
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }
listing() { (cd "$root" && find usr etc -not -path '*/__pycache__*' -not -name '*.cache' -not -name ld.so.cache | sort); }
rm -rf "$root/tmp/ashlar"
mkdir -p "$root/tmp/ashlar"
cp "$packages"/*.deb "$root/tmp/ashlar"
cp -r "$project" "$root/tmp/ashlar/project"
inside apt-get -qq update >/dev/null 2>&1 || skip "apt has no lists there"
# What the packages ask for is there first, so that the two listings differ by the packages alone.
mapfile -t needs < <(for package in "$packages"/*.deb; do dpkg-deb -f "$package" Depends; done | tr ',' '\n' | sed 's/[(|].*//; s/ //g' | grep -v ashlar | sort -u)
inside apt-get -qq install -y --no-install-recommends "${needs[@]}" >"$work/log" 2>&1 || { cat "$work/log"; fail "apt cannot install ${needs[*]}"; }
listing >"$work/before"
inside sh -c 'apt-get -qq install -y --no-install-recommends /tmp/ashlar/*.deb' >"$work/log" 2>&1 || { cat "$work/log"; fail "apt refuses the packages"; }
inside sh -c 'ldconfig -p | grep libashlar_runtime.so.1 >/dev/null' || fail "the shared library is not known to ldconfig"
[[ ! -e $root/usr/lib/llvm-22/include ]] || fail "the root has LLVM's headers"
inside sh -c 'cd /tmp/ashlar && cmake -G Ninja -S project -B build >log 2>&1 && cmake --build build --target app_c app_op >>log 2>&1 || { cat log; exit 1; }; build/app_c; build/app_op' | tee "$work/said"
grep -qx 'C = relu(A B + bias)' "$work/said" || fail "the project did not say what it should"
inside ashlar-ops --list >/dev/null || fail "ashlar-ops does not run"
inside apt-get -qq purge -y libashlar-runtime1 ashlar-dev ashlar-tools ashlar-doc >"$work/log" 2>&1 || { cat "$work/log"; fail "apt cannot remove the packages"; }
listing >"$work/after"
diff "$work/before" "$work/after" || fail "the packages left files behind"
echo "built and run in a bare root; nothing is left behind"
