package plan

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// ByteCount is the value of a flag that is a number of bytes, such as 4GiB.
type ByteCount uint64

var byteUnits = []struct {
	name string
	size uint64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}

func (b *ByteCount) String() string {
	if *b == 0 {
		return ""
	}
	return fmt.Sprint(uint64(*b))
}

// Type is the name that the help has.
func (*ByteCount) Type() string { return "bytes" }

// Set reads a number of bytes, with or without a unit.
func (b *ByteCount) Set(text string) error {
	digits, size := text, uint64(1)
	for _, unit := range byteUnits {
		if before, found := strings.CutSuffix(text, unit.name); found {
			digits, size = before, unit.size
		}
	}
	count, err := strconv.ParseUint(digits, 10, 64)
	over, product := bits.Mul64(count, size)
	if err != nil || over > 0 || count == 0 {
		return errors.New("it is a number of bytes such as 4GiB, 512MiB or 1000000000")
	}
	*b = ByteCount(product)
	return nil
}
