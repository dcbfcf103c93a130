#!/usr/bin/env bash
# Do the packages work where nothing else is? Run by `./dev package --check`; needs root.
#
#   tests/install/check_packages.sh build/packages x86_64 aarch64
#
# The .deb: lintian, and a Debian 12 that has nothing but its base system: one that debootstrap makes,
# or a copy of the folder NCCLOG_CLEAN_ROOT. The .tar.gz, the .rpm and the image: empty folders as root
# of the file system; of another architecture under QEMU, with pages of 4 and of 64 KiB as kernels of
# GH200 and GB200 have them. All: the sources of the commit, built elsewhere, give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
packages=$(realpath "$1")
architectures=("${@:2}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

say() { echo "check: $*"; }

die() {
  say "FAILED: $*" >&2
  exit 1
}

# The report that all of them have to give, and exit status 1.
logs=sample_logs/rank-killed/logs

expected_report() {
  cp -r "$logs" "$scratch/logs"
  (cd "$scratch" && "$1" analyze logs >expected.txt) || [ $? -eq 1 ] || die "no report to compare with"
}

check_lintian() {
  lintian --fail-on error,warning --allow-root "$packages"/*.deb || die "lintian is not content"
  say "lintian is content"
}

check_sums() {
  (cd "$packages" && sha256sum --quiet -c SHA256SUMS) || die "other sums"
  [ "$(find "$packages" -type f | wc -l)" -eq $(($(wc -l <"$packages/SHA256SUMS") + 1)) ] ||
    die "SHA256SUMS does not name all files"
  say "SHA256SUMS is right"
}

# Sets $runner to what runs a program of an architecture in a root.
set_runner() {
  runner=()
  [ "$2" != "$(uname -m)" ] || return 0
  cp "$(command -v "qemu-$2-static")" "$1/qemu"
  runner=(/qemu)
}

# The report of a program in a root; what follows are QEMU's arguments.
check_report_in() {
  cp -rT "$logs" "$1/logs"
  chroot "$1" "${runner[@]}" "${@:3}" "$2" analyze logs >"$scratch/static.txt" || [ $? -eq 1 ] ||
    die "no report in $1"
  cmp "$scratch/expected.txt" "$scratch/static.txt" || die "another report in $1"
}

check_static() {
  local root=$scratch/empty-$1 name packed
  mkdir "$root"
  tar -C "$root" --strip-components=1 -xzf "$packages"/*-linux-"$1".tar.gz
  ! readelf -ldW "$root/bin/ncclog" | grep -E 'INTERP|NEEDED' ||
    die "the executable of the .tar.gz is not static"
  readelf -lW "$root/bin/ncclog" | grep -q 'type is DYN' &&
    readelf -dW "$root/bin/ncclog" | grep -q 'BIND_NOW' ||
    die "the executable of the .tar.gz is not hardened"
  name=$(printf 'n\303\266de/\345\220\215.log')  # Names that no plain C locale can show.
  rm -rf "$scratch/pack"
  mkdir -p "$scratch/pack/$(dirname "$name")"
  cat "$logs"/* >"$scratch/pack/$name"
  tar -C "$scratch/pack" -cJf "$root/packed.tar.xz" .
  tar -C "$scratch/pack" -czf "$root/packed.tar.gz" .
  # Not with that name: without locales libarchive gives none to members of a zip file.
  (cd "$logs" && python3 -m zipfile -c "$root/packed.zip" .)
  set_runner "$root" "$1"
  check_report_in "$root" /bin/ncclog
  [ ${#runner[@]} -eq 0 ] || check_report_in "$root" /bin/ncclog -p 65536
  for packed in packed.tar.xz packed.tar.gz; do
    chroot "$root" "${runner[@]}" /bin/ncclog export "$packed" >"$scratch/events" ||
      die "$packed cannot be read"
    grep -q "$name" "$scratch/events" || die "$packed gives other names"
  done
  chroot "$root" "${runner[@]}" /bin/ncclog analyze packed.zip >/dev/null || [ $? -eq 1 ] ||
    die "no zip is read"
  say "the static executable for $1 runs in an empty root"
  tests/install/check_sbom.py "$packages"/*-linux-"$1".spdx.json "$root/bin/ncclog" ||
    die "the SBOM describes something else"
  say "the SBOM for $1 describes it"
}

# Into a root without anything, not even a shell.
check_rpm() {
  local root=$scratch/rpm-$1
  rpmlint -c tests/install/rpmlint.toml "$packages"/*."$1".rpm >"$scratch/rpmlint.log" 2>&1 ||
    die "rpmlint is not content: $(cat "$scratch/rpmlint.log")"
  mkdir "$root"
  rpm --root "$root" --force-debian --ignorearch -i "$packages"/*."$1".rpm ||
    die "the .rpm does not install"
  set_runner "$root" "$1"
  check_report_in "$root" /usr/bin/ncclog
  rpm --root "$root" -V ncclog || die "rpm finds other files than it has installed"
  rpm --root "$root" --force-debian -e ncclog
  [ -z "$(find "$root/usr" -name '*ncclog*')" ] || die "files of the .rpm stay behind"
  say "the .rpm for $1 installs into an empty root"
}

# Built and run without a daemon; of this machine's architecture.
check_image() {
  local root buildah=(buildah --storage-driver vfs --root "$scratch/images" --runroot "$scratch/run")
  "${buildah[@]}" bud -q --isolation chroot -t localhost/ncclog -f "$packages/Containerfile" \
    "$scratch/empty-$(uname -m)" >"$scratch/buildah.log" 2>&1 ||
    die "no image: $(tail -n 5 "$scratch/buildah.log")"
  root=$("${buildah[@]}" mount "$("${buildah[@]}" from localhost/ncclog)")
  runner=()
  check_report_in "$root" /usr/bin/ncclog
  "${buildah[@]}" umount -a >/dev/null
  say "the image works"
}

clean_root() {
  if [ -n "${NCCLOG_CLEAN_ROOT:-}" ]; then
    cp -a "$NCCLOG_CLEAN_ROOT" "$1"
  else
    debootstrap --variant=minbase bookworm "$1" >"$scratch/debootstrap.log" ||
      die "debootstrap failed: $(tail -n 1 "$scratch/debootstrap.log")"
  fi
  cp /etc/resolv.conf "$1/etc/resolv.conf"
}

check_deb() {
  local root=$scratch/debian
  clean_root "$root"
  cp "$packages"/*.deb "$root/tmp/ncclog.deb"
  cp -r "$logs" "$root/tmp/logs"
  chroot "$root" sh -c 'export DEBIAN_FRONTEND=noninteractive
    rm -f /etc/dpkg/dpkg.cfg.d/docker
    apt-get -qq update && apt-get -qq install -y --no-install-recommends man-db /tmp/ncclog.deb' \
    >"$scratch/apt.log" 2>&1 || die "the .deb does not install: $(tail -n 5 "$scratch/apt.log")"
  chroot "$root" sh -c 'cd /tmp && ncclog analyze logs' >"$scratch/deb.txt" || [ $? -eq 1 ] ||
    die "no report in a clean Debian"
  cmp "$scratch/expected.txt" "$scratch/deb.txt" || die "another report in a clean Debian"
  chroot "$root" sh -c 'man --warnings ncclog 2>&1 >/tmp/page' | grep . && die "man minds the page"
  grep -q 'ncclog-analyze' "$root/tmp/page" || die "man ncclog shows nothing"
  # With /proc: the completion reads from a pipe that bash calls /dev/fd/63.
  unshare --mount bash -c 'mount -t proc proc "$1/proc" && chroot "$1" bash -c "$2"' - "$root" '
    . /usr/share/bash-completion/completions/ncclog
    COMP_WORDS=(ncclog show ra) COMP_CWORD=2; _ncclog; echo "${COMPREPLY[@]}"' |
    grep -qx 'ranks ras' || die "bash does not complete"
  chroot "$root" dpkg -r ncclog >/dev/null
  [ -z "$(find "$root/usr" -name '*ncclog*' -not -path '*/cache/*')" ] || die "files stay behind"
  say "the .deb works in a clean Debian 12"
}

# Nothing is taken from here but what is committed.
check_same_bytes() {
  local source=$scratch/source
  mkdir "$source"
  git archive HEAD | tar -C "$source" -x
  if [ -d build/arm64 ]; then
    mkdir "$source/build"
    ln -s "$PWD/build/arm64" "$source/build/arm64"
  fi
  (cd "$source" && export CCACHE_BASEDIR=$source CCACHE_NOHASHDIR=1 &&
    ./dev pack "${architectures[@]}") >"$scratch/second.log" 2>&1 ||
    die "the sources do not build elsewhere: $(tail -n 5 "$scratch/second.log")"
  diff -r "$packages" "$source/build/packages" || die "another build gives other bytes"
  say "a build elsewhere gives the same bytes"
}

[ "$(id -u)" -eq 0 ] || die "needs root: it installs into roots of their own"
expected_report "$(realpath build/package/ncclog)"
check_sums
check_lintian
for architecture in "${architectures[@]}"; do
  check_static "$architecture"
  check_rpm "$architecture"
done
check_image
check_deb
check_same_bytes
