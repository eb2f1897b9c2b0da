package reproduce

// s4 are the statements of S4.
var s4 = []Row{}
