#!/bin/sh
# Gives the pod of the leader the label ringleader.example/role=leader, and the others =follower. It runs in each pod.
#
# POD is the name of this pod, PODS are those of all members, NAMESPACE is theirs. A leader takes the label from the others
# first: the pod of a leader that was cut off cannot do that itself.
set -u
api=${API:-https://${KUBERNETES_SERVICE_HOST-}:${KUBERNETES_SERVICE_PORT-}}
account=${ACCOUNT:-/var/run/secrets/kubernetes.io/serviceaccount}
member=${MEMBER:-http://127.0.0.1:8001}

label() {
	curl --noproxy '*' -sf -m 2 -o /dev/null -X PATCH --cacert "$account/ca.crt" \
		-H "Authorization: Bearer $(cat "$account/token")" -H 'Content-Type: application/merge-patch+json' \
		-d "{\"metadata\":{\"labels\":{\"ringleader.example/role\":\"$2\"}}}" "$api/api/v1/namespaces/$NAMESPACE/pods/$1"
}

given= turn=0
trap 'exit 0' TERM INT
while :; do
	role=follower
	if curl --noproxy '*' -sf -m 1 -o /dev/null "$member/leader"; then
		role=leader
		turn=$((turn + 1))
		[ $((turn % 5)) != 0 ] || given= # a leader before may have taken the label late, or one may have led between two looks
	fi
	if [ "$role" != "$given" ]; then
		if [ "$role" = leader ]; then
			for pod in $PODS; do
				[ "$pod" = "$POD" ] || label "$pod" follower # a pod may be missing
			done
		fi
		label "$POD" "$role" && given=$role
	fi
	sleep 1 &
	wait $!
done
