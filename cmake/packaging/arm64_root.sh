#!/usr/bin/env bash
# Unpacks Debian's arm64 packages, and all that they need, into a folder for the cross compiler:
#
#   cmake/packaging/arm64_root.sh build/arm64 libre2-dev …
#
# The system stays as it is: not all of these can be installed beside those of its own architecture.
# Nothing of them runs, and newer ones are taken once the folder is removed. Its dpkg database says of
# each file which package it is from:
#
#   dpkg-query --admindir=build/arm64/var/lib/dpkg -S /usr/lib/aarch64-linux-gnu/libre2.a
set -euo pipefail
root=$(realpath -m "$1")
packages=("${@:2}")
made_of=$root/made-of
[ "$(cat "$made_of" 2>/dev/null)" != "${packages[*]}" ] || exit 0

rm -rf "$root"
mkdir -p "$root"/apt/{lists,archives}/partial "$root/var/lib/dpkg/info"
database=$root/var/lib/dpkg
: >"$database/status"
apt=(apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root
  -o Debug::NoLocking=1 -o Dir::State::status="$database/status" -o Dir::State::lists="$root/apt/lists"
  -o Dir::Cache::archives="$root/apt/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends --download-only "${packages[@]}"
for file in "$root"/apt/archives/*.deb; do
  dpkg-deb --vextract "$file" "$root" | sed 's,^\.,,; s,/$,,; s,^$,/.,' \
    >"$database/info/$(dpkg-deb -f "$file" Package).list"
  { dpkg-deb -f "$file" && printf 'Status: install ok installed\n\n'; } >>"$database/status"
done
rm -rf "$root/apt"
echo "${packages[*]}" >"$made_of"
