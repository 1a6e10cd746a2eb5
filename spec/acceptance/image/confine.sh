#!/bin/sh
# Runs a program as a container engine would under the manifest's security context, as far as a mount namespace goes: on a
# root of its own that cannot be written to, which holds an image, the machine's shared libraries and Node, an emptyDir at
# /tmp and a service account; as another user, without capabilities or a way to gain them.
#
# Wants to be root in a mount namespace of its own: unshare --mount confine.sh ROOT IMAGE NODE TMP ACCOUNT UID:GID PROGRAM…
set -eu
root=$1 image=$2 node=$3 scratch=$4 account=$5 user=$6
shift 6

mount --make-rprivate /
mount -t tmpfs -o mode=755 root "$root"
for folder in "$image"/*; do
  mkdir "$root/${folder##*/}"
  mount --bind "$folder" "$root/${folder##*/}"
done
for libraries in lib lib64 usr/lib; do
  [ -d "/$libraries" ] || continue
  mkdir -p "$root/$libraries"
  mount --bind "/$libraries" "$root/$libraries"
done
mkdir -p "$root/nodejs/bin" "$root/etc" "$root/dev" "$root/proc" "$root/tmp" "$root/var/run/secrets/kubernetes.io/serviceaccount"
for file in nodejs/bin/node=$node etc/hosts=/etc/hosts etc/resolv.conf=/etc/resolv.conf etc/nsswitch.conf=/etc/nsswitch.conf; do
  : >"$root/${file%%=*}"
  mount --bind "${file#*=}" "$root/${file%%=*}"
done
mount --bind /dev "$root/dev"
mount --bind /proc "$root/proc"
mount --bind "$scratch" "$root/tmp"
mount --bind "$account" "$root/var/run/secrets/kubernetes.io/serviceaccount"
mount -o remount,ro "$root"

# chroot alone needs privileges, which go with the user; what is left of the bounding set cannot be gained by any file.
exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+sys_chroot,+setuid,+setgid \
  chroot --userspec="$user" --groups= "$root" "$@"
