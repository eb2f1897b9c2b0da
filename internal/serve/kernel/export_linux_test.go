package kernel

// Reaps is what a test may set.
var Reaps = &reaps
