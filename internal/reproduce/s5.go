package reproduce

// s5 are the statements of S5.
var s5 = []Row{}
