#!/bin/sh
# Installs missing servers that specs and the acceptance run query, from Debian, if that is permitted. It starts none: specs
# start their own. It never fails: a spec without its server skips itself and prints that.
set -u

# Some are in folders that are only in the PATH of root.
PATH=$PATH:${SERVER_FOLDERS:-/usr/sbin:/usr/local/sbin}

has_postgres() {
  command -v postgres >/dev/null 2>&1 || ls "${POSTGRES_FOLDER:-/usr/lib/postgresql}"/*/bin/postgres >/dev/null 2>&1
}

work=$(mktemp -d) || exit 0
trap 'rm -rf "$work"' EXIT
. "${0%/*}/debian-packages.sh"

command -v prometheus >/dev/null 2>&1 || install_or_tell Prometheus prometheus prometheus
command -v mariadbd >/dev/null 2>&1 || install_or_tell MariaDB mariadb-server mariadb
command -v nats-server >/dev/null 2>&1 || install_or_tell NATS nats-server nats-server
command -v redis-server >/dev/null 2>&1 || install_or_tell Redis redis-server redis-server
[ -e "${RABBITMQ_FOLDER:-/usr/lib/rabbitmq/bin}/rabbitmq-server" ] || install_or_tell RabbitMQ rabbitmq-server rabbitmq-server
has_postgres || install_or_tell PostgreSQL postgresql postgresql
exit 0
