#!/bin/sh
# Installs missing tools of some specs from Debian: promtool into the folder .cache/tools, and Chromium into the system.
# It never fails: a spec without its tool skips itself and prints that.
set -u

tools=${TOOLS_FOLDER:-.cache/tools}
chromium=${CHROMIUM:-/usr/bin/chromium}

# Only the program is unpacked: the installed package would start a server when the machine starts.
get_promtool() {
  (cd "$work" && with_lists download prometheus) || return 1
  dpkg-deb --fsys-tarfile "$work"/prometheus_*.deb | tar -x -C "$work" ./usr/bin/promtool || return 1
  "$work/usr/bin/promtool" --version >/dev/null 2>&1 || return 1
  mkdir -p "$tools" && mv "$work/usr/bin/promtool" "$tools/promtool"
}

work=$(mktemp -d) || exit 0
trap 'rm -rf "$work"' EXIT
. "${0%/*}/debian-packages.sh"

if ! PATH="$tools:$PATH" command -v promtool >/dev/null 2>&1; then
  if ! command -v apt-get >/dev/null 2>&1; then missing promtool 'this machine has no apt'
  elif get_promtool; then echo "Installed promtool in $tools"
  else missing promtool 'apt cannot get it:'; tail -n 3 "$work/log" 2>/dev/null
  fi
fi

[ -x "$chromium" ] || install_or_tell Chromium chromium
exit 0
