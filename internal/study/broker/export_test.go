package broker

// Kill ends the process of a server without its knowledge.
func (e *Server) Kill() { _ = e.process.Process.Kill() }
