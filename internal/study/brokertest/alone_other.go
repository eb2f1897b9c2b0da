//go:build !unix

package brokertest

// alone waits for nobody: the program is compiled several times, which costs time only.
func alone(string) (done func()) { return func() {} }
