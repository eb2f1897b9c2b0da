package reproduce

// s2 are the statements of S2.
var s2 = []Row{}
