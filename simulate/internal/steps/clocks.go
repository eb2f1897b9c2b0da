package steps

import (
	"math/big"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
)

// Drift is a clock with a wrong rate.
type Drift faults.Drift

// Real returns the time, on the clock of the run, in which this clock counts that much: rounded up, never less.
func (d *Drift) Real(local election.Ticks) election.Ticks {
	return scaled(local, d.Of, d.Times, true)
}

// Local returns the reading of this clock at a time of the run.
func (d *Drift) Local(now election.Ticks) election.Ticks { return scaled(now, d.Times, d.Of, false) }

// scaled returns t · times / of, rounded.
func scaled(t election.Ticks, times, of uint64, up bool) election.Ticks {
	product := new(big.Int).Mul(t.Big(), new(big.Int).SetUint64(times))
	quotient, rest := product.QuoRem(product, new(big.Int).SetUint64(of), new(big.Int))
	if up && rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	ticks, ok := election.TicksOf(quotient)
	if !ok {
		panic(election.ErrTime)
	}
	return ticks
}

// LazyClocks are the clocks of a session in lazy time.
type LazyClocks struct {
	Err    faults.Chance
	Pace   uint64           // how many units of the clocks pass at once; 0 is one
	Gained []election.Ticks // by process: what its clock of deadlines has gained
	Ahead  []election.Ticks // by process: what both of its clocks have gained, in a recorded run
}

// Step is the time that passes at once, in units of the true time. At its multiples all clocks show whole units.
func (l *LazyClocks) Step() election.Ticks {
	return election.Units(max(1, l.Err.Of)).Times(max(1, l.Pace))
}

// Timers returns what the clock of timers of a process shows at a moment.
func (l *LazyClocks) Timers(p int, now election.Ticks) election.Ticks {
	if l.Err.Times > 0 {
		now = scaled(now, l.Err.Of+l.Err.Times, l.Err.Of, false)
	}
	return now.Add(l.Ahead[p])
}

// Deadlines returns what the clock of a process shows on which it reads deadlines.
func (l *LazyClocks) Deadlines(p int, now election.Ticks) election.Ticks {
	if l.Err.Times > 0 {
		now = scaled(now, l.Err.Of-l.Err.Times, l.Err.Of, false)
	}
	return now.Add(l.Gained[p]).Add(l.Ahead[p])
}
