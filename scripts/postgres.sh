#!/usr/bin/env bash
# A PostgreSQL server for tests and measurements: in a temporary folder, on a socket in it, on no network.
# Usage: scripts/postgres.sh                make sure that a server is installed; print the folder of its programs
#        scripts/postgres.sh start FOLDER   start one that keeps everything in FOLDER (made if it is not there); print its address
#        scripts/postgres.sh restart FOLDER [fast|immediate]    stop it, at once if so said, and start it again
#        scripts/postgres.sh stop FOLDER
# As root it runs as the user postgres, since a server refuses to run as root.
set -euo pipefail
find_programs() {
    local folder
    for folder in $(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2>/dev/null | sort -rV) \
        "$(dirname "$(command -v initdb 2>/dev/null || echo /-/-)")"; do
        [ -x "$folder/initdb" ] && [ -x "$folder/pg_ctl" ] && echo "$folder" && return 0
    done
    return 1
}
install_server() {
    find_programs && return 0
    if ! command -v apt-get >/dev/null; then
        echo "expected a PostgreSQL server; there is none, and no apt-get to install one: install postgresql by hand" >&2
        return 1
    fi
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "no PostgreSQL server, and only root may install one: run as root: apt-get install postgresql" >&2
            return 1
        fi
        as_root=(sudo -n)
    fi
    "${as_root[@]}" apt-get update -qq >&2 || echo "apt-get update failed; trying with the lists that are there" >&2
    # Debian's package would start a server of its own at once; this file keeps it from doing so.
    "${as_root[@]}" mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" | "${as_root[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >&2
    find_programs || {
        echo "postgresql was installed and its programs are not there" >&2
        return 1
    }
}
as_server() {
    if [ "$(id -u)" -eq 0 ]; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}

command=${1:-}
if [ -z "$command" ]; then
    install_server
    exit
fi
programs=$(find_programs) || {
    echo "there is no PostgreSQL server on this machine; to install one: scripts/postgres.sh" >&2
    exit 1
}
folder=$(realpath -m "${2:?which folder? see the first lines of this script}")
control() {
    # Not in the folder of whoever calls, which the user postgres need not be allowed to enter.
    (cd / && as_server "$programs/pg_ctl" -D "$folder/data" -s -w -t 60 "$@" </dev/null >>"$folder/messages" 2>&1) || {
        tail -n 20 "$folder/messages" "$folder/data/log" >&2
        return 1
    }
}
case $command in
start)
    if [ ! -e "$folder/data/PG_VERSION" ]; then
        mkdir -p "$folder"
        [ "$(id -u)" -ne 0 ] || chown postgres "$folder"
        (cd / && as_server "$programs/initdb" -D "$folder/data" -U teamworld -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
            >"$folder/messages") # --no-sync: of this folder nothing survives a power cut, and nothing has to
        as_server tee -a "$folder/data/postgresql.conf" >/dev/null <<CONF
listen_addresses = ''
unix_socket_directories = '$folder'
max_connections = 40
CONF
        # The role guarded, if a test makes it, needs a password.
        as_server sed -i '1i local all guarded scram-sha-256' "$folder/data/pg_hba.conf"
    fi
    control -l "$folder/data/log" start
    echo "postgresql://teamworld@/postgres?host=$folder"
    ;;
restart)
    control -l "$folder/data/log" -m "${3:-fast}" restart
    ;;
stop)
    control -m fast stop
    ;;
*)
    echo "unknown: $command; see the first lines of this script" >&2
    exit 1
    ;;
esac
