// Package framing is the form of a message on a connection: its length, its kind and its content. Processes make frames and transports carry
// them, and neither needs the other for that.
package framing

import "encoding/binary"

// A frame, little-endian: the length of what follows (2 bytes), the kind (1 byte), the message.
const (
	HeadSize   = 3
	MaxMessage = 1<<14 - 1
)

// Append appends a frame; write appends the message. It must not be longer than MaxMessage.
func Append(dst []byte, kind uint8, write func([]byte) []byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, kind)
	if write != nil {
		dst = write(dst)
	}
	binary.LittleEndian.PutUint16(dst[start:], uint16(len(dst)-start-2))
	return dst
}
