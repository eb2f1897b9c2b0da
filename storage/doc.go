// Package storage keeps the durable state of one member: a record for the member itself, and one for each of its groups.
//
// [Init] makes a store in a directory, once in the life of a member. [Open] locks and reads it. [Directory.Save]
// returns when the records are durable. It writes pages that exist already, and flushes once for all of them.
// [Memory] is a store for tests. Other stores implement [Storage].
//
// # The file
//
// A store is one file of pages of 4096 bytes, in pairs. The first pair is the header: format, ID, owner, number
// of records. Each other pair is for one record. Save writes the page of a pair that does not count, so the page that
// counts is never at risk. The n-th write of a pair has sequence number n, and even numbers go to the first page.
//
// A page has eight sectors of 512 bytes, and each ends in a seal: the sequence number, the checksum of the sector, and
// a checksum of these two together with the ID of the store, the number of the page, and the number of the sector.
// So a valid seal proves that this store wrote that sequence number at that place. A page is whole if its eight seals are
// valid with one number, and no sector is damaged.
//
// # What counts after a crash
//
// A crash during Save leaves any sectors of a page new and the others old. That write was never acknowledged, and the other page
// of the pair counts. Damage to a write that was acknowledged is different: the state is lost, and the page
// before it must not count, because it would break a promise. A checksum of the whole page fails in both cases. The seals
// tell them apart:
//
//  1. The whole page with the highest number counts. Without a whole page the store is damaged.
//  2. If the other page is not whole, one of its valid seals must have a lower number than another valid seal of the pair.
//     Otherwise the store is damaged.
//
// Proof that no acknowledged write is lost. Let s be the last write of a pair that was acknowledged, and its page damaged.
// All seals of that page had the number s. Damage makes seals invalid, but makes no valid ones, so those that
// are left still have it. The other page counts only if it is whole. It may be whole with a later write, which is not a
// loss. If it is whole with an earlier one, no seal of the pair is higher than s, and none of the damaged page is lower: by
// rule 2 the store is damaged.
//
// Proof that a crash is survived. Let s be the number of the write that was cut short. The other page is the one that counts, and
// is whole. A sector that was not written has a seal with a lower number than s, since no number is used
// twice on a page. If any sector was written, the two seals differ. If none was, the page is what it was before: whole, or
// cut short by an earlier attempt. Rule 2 holds in each case. So Save takes a new number after a failed attempt, too.
//
// The second proof assumes that a sector is written as a whole or not at all, as devices promise. If one is cut inside, almost
// always another sector has an old seal. In the worst case the store is refused although nothing is lost.
// The first proof assumes that a device keeps what it has flushed. If it loses an acknowledged write, or an older
// copy of the file is put back, each page is valid and old, and no file can prove that. Checksums have 32 bits: a seal that becomes another
// valid one by chance has a probability of 2⁻³².
//
// # What has been read is durable
//
// A process may be killed between a write and its flush. The next one reads the write from the cache of the operating
// system, and acts on it; then the power fails, and the write is gone. Therefore Open writes all that it has read again, and flushes it,
// before it returns. A flush alone is not enough: after a flush has failed, systems drop the pages from the list of what
// is to be written, keep them in the cache, and report success the next time. For the same reason a process that
// has seen a flush fail saves nothing any more.
//
// # What a store cannot see
//
// A copy of the directory, by cp, by hard links or from a backup, has the same ID and a lock of its own. Two
// processes that open both are one member twice. Only their peers can see that.
//
// Save finds out if the file was removed. It goes on in a directory that was renamed, and does not touch
// the one that has taken its name. [Directory.Probe] reports both, and whether the device answers: it writes a file of its own.
//
// A crash during Save may leave some of its records new and others old. Each record is whole.
//
// The API of this package is v1: what it exports stays, and keeps its meaning.
package storage
