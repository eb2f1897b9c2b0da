// Package leadergocron lets the schedulers of gocron run each job on the leader of a group alone.
//
// gocron asks before each run of a job. Choose one of two answers:
//
//   - [NewElector] makes a gocron.Elector. It needs nothing else: a majority of the group confirms before each run that this member leads.
//     The run itself is not guarded: if the lead changes while it lasts, the next leader may begin another run beside it.
//   - [Locker] is a gocron.Locker. [Locker.Run] stands for election, and a lead ends only when the runs of its jobs have ended. So runs of two
//     members never overlap. A run that has not ended shortly before the end of the lease ends the process: see
//     ringleader.Config.Overrun.
//
// Both need members with the same jobs, and cron expressions or start times that all members calculate alike. A time at which no member
// leads is skipped, as gocron does when it is refused. A change of the leader near a time may lose its run, or run it twice if clocks differ.
// A job that must not do its work twice keeps what it has done, with the term of its leader: see package fence.
package leadergocron
