#!/usr/bin/env bash
# debian.sh BUILD WORK: the packages for Debian of a build folder, as cpack makes them. Each has what it is for, lintian accepts
# them where it is there, and they install into an empty root and leave nothing behind in it.
set -euo pipefail
build=$1 work=$2
fail() { printf 'debian.sh: %s\n' "$*" >&2; exit 1; }
command -v dpkg-deb >/dev/null || { echo "skipped: package_debian, there is no dpkg-deb"; exit 77; }
command -v dpkg-shlibdeps >/dev/null || { echo "skipped: package_debian, there is no dpkg-shlibdeps (dpkg-dev)"; exit 77; }
command -v file >/dev/null || { echo "skipped: package_debian, there is no file"; exit 77; }
[[ $(id -u) == 0 ]] || command -v fakeroot >/dev/null || { echo "skipped: package_debian, not root, and there is no fakeroot"; exit 77; }
[[ $(id -u) == 0 || -n ${FAKEROOTKEY-} ]] || exec fakeroot "$0" "$@"

rm -rf "$work"
mkdir -p "$work/packages"
(cd "$build" && cpack -G DEB -B "$work/packages" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >"$work/log" 2>&1) || { cat "$work/log"; fail "cpack failed"; }
shopt -s nullglob
packages=("$work"/packages/*.deb)
names=$(for package in "${packages[@]}"; do dpkg-deb -f "$package" Package; done | sort | tr '\n' ' ')
[[ $names == "ashlar-dev ashlar-doc ashlar-tools libashlar-runtime1 " ]] || fail "the packages are: $names"

holds() {  # holds PACKAGE FILE
  dpkg-deb --fsys-tarfile "$work"/packages/"$1"_*.deb | tar -t | grep -x "\./$2" >/dev/null || fail "$1 has no $2"
}
holds libashlar-runtime1 'usr/lib/libashlar_runtime\.so\.1'
holds ashlar-dev 'usr/include/ashlar/ashlar\.h'
holds ashlar-dev 'usr/lib/cmake/Ashlar/AshlarConfig\.cmake'
holds ashlar-dev 'usr/lib/libashlar_runtime\.\(a\|so\)'
holds ashlar-tools usr/bin/ashlar-ops
holds ashlar-tools 'usr/share/man/man1/ashlar-ops\.1\.gz'
holds ashlar-doc 'usr/share/doc/ashlar/docs/language\.md'
for package in "${packages[@]}"; do holds "$(dpkg-deb -f "$package" Package)" "usr/share/doc/$(dpkg-deb -f "$package" Package)/copyright"; done
[[ $(dpkg-deb -f "$work"/packages/ashlar-dev_*.deb Depends) == *"libashlar-runtime1 (= "* ]] || fail "ashlar-dev does not depend on its runtime"
[[ $(dpkg-deb -f "$work"/packages/ashlar-tools_*.deb Depends) == *libc6* ]] || fail "ashlar-tools does not depend on libc6"

# An empty root: dpkg's own files, and nothing else.
root=$work/root
mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers}
touch "$root"/var/lib/dpkg/{status,available}
listing() { (cd "$root" && find . -path ./var -prune -o -print | sort); }
listing >"$work/before"
in_root() { dpkg --root="$root" --force-depends --force-script-chrootless --no-triggers --log=/dev/null "$@" >"$work/dpkg" 2>&1 || { cat "$work/dpkg"; fail "dpkg $1 failed"; }; }
in_root -i "${packages[@]}"
[[ -x $root/usr/bin/ashlar-ops ]] || fail "ashlar-ops is not in the root"
read -ra installed <<<"$names"
in_root --purge "${installed[@]}"
listing >"$work/after"
diff "$work/before" "$work/after" || fail "the packages left files behind"

if command -v lintian >/dev/null; then
  allow=()
  [[ $(id -u) != 0 ]] || allow=(--allow-root)
  lintian "${allow[@]}" --fail-on error,warning "${packages[@]}" || fail "lintian refuses"
  echo "lintian accepts"
else
  echo "without lintian, which is not here"
fi
echo "four packages install and remove cleanly"
