#!/bin/sh
# The README's promise, kept on a bare machine: makes a minimal Debian or Ubuntu with debootstrap, of
# this machine's suite and from the archives its apt uses, adds git, clones the committed HEAD into
# it, runs the two commands of the README there, and says which packages they installed.
# Usage: scripts/bare.sh      (as root, or through sudo: it needs chroot and mounts)
#
# build/bare/base is the minimal system, kept for a week; build/bare/machine is the copy that was
# used last, and is left for a look. Only /proc and /dev of this machine are mounted there.
set -eu
cd "$(dirname "$0")/.."

if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null 2>&1 ||
    { echo "bare.sh: a chroot needs root, and there is no sudo; run it as root." >&2; exit 1; }
  exec sudo -n --preserve-env=http_proxy,https_proxy,no_proxy "$PWD/scripts/bare.sh"
fi
# A mount namespace of its own: whatever ends this script, even SIGKILL, also ends its mounts.
if [ "${TANDEM_BARE_NAMESPACE:-}" != yes ]; then
  TANDEM_BARE_NAMESPACE=yes exec unshare --mount --propagation private "$PWD/scripts/bare.sh"
fi

folder=$PWD/build/bare
base=$folder/base
machine=$folder/machine
mkdir -p "$folder"
exec 9>"$folder/lock"
flock -n 9 || { echo "bare.sh: another one is running in build/bare; wait for it." >&2; exit 1; }

say() { printf '\n== %s\n' "$*" >&2; }

release_mounts() {
  for place in "$machine/proc" "$machine/dev"; do
    if mountpoint -q "$place"; then umount -R "$place" 2>/dev/null || umount -R -l "$place"; fi
  done
}
trap release_mounts EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# discard FOLDER: never across a mount, since /dev is the machine's own.
discard() {
  release_mounts
  rm -rf --one-file-system "$1"
}

# What identifies a base: the suite and all settings of apt, as a digest.
apt_settings() {
  for name in sources.list sources.list.d apt.conf apt.conf.d preferences preferences.d auth.conf \
    auth.conf.d trusted.gpg trusted.gpg.d keyrings; do
    [ ! -e "/etc/apt/$name" ] || echo "/etc/apt/$name"
  done
  [ ! -d /usr/share/keyrings ] || echo /usr/share/keyrings
}
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:?}")
identity=$suite-$(apt_settings | while read -r name; do find "$name" -type f -exec cksum '{}' +; done |
  LC_ALL=C sort | sha256sum | cut -c 1-16)

# The archive that has the suite itself, and whether any archive is read through TLS.
archives() {
  apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null
}

make_base() {
  [ -n "$(archives)" ] || apt-get update >"$folder/update.log" 2>&1 || true
  mirror=$(archives | sed -n "s/^$suite //p" | head -n 1)
  [ -n "$mirror" ] ||
    { echo "bare.sh: apt on this machine has no archive of $suite; add one to its sources." >&2; exit 1; }
  extra=git
  if archives | grep -q ' https:'; then extra=git,ca-certificates; fi
  discard "$base"
  say "Making a bare $suite"
  debootstrap --variant=minbase --force-check-gpg --include="$extra" "$suite" "$base" "$mirror" \
    >"$folder/debootstrap.log" 2>&1 </dev/null ||
    { tail -n 20 "$folder/debootstrap.log" >&2; exit 1; }
  rm -rf "$base/etc/apt/sources.list" "$base/etc/apt/sources.list.d"
  apt_settings | while read -r name; do
    mkdir -p "$base$(dirname "$name")"
    cp -a "$name" "$base$(dirname "$name")/"
  done
  # A machine behind a certificate authority of its own says so here.
  if [ "$extra" != git ] && [ -d /usr/local/share/ca-certificates ]; then
    cp -a /usr/local/share/ca-certificates "$base/usr/local/share/"
    chroot "$base" update-ca-certificates >>"$folder/debootstrap.log" 2>&1
  fi
  echo "$identity" >"$folder/base.identity"
}

# inside COMMAND...: in the bare machine, with nothing of this one's environment but the way to the
# network.
inside() {
  set -- HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
  for name in TERM http_proxy https_proxy no_proxy; do
    eval "value=\${$name:-}"
    [ -z "$value" ] || set -- "$name=$value" "$@"
  done
  chroot "$machine" /usr/bin/env -i "$@"
}

installed() { chroot "$machine" dpkg-query -W -f='${Package}\n' | LC_ALL=C sort -u; }

scripts/install.sh bare
if [ "$(cat "$folder/base.identity" 2>/dev/null)" != "$identity" ] ||
   [ -n "$(find "$folder/base.identity" -mtime +7)" ]; then
  rm -f "$folder/base.identity"
  make_base
fi

discard "$machine"
cp -a --reflink=auto "$base" "$machine"
for name in resolv.conf hosts; do
  [ ! -e "/etc/$name" ] || cp -L "/etc/$name" "$machine/etc/$name"
done
mount -t proc proc "$machine/proc"
mount --rbind /dev "$machine/dev"
installed >"$folder/before"

[ -z "$(git status --porcelain 2>/dev/null)" ] || say "What is not committed is not tried"
git clone --quiet --no-hardlinks . "$machine/root/tandem"

broken=
for command in demo test; do
  say "On a bare $suite: ./run $command"
  started=$(date +%s)
  if inside /bin/sh -c 'cd "$HOME/tandem" && exec ./run "$1"' sh "$command" </dev/null; then
    result=passed
  else
    result=failed broken=yes
  fi
  say "./run $command $result after $(($(date +%s) - started)) s"
done

# Those that the commands named, then what came along with them.
installed >"$folder/after"
LC_ALL=C comm -13 "$folder/before" "$folder/after" >"$folder/packages"
chroot "$machine" apt-mark showmanual | sed 's/:.*//' | LC_ALL=C sort -u |
  LC_ALL=C comm -12 - "$folder/packages" >"$folder/asked"
say "Installed by the two commands: $(wc -l <"$folder/packages") packages, of which asked for:"
fmt -w 98 "$folder/asked" | sed 's/^/  /'
echo "and with them:"
LC_ALL=C comm -13 "$folder/asked" "$folder/packages" | fmt -w 98 | sed 's/^/  /'
[ -z "$broken" ]
