package simulate

import (
	"math/big"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
)

// drift is a clock with a wrong rate.
type drift faults.Drift

// real returns the time, on the clock of the run, in which this clock counts that much: rounded up, never less.
func (d *drift) real(local election.Ticks) election.Ticks {
	return scaled(local, d.Of, d.Times, true)
}

// local returns the reading of this clock at a time of the run.
func (d *drift) local(now election.Ticks) election.Ticks { return scaled(now, d.Times, d.Of, false) }

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

// lazyClocks are the clocks of a session in lazy time.
type lazyClocks struct {
	err    faults.Chance
	gained []election.Ticks // by process: what its clock of deadlines has gained
}

// step is the time that passes at once, in units of the true time. At its multiples all clocks show whole units.
func (l *lazyClocks) step() election.Ticks { return election.Units(max(1, l.err.Of)) }

// timers returns what the clocks of timers show at a moment.
func (l *lazyClocks) timers(now election.Ticks) election.Ticks {
	if l.err.Times == 0 {
		return now
	}
	return scaled(now, l.err.Of+l.err.Times, l.err.Of, false)
}

// deadlines returns what the clock of a process shows on which it reads deadlines.
func (l *lazyClocks) deadlines(p int, now election.Ticks) election.Ticks {
	if l.err.Times > 0 {
		now = scaled(now, l.err.Of-l.err.Times, l.err.Of, false)
	}
	return now.Add(l.gained[p])
}
