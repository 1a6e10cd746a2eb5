# Functions of scripts that install packages from Debian. Source it after setting `work`, a folder for temporary files.

seconds=${TOOLS_SECONDS:-600}
policy=${POLICY_FILE:-/usr/sbin/policy-rc.d}

missing() {
  echo "SKIPPED: the specs that need $1, which is missing: $2"
}

apt() {
  timeout "$seconds" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 \
    -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@" </dev/null >"$work/log" 2>&1
}

# Package lists may be absent or old, which shows only when a package cannot be installed.
with_lists() {
  apt "$@" || { [ "$(id -u)" -eq 0 ] && apt update && apt "$@"; }
}

# While this file exists, no package starts a server. An existing file is not changed.
without_services() {
  made=$policy
  if [ -e "$policy" ] || ! printf '#!/bin/sh\nexit 101\n' >"$policy" 2>/dev/null; then made=; fi
  [ -z "$made" ] || chmod 755 "$made"
  "$@"
  ended=$?
  [ -z "$made" ] || rm -f "$made"
  return "$ended"
}

# Installs a package, or prints which specs are skipped without it. Its unit, if it has one, is disabled.
install_or_tell() {
  if ! command -v apt-get >/dev/null 2>&1; then missing "$1" 'this machine has no apt'
  elif [ "$(id -u)" -ne 0 ]; then missing "$1" 'only root may install it'
  elif without_services with_lists install --no-install-recommends "$2"; then
    [ -z "${3:-}" ] || systemctl disable "$3" >/dev/null 2>&1
    echo "Installed $1"
  else missing "$1" 'apt cannot install it:'; tail -n 3 "$work/log" 2>/dev/null
  fi
}
