// Package record is the flight recorder of a member: what its machine was given and what it did, so that it can be replayed, and what
// the host saw beside it, so that it can be judged.
//
// # Segments
//
// A record is a row of segments, each a file or a part of an archive. An archive is segments one after the other, nothing else. A segment can be
// read and replayed without the others: it begins with a [Head], and the first [Step] of each group follows a [Snapshot]. A [Writer] begins a new
// segment when the present one is full, when entries were lost, and in each life of the member.
//
// # Blocks
//
// A segment is a row of blocks. A block begins with two bytes, F5 9D. Then come its kind (1 byte: 1 is a head, 2 are entries), the length of its payload
// (3 bytes, little-endian), and a checksum of kind, length and payload (CRC-32C, 4 bytes). The payload of a head is JSON. A block of
// entries begins with a mark of its segment, as the head of the next one may be lost (4 bytes), with its number in the segment, from 1 on, with the reading of Boottime, and with how much Monotonic is ahead of that. A reader looks for the next block
// whose checksum holds: a block that is damaged costs no more than its entries, and those that refer to it.
//
// A writer writes the last block again whenever it grows, in its place. So what was written survives the death of the process. Nothing is
// flushed: a power failure loses what the operating system has not written yet, on Linux the last half minute. On Linux the last blocks are in memory
// of the machine, too, so that few writes are enough.
//
// # Entries
//
// An entry begins with its kind, and the time since the entry before it, in units of [Resolution]. All entries but steps say how long they are, so a reader can
// skip a kind that it does not know. Their contents are JSON, and that of a snapshot has the state of the machine in it. JSON can get more fields.
//
// A step is told by its difference from the last one of its class in the segment. The class is the group, the event, its port, the kind of the message, and the timer.
// Most steps of a group that has a leader differ only in numbers that grow by the same amount each time. Such a step is one byte for its class and
// some more for its time and for a check of the state. The ends of leases are told from the last step in which a timer
// expired. Lost blocks make the later steps of their classes unreadable, up to the end of the segment.
package record
