/* LCR on a ring of N processes with the identifiers 1 … N. To receive, to compute and to send is one step. ORDER is 0 for
   the decreasing order, and 1 for every order. */
mtype = { election, leader }

chan link[N] = [N + 1] of { mtype, byte };
byte leaders;

proctype process(byte me; byte id) {
	byte seen;

	link[me]!election(id);
	do
	:: atomic { link[(me + N - 1) % N]?election(seen) ->
		if
		:: seen > id -> link[me]!election(seen)
		:: seen == id -> leaders++; assert(leaders == 1); link[me]!leader(id)
		:: else -> skip
		fi;
		seen = 0 }
	:: atomic { link[(me + N - 1) % N]?leader(seen) ->
		if
		:: seen != id -> link[me]!leader(seen)
		:: else -> skip
		fi;
		seen = 0;
		break }
	od
}

/* FREE is a choice of an identifier that no process has yet. */
#define FREE(i) i <= N && !taken[i] -> id = i

init {
	byte p, id;
	bool taken[9];

	atomic {
		do
		:: p < N ->
			if
			:: ORDER == 0 -> id = N - p
			:: ORDER == 1 ->
				if
				:: FREE(1)
				:: FREE(2)
				:: FREE(3)
				:: FREE(4)
				:: FREE(5)
				:: FREE(6)
				:: FREE(7)
				:: FREE(8)
				fi
			fi;
			taken[id] = true;
			run process(p, id);
			p++
		:: else -> break
		od;
		p = 0;
		id = 0
	}
}
