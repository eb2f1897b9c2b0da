package model

// sight is a kind of event that a report names.
type sight uint8

// The sights.
const (
	SawLeader sight = iota
	sawSuccessor
	sawAnew
	sawLapse
	sawStop
	sawOrphan
	sawCrash
	sawRecovery
	sawLoss
	sawDuplicate
	sawOvertaking
	sawCut
	sawSuspicion
	sawCommand
	sawProof
)

func (c *Checker) saw(s sight) { c.Seen |= 1 << s }

// Sightings returns the events that may happen in the explored model, and which of them have been seen.
func (c *Checker) Sightings(seen uint32) (all []sighting) {
	o, leased := c.Options, c.Declaration.Leased
	for s, e := range [...]struct {
		can   bool
		event string
		twins []string
	}{
		SawLeader:     {true, "a process led", []string{TwoLeaders, WrongLeader}},
		sawSuccessor:  {leased && c.N > 1, "another process led in a later term", []string{TwoLeases, TwoInTerm, WrongTerm}},
		sawAnew:       {leased, "a process led again in a later term", []string{Unpaired}},
		sawLapse:      {leased, "the lease of a leader ran out", []string{Revived}},
		sawStop:       {leased && c.Functions.Command, "a host stopped the work of a leader", []string{Unpaired}},
		sawOrphan:     {leased && o.Crashes > 0 && !o.Wardens, "the lease of a crashed leader ran out", []string{TwoLeases}},
		sawCrash:      {o.Crashes > 0, "a process crashed", nil},
		sawRecovery:   {o.Recoveries > 0, "a process recovered", nil},
		sawLoss:       {o.Losses > 0, "a message was lost", nil},
		sawDuplicate:  {o.Duplicates > 0, "a message arrived twice", nil},
		sawOvertaking: {o.Unordered, "a message overtook another one", nil},
		sawCut:        {o.Cuts > 0, "a cut separated processes", nil},
		sawSuspicion:  {o.Suspicions > 0, "a live process was suspected", nil},
		sawCommand:    {o.Commands > 0, "a process was asked to resign", nil},
		sawProof:      {o.Wardens && o.Crashes > 0, "a process learned of a proven death", nil},
	} {
		if e.can {
			all = append(all, sighting{e.event, seen>>s&1 == 1, e.twins})
		}
	}
	return all
}

// sighting is an event that may happen, and whether it has.
type sighting struct {
	Event      string
	Happened   bool
	Properties []string // that it gives a meaning; none for a fault
}
