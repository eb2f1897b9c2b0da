#!/bin/sh
# Holds an address on the leader, in place of keepalived:
#
#     ringleader exec --config /etc/ringleader/NAME.toml -- virtual-ip.sh 10.0.0.100/24 eth0
#
# The kernel drops an address that is not renewed for three seconds. So it goes away also when this script is killed, as
# with its member, or cannot run. Neighbours learn from arping (package iputils-arping) where the address is.
set -eu
address=$1 interface=$2
trap 'ip address del "$address" dev "$interface"; exit 0' TERM INT
while :; do
	ip address replace "$address" dev "$interface" valid_lft 3 preferred_lft 3
	arping -q -c 1 -U -I "$interface" "${address%/*}" || true # the next second has another one
	sleep 1 &
	wait $! # a signal ends this at once
done
