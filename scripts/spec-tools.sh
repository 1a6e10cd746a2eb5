#!/bin/sh
# Gets what some specs need beyond npm's packages, from Debian's archive, where it is missing: promtool into the folder
# .cache/tools, and Chromium into the system. It never fails: a spec whose tool is missing skips itself, and says so.
set -u

tools=${TOOLS_FOLDER:-.cache/tools}
chromium=${CHROMIUM:-/usr/bin/chromium}
seconds=${TOOLS_SECONDS:-600}
policy=${POLICY_FILE:-/usr/sbin/policy-rc.d}

missing() {
  echo "SKIPPED: the specs that need $1, for it is missing and $2"
}

apt() {
  timeout "$seconds" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 \
    -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@" </dev/null >"$work/log" 2>&1
}

# Package lists may be absent or old, which only shows when a package cannot be had.
with_lists() {
  apt "$@" || { [ "$(id -u)" -eq 0 ] && apt update && apt "$@"; }
}

# The program alone is unpacked: installed, its package would run a server from the next start of the machine on.
get_promtool() {
  (cd "$work" && with_lists download prometheus) || return 1
  dpkg-deb --fsys-tarfile "$work"/prometheus_*.deb | tar -x -C "$work" ./usr/bin/promtool || return 1
  "$work/usr/bin/promtool" --version >/dev/null 2>&1 || return 1
  mkdir -p "$tools" && mv "$work/usr/bin/promtool" "$tools/promtool"
}

# No package may start a server while this file says so. One that is there already is left as it is.
without_services() {
  if [ -e "$policy" ] || ! printf '#!/bin/sh\nexit 101\n' >"$policy" 2>/dev/null; then policy=; fi
  [ -z "$policy" ] || chmod 755 "$policy"
  "$@"
  ended=$?
  [ -z "$policy" ] || rm -f "$policy"
  return "$ended"
}

work=$(mktemp -d) || exit 0
trap 'rm -rf "$work"' EXIT

if ! PATH="$tools:$PATH" command -v promtool >/dev/null 2>&1; then
  if ! command -v apt-get >/dev/null 2>&1; then missing promtool 'this machine has no apt'
  elif get_promtool; then echo "promtool is in $tools now"
  else missing promtool 'apt cannot get it:'; tail -n 3 "$work/log" 2>/dev/null
  fi
fi

if [ ! -x "$chromium" ]; then
  if ! command -v apt-get >/dev/null 2>&1; then missing Chromium 'this machine has no apt'
  elif [ "$(id -u)" -ne 0 ]; then missing Chromium 'only root may install it'
  elif without_services with_lists install --no-install-recommends chromium; then echo 'Chromium is installed now'
  else missing Chromium 'apt cannot install it:'; tail -n 3 "$work/log" 2>/dev/null
  fi
fi
exit 0
