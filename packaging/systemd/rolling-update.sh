#!/bin/sh
# Updates the members of a group on their hosts, one after the other, the leader last:
#
#     rolling-update.sh NAME COMMAND HOST...
#     rolling-update.sh jobs 'apt-get install -y ringleader' a.example b.example c.example
#
# NAME is that of the unit ringleader@NAME. COMMAND runs on each host while the member runs there, and the member starts again then. Its next host
# follows when the member is ready: it knows the leader, and is warm. A member that leads hands over to a warm one before it stops. $SSH runs a
# command on a host (default: ssh). $HTTP is --http of each member on its own host (default: 127.0.0.1:8001). $LIMIT is how many seconds a member has
# to be ready (default: 120).
set -eu
[ $# -ge 3 ] || { echo "usage: $0 NAME COMMAND HOST..." >&2; exit 64; }
name=$1 update=$2
shift 2
ssh=${SSH:-ssh} http=${HTTP:-127.0.0.1:8001} limit=${LIMIT:-120}

asks() { $ssh "$1" "curl --noproxy '*' -sf -m 2 -o /dev/null http://$http/$2"; }

# await HOST waits until its member is ready.
await() {
	tries=0
	until asks "$1" readyz; do
		tries=$((tries + 1))
		[ "$tries" -lt "$limit" ] || { echo "$0: the member on $1 is not ready after $limit tries; the other hosts stay as they are" >&2; exit 1; }
		sleep 1
	done
}

renew() {
	echo "$1"
	$ssh "$1" "$update"
	$ssh "$1" "systemctl restart ringleader@$name"
	await "$1"
}

leaders=
for host; do
	await "$host" # a majority has to be there before one member stops
done
for host; do
	if asks "$host" leader; then
		leaders="$leaders $host" # one, as long as its lead lasts
	else
		renew "$host"
	fi
done
for host in $leaders; do
	renew "$host"
done
