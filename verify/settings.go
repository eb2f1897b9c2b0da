package verify

// model returns which events the model has.
func (o *Options) model() *modelOptions {
	return &modelOptions{
		Starts: startPolicy(o.Starts), Initiators: o.Initiators,
		Crashes: o.Crashes, Recoveries: o.Recoveries, Losses: o.Losses, Duplicates: o.Duplicates, Cuts: o.Cuts, Suspicions: o.Suspicions,
		Commands: o.Commands, Wardens: o.Wardens, Unordered: o.Unordered, SafetyOnly: o.SafetyOnly, Delay: o.Delay,
		Lazy: o.Lazy, ClockError: o.ClockError, Prefix: o.from, Times: o.times, Hasty: o.hasty,
	}
}

// search returns what is searched, and how far.
func (o *Options) search() *searchOptions {
	s := &searchOptions{
		modelOptions: *o.model(), Instance: o.Instance, MaxStates: o.MaxStates, MaxDepth: o.MaxDepth, Memory: o.Memory, Exact: o.Exact,
		Confluent: o.confluent, Caused: o.caused, Partial: o.partial, Symmetric: o.symmetric, Only: o.only, Wide: o.wide, Most: o.most,
	}
	if o.Progress != nil {
		s.Progress = func(p progress) bool { return o.Progress(Progress(p)) }
	}
	return s
}
