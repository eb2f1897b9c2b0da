package cli

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// byteCount is the value of a flag that is a number of bytes, such as 4GiB.
type byteCount uint64

var byteUnits = []struct {
	name string
	size uint64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}

func (b *byteCount) String() string {
	if *b == 0 {
		return ""
	}
	return fmt.Sprint(uint64(*b))
}

func (*byteCount) Type() string { return "bytes" }

func (b *byteCount) Set(text string) error {
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
	*b = byteCount(product)
	return nil
}
