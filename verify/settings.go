package verify

import (
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/search"
)

// model returns which events the model has.
func (o *Options) model() *model.Options {
	return &model.Options{
		Starts: model.StartPolicy(o.Starts), Initiators: o.Initiators,
		Crashes: o.Crashes, Recoveries: o.Recoveries, Losses: o.Losses, Duplicates: o.Duplicates, Cuts: o.Cuts, Suspicions: o.Suspicions,
		Commands: o.Commands, Wardens: o.Wardens, Unordered: o.Unordered, SafetyOnly: o.SafetyOnly, Delay: o.Delay,
		Lazy: o.Lazy, ClockError: o.ClockError, Pace: o.Pace, Moment: o.Moment, Prefix: o.from, Times: o.times, Hasty: o.hasty,
	}
}

// search returns what is searched, and how far.
func (o *Options) search() *search.Options {
	s := &search.Options{
		Options: *o.model(), Setup: o.Setup, MaxStates: o.MaxStates, MaxDepth: o.MaxDepth, Memory: o.Memory, Exact: o.Exact,
		Confluent: o.confluent, Caused: o.caused, Partial: o.partial, Symmetric: o.symmetric, Only: o.only, Wide: o.wide, Most: o.most,
	}
	if o.Progress != nil {
		s.Progress = func(p search.Progress) bool { return o.Progress(Progress(p)) }
	}
	return s
}
