#!/bin/sh
# Builds the container image with whichever engine answers: make image IMAGE=registry.example/metrics-server:1.0
set -eu

image=${IMAGE:-metrics-server:dev}

# Engines date the image by this, and newer ones its files.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH

# The images to build on, where others than the Dockerfile's are wanted.
for base in "BUILD_BASE=${BUILD_BASE:-}" "RUNTIME_BASE=${RUNTIME_BASE:-}"; do
  [ -z "${base#*=}" ] || set -- "$@" --build-arg "$base"
done

for engine in docker podman; do
  if command -v "$engine" >/dev/null 2>&1 && "$engine" info >/dev/null 2>&1; then
    "$engine" build --tag "$image" "$@" .
    echo "Built the image $image with $engine"
    exit 0
  fi
done

npm run -s build
echo "Cannot build the image $image: neither docker nor podman answers on this machine." >&2
echo "Built dist/ instead, all that the image would hold besides Node 24; npm exec -- node dist/main.js --help tries it" >&2
exit 1
