#!/bin/sh
# Makes etcd, kube-apiserver and kube-controller-manager in the folder that is the only argument: etcd as Debian 12
# packages it, Kubernetes 1.20.2 built from Debian's source package with Debian's Go 1.19. Takes a machine with apt, a few
# minutes and 3 GB for as long. Nothing outside the folder is changed, save that root without dpkg-dev gets it installed.
set -eu

[ $# -eq 1 ] || { echo "Usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
destination=$(cd "$1" && pwd)
release=bookworm
kubernetes=1.20.2

fail() {
  echo "Cannot make a Kubernetes control plane: $*" >&2
  exit 1
}

# Of two runs at once, the later one waits and has what the earlier made.
exec 9>"$destination/.lock"
flock 9
if [ -x "$destination/kube-apiserver" ]; then
  echo 'Made by another run'
  exit 0
fi

has() {
  command -v "$1" >/dev/null 2>&1
}
has apt-get || fail 'apt-get is missing; it takes Debian'
if ! { has dpkg-source && has patch && has xz; }; then
  [ "$(id -u)" -eq 0 ] || fail 'dpkg-dev is missing: sudo apt-get install dpkg-dev'
  apt-get -qq update >/dev/null 2>&1 || true # lists that are there already may do
  apt-get -qq install --yes --no-install-recommends dpkg-dev xz-utils >/dev/null 2>&1 || fail 'dpkg-dev cannot be installed'
fi

find "$destination" -maxdepth 1 -name 'making-*' -mmin +120 -exec rm -rf {} + # left by one that was killed
workshop=$(mktemp -d "$destination/making-XXXXXX")
trap 'chmod -R u+w "$workshop"; rm -rf "$workshop"' EXIT
trap 'exit 1' HUP INT TERM

# apt with sources, lists and caches of its own. Mirrors are private to a machine, so their names stay out of what is said.
mkdir -p "$workshop/apt/lists/partial" "$workshop/apt/cache/archives/partial"
: >"$workshop/apt/status"
private_apt() {
  (cd "$workshop" && apt-get -qq \
    -o Dir::Etc::SourceList="$workshop/apt/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State="$workshop/apt" -o Dir::State::Lists="$workshop/apt/lists" -o Dir::State::Status="$workshop/apt/status" \
    -o Dir::Cache="$workshop/apt/cache" -o APT::Sandbox::User="$(id -un)" "$@") >"$workshop/apt/log" 2>&1
}
apt_says() {
  sed -E 's#[a-z+]+://[^ ]*#(mirror)#g' "$workshop/apt/log" | tail -n 5
}

# The machine's own sources tell which mirror it can reach; what is wanted of it is one release, whatever the machine runs.
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [ -e "$keyring" ]; then signed="[signed-by=$keyring]"; else signed=; fi
answered=
for mirror in $(apt-get indextargets --no-release-info --format '$(REPO_URI)' 'Created-By: Packages' | sort -u); do
  printf '%s\n' "deb $signed $mirror $release main" "deb-src $signed $mirror $release main" >"$workshop/apt/sources.list"
  if private_apt -o APT::Update::Error-Mode=any update; then answered=yes && break; fi
done
[ -n "$answered" ] || fail "no apt source of this machine has Debian $release: $(apt_says)"

echo 'Getting etcd, Go and the source of Kubernetes'
private_apt download etcd-server golang-1.19-go golang-1.19-src \
  golang-github-json-iterator-go-dev golang-github-modern-go-reflect2-dev || fail "$(apt_says)"
private_apt source --download-only kubernetes || fail "$(apt_says)"
for package in "$workshop"/*.deb; do dpkg-deb --extract "$package" "$workshop/root"; done
tree=$workshop/gopath/src/k8s.io/kubernetes
mkdir -p "$workshop/gopath/src/k8s.io"
dpkg-source --extract "$workshop"/kubernetes_*.dsc "$tree" >"$workshop/unpacking" 2>&1 || fail "$(tail -n 5 "$workshop/unpacking")"

# The reflect2 that comes with the source reads maps as Go 1.17 laid them out; built with a later one, the API server crashes
# when a custom resource is created.
for library in json-iterator/go modern-go/reflect2; do
  rm -r "$tree/vendor/github.com/$library"
  cp -R "$workshop/root/usr/share/gocode/src/github.com/$library" "$tree/vendor/github.com/$library"
done

export GOROOT="$workshop/root/usr/lib/go-1.19" GOPATH="$workshop/gopath" GOCACHE="$workshop/gocache"
export GO111MODULE=off GOFLAGS= GOTOOLCHAIN=local CGO_ENABLED=0 GOTMPDIR="$workshop"
PATH="$GOROOT/bin:$PATH"
cd "$tree"

# The one generated file that the source lacks: the OpenAPI definitions of every package that is tagged for it.
echo 'Generating OpenAPI definitions'
go build -o "$workshop/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
tagged=$(grep -rl --include='*.go' '^// +k8s:openapi-gen=true' pkg staging/src/k8s.io vendor/k8s.io/kube-aggregator 2>/dev/null |
  sed -E 's#/[^/]*$##; s#^staging/src/#vendor/#' | sort -u | sed 's#^#k8s.io/kubernetes/#' | paste -sd, -)
"$workshop/openapi-gen" --logtostderr -i "$tagged" -p k8s.io/kubernetes/pkg/generated/openapi -O zz_generated.openapi \
  -h /dev/null -r "$workshop/violations" 2>"$workshop/generating" || fail "$(tail -n 5 "$workshop/generating")"

echo 'Building kube-apiserver and kube-controller-manager, which takes about three minutes on two cores'
stamps='-s -w'
for package in pkg/version vendor/k8s.io/client-go/pkg/version vendor/k8s.io/component-base/version; do
  for stamp in "gitVersion=v$kubernetes" gitMajor=1 gitMinor=20 gitTreeState=archive; do
    stamps="$stamps -X k8s.io/kubernetes/$package.$stamp"
  done
done
go build -o "$workshop/" -ldflags "$stamps" ./cmd/kube-apiserver ./cmd/kube-controller-manager

# The API server goes last: where it is, everything is.
for binary in "$workshop/kube-controller-manager" "$workshop/root/usr/bin/etcd" "$workshop/kube-apiserver"; do
  mv "$binary" "$destination/"
done
echo 'Made etcd, kube-apiserver and kube-controller-manager'
