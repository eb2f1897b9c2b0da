// Package explain tells from the records of members why their leader has changed.
//
// It joins the records to one time line, on which each member has lives, and leaders have tenures. For each tenure that has ended it looks for
// the cause, with the evidence. It calls a cause certain only if the record of the member that ended the tenure, or of one that was told, has it in
// so many words. Everything that it concludes from times is likely. What no record has is unknown, and it says which record is missing.
//
// Members on one start of one operating system have the same clock. The clocks of others are joined by the messages between them: none arrives
// before it was sent.
package explain
