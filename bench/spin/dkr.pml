/* Dolev, Klawe, Rodeh, simple algorithm, on a ring of N processes with the identifiers 1 … N. To receive, to compute and to
   send is one step. ORDER is 0 for the decreasing order, and 1 for every order. */
mtype = { one, two, winner }

chan link[N] = [2 * N] of { mtype, byte };
byte leaders;

proctype process(byte me; byte id) {
	byte seen, neighbour, max;
	bool standing, know;

	atomic { standing = true; max = id; link[me]!one(id) }
	do
	:: atomic { link[(me + N - 1) % N]?one(seen) ->
		if
		:: standing && seen != max -> neighbour = seen; link[me]!two(seen)
		:: standing && seen == max -> know = true; link[me]!winner(seen)
		:: else -> link[me]!one(seen)
		fi;
		seen = 0 }
	:: atomic { link[(me + N - 1) % N]?two(seen) ->
		if
		:: standing && neighbour > seen && neighbour > max -> max = neighbour; link[me]!one(max)
		:: standing && !(neighbour > seen && neighbour > max) -> standing = false
		:: else -> link[me]!two(seen)
		fi;
		seen = 0 }
	:: atomic { link[(me + N - 1) % N]?winner(seen) ->
		if
		:: seen == id -> leaders++; assert(leaders == 1)
		:: else -> skip
		fi;
		if
		:: !know -> link[me]!winner(seen)
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
