package loops

// browser leaves out the loops: a page runs small networks, and loads a smaller program.
const browser = true
