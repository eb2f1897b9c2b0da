package transporttest

import (
	"context"
	"encoding/binary"
	"net"
	"strings"
	"sync"
)

// Names is a name server in this process, over UDP on loopback.
type Names struct {
	conn net.PacketConn

	mu      sync.Mutex
	records map[string][]Record
	mood    Mood
	asked   int
	clients []net.Conn // of resolvers
}

// Record is a record of a name: the address of a host, or the place of a service.
type Record struct {
	IP     string // IPv4
	Target string // else a host, with Port
	Port   uint16
}

// Mood is how a name server answers.
type Mood uint8

// The moods.
const (
	Truthful Mood = iota
	Empty         // each answer is empty
	Failing       // each answer is that the server fails
	Silent        // there is no answer
)

// NewNames starts a name server without records, until Close.
func NewNames() (*Names, error) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &Names{conn: conn, records: map[string][]Record{}}
	go n.serve()
	return n, nil
}

// Close stops the server, and ends the questions of its resolvers, which would wait for some seconds.
func (n *Names) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.clients {
		c.Close()
	}
	return n.conn.Close()
}

// Set sets the records of a name.
func (n *Names) Set(name string, records ...Record) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.records[name] = records
}

// Become sets the mood.
func (n *Names) Become(m Mood) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mood = m
}

// Asked returns how many questions have come.
func (n *Names) Asked() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

// Resolver returns a resolver that asks this server.
func (n *Names) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "udp", n.conn.LocalAddr().String())
		if err == nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.clients = append(n.clients, conn)
		}
		return conn, err
	}}
}

func (n *Names) serve() {
	question := make([]byte, 1<<12)
	for {
		size, from, err := n.conn.ReadFrom(question)
		if err != nil {
			return
		}
		if answer := n.answer(question[:size]); answer != nil {
			_, _ = n.conn.WriteTo(answer, from) // who asks may be gone
		}
	}
}

// The numbers of DNS (RFC 1035, RFC 2782) that are needed.
const (
	headSize             = 12
	typeA, typeSRV       = 1, 33
	noError, serverFails = 0x8580, 0x8582 // flags of an answer
	nameOfQuestion       = 0xc000 | headSize
)

// answer returns the answer to a question; nil: there is none.
func (n *Names) answer(question []byte) []byte {
	var labels []string
	end := headSize
	for end < len(question) && question[end] != 0 {
		next := end + 1 + int(question[end])
		if next >= len(question) {
			return nil
		}
		labels = append(labels, string(question[end+1:next]))
		end = next
	}
	if end += 5; end > len(question) { // the end of the name, type and class
		return nil
	}
	kind := binary.BigEndian.Uint16(question[end-4:])
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	flags, count, body := uint16(noError), uint16(0), question[headSize:end:end]
	switch n.mood {
	case Silent:
		return nil
	case Failing:
		flags = serverFails
	case Truthful:
		for _, r := range n.records[strings.ToLower(strings.Join(labels, "."))] {
			data := r.data(kind)
			if data == nil {
				continue
			}
			count++
			for _, field := range []uint16{nameOfQuestion, kind, 1, 0, 0, uint16(len(data))} { // class, two of the time to live, length
				body = binary.BigEndian.AppendUint16(body, field)
			}
			body = append(body, data...)
		}
	}
	head := append([]byte{}, question[:2]...)
	for _, field := range []uint16{flags, 1, count, 0, 0} {
		head = binary.BigEndian.AppendUint16(head, field)
	}
	return append(head, body...)
}

// data returns the content of a record of a type, or nil.
func (r Record) data(kind uint16) (data []byte) {
	switch {
	case kind == typeA && r.Target == "":
		return net.ParseIP(r.IP).To4()
	case kind == typeSRV && r.Target != "":
		data = binary.BigEndian.AppendUint16(make([]byte, 4), r.Port) // priority and weight are 0
		for label := range strings.SplitSeq(r.Target, ".") {
			data = append(append(data, byte(len(label))), label...)
		}
		return append(data, 0)
	}
	return nil
}
