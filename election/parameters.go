package election

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Parameter is a knob of an algorithm: one word out of Choices, or a rational number.
type Parameter struct {
	Name    string
	About   string
	Choices []string // the words; the first is the default

	Whole   bool                      // whole numbers only
	Least   int64                     // the smallest value allowed
	Above   bool                      // only what is above it is
	Most    int64                     // the largest; 0 is no limit
	Default string                    // of a number; also its description where Derived is set
	Derived func(Parameters) *big.Rat // the default where it depends on the parameters declared before
}

func (p *Parameter) validate() error {
	if p.Name == "" {
		return errors.New("a Parameter has no Name")
	}
	if len(p.Choices) > 0 || p.Derived != nil {
		return nil
	}
	_, err := p.parse(p.Default)
	return err
}

func (p *Parameter) parse(text string) (value, error) {
	if len(p.Choices) > 0 {
		if !slices.Contains(p.Choices, text) {
			return value{}, fmt.Errorf("parameter %s is one of %s, not %.40q", p.Name, strings.Join(p.Choices, ", "), text)
		}
		return value{word: text}, nil
	}
	number, ok := Rational(text)
	if !ok {
		return value{}, fmt.Errorf("parameter %s is a number such as 3, 1.5 or 3/2, not %.40q", p.Name, text)
	}
	if p.Whole && !number.IsInt() {
		return value{}, fmt.Errorf("parameter %s is a whole number, not %s", p.Name, text)
	}
	if p.Whole && number.Num().BitLen() > maxWhole {
		return value{}, fmt.Errorf("parameter %s is below 2^%d, not %s", p.Name, maxWhole, text)
	}
	if p.Above && number.Cmp(big.NewRat(p.Least, 1)) <= 0 {
		return value{}, fmt.Errorf("parameter %s is greater than %d, not %s", p.Name, p.Least, text)
	}
	if number.Cmp(big.NewRat(p.Least, 1)) < 0 {
		return value{}, fmt.Errorf("parameter %s is at least %d, not %s", p.Name, p.Least, text)
	}
	if p.Most != 0 && number.Cmp(big.NewRat(p.Most, 1)) > 0 {
		return value{}, fmt.Errorf("parameter %s is at most %d, not %s", p.Name, p.Most, text)
	}
	return value{number: number}, nil
}

// maxWhole is how many bits a whole number may have. As a time, it leaves room for a few sums below 2¹²⁸.
const maxWhole = 120

// Rational reads a decimal number or a fraction. big.Rat alone would also read exponents, whose numbers can take
// all memory, other bases, and 010/1 as 8.
func Rational(text string) (*big.Rat, bool) {
	odd := func(r rune) bool { return !strings.ContainsRune("0123456789./-", r) }
	leadingZero := func(digits string) bool { return len(digits) > 1 && digits[0] == '0' && digits[1] != '.' }
	above, below, _ := strings.Cut(strings.TrimPrefix(text, "-"), "/")
	if len(text) > 100 || strings.ContainsFunc(text, odd) || leadingZero(above) || leadingZero(below) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

type value struct {
	word   string
	number *big.Rat
}

func (v value) String() string {
	if v.number == nil {
		return v.word
	}
	return v.number.RatString()
}

// Parameters are the values of an algorithm's parameters.
type Parameters struct {
	names    []string
	values   []value
	sequence []Ticks
}

// Set reads parameters by name and adds the defaults of those that are not given.
func (d *Declaration) Set(given map[string]string) (Parameters, error) {
	var set Parameters
	known := 0
	for i := range d.Parameters {
		p := &d.Parameters[i]
		text, isGiven := given[p.Name]
		switch {
		case isGiven:
			known++
		case len(p.Choices) > 0:
			text = p.Choices[0]
		case p.Derived != nil:
			text = p.Derived(set).RatString()
		default:
			text = p.Default
		}
		v, err := p.parse(text)
		if err != nil {
			return Parameters{}, err
		}
		set.names, set.values = append(set.names, p.Name), append(set.values, v)
	}
	if known == len(given) {
		return set, nil
	}
	var unknown []string
	for name := range given {
		if !slices.Contains(set.names, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	if len(set.names) == 0 {
		return Parameters{}, fmt.Errorf("%s has no parameters, so no %s", d.Name, strings.Join(unknown, ", "))
	}
	return Parameters{}, fmt.Errorf("%s has no parameter %s; it has %s", d.Name,
		strings.Join(unknown, ", "), strings.Join(set.names, ", "))
}

func (p Parameters) get(name string) value {
	i := slices.Index(p.names, name)
	if i < 0 {
		panic("election: parameter " + name + " is not declared")
	}
	return p.values[i]
}

// Word is the value of a parameter with Choices.
func (p Parameters) Word(name string) string { return p.get(name).word }

// Rational is the value of a number; it must not be changed.
func (p Parameters) Rational(name string) *big.Rat { return p.get(name).number }

// Linear is factor times the value of a number, plus constant, as a default may be that depends on it.
func (p Parameters) Linear(name string, factor, constant int64) *big.Rat {
	y := new(big.Rat).Mul(p.Rational(name), big.NewRat(factor, 1))
	return y.Add(y, big.NewRat(constant, 1))
}

// Ticks is the value of a whole number, as time.
func (p Parameters) Ticks(name string) Ticks {
	ticks, ok := TicksOf(p.Rational(name).Num())
	if !ok {
		panic(ErrTime)
	}
	return ticks
}

// Sequence is the declared one for this network, as times; [Forever] is what no time can be. It must not be changed.
func (p Parameters) Sequence() []Ticks { return p.sequence }

// tabulate finds the declared sequence for a network of n.
func (p *Parameters) tabulate(d *Declaration, n int) error {
	if d.Sequence == nil {
		return nil
	}
	numbers, err := d.Sequence(*p, uint64(n), 128)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		ticks := Forever
		if number != nil {
			ticks, _ = TicksOf(number)
		}
		p.sequence = append(p.sequence, ticks)
	}
	return nil
}

// Names are the names, as declared.
func (p Parameters) Names() []string { return p.names }

// Text is a value as text.
func (p Parameters) Text(name string) string { return p.get(name).String() }
