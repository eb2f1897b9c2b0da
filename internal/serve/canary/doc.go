// Package canary writes and flushes something of no meaning in directories, to find out whether they work, in a process of its own. A write to a
// network file system that gives no answer, or to one that is frozen, blocks without an end, and no signal ends a process that has such a
// write under way. Here that is a process that nothing waits for: it holds up neither the member, nor the end of that, nor the proof of
// its death. It ends by itself soon after its member has ended and the directory has answered.
//
// A program can start that process if its main function calls [Be] at its beginning. Otherwise the directories are used in the process of the
// member itself.
package canary
