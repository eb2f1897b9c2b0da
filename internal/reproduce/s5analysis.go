package reproduce

var (
	s5Analysis  = []Row{}
	s5Protocols = []Row{}
)
