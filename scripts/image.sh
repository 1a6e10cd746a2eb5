#!/bin/sh
# Builds the container image with docker or podman: make image IMAGE=registry.example/metrics-server:1.0
set -eu

image=${IMAGE:-metrics-server:dev}

# Engines use this as the date of the image; newer ones also as the date of its files.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH

# Base images to use instead of those of the Dockerfile.
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
echo "Cannot build the image $image: neither docker nor podman responds on this machine." >&2
echo "Built dist/ instead, the content of the image except Node 24; to try it, run npm exec -- node dist/main.js --help" >&2
exit 1
