package reproduce

// s1 are the statements of S1.
var s1 = []Row{}
