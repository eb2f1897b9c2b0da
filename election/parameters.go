package election

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Parameter is a parameter of an algorithm: a [Choice] or a [Number]. A package variable holds it,
// [Declaration.Parameters] lists its address, and its methods read its value from [Parameters].
type Parameter interface {
	fmt.Stringer // its name

	validate() error
	parse(text string) (value, error)
	usual(before Parameters) string // the default; it may depend on parameters declared before
}

// Choice is a parameter that is one of several words.
type Choice struct {
	Name  string
	About string
	Words []string // the first is the default
}

// Number is a parameter that is a rational number.
type Number struct {
	Name    string
	About   string
	Whole   bool                      // whole numbers only
	Least   int64                     // the smallest value allowed
	Above   bool                      // only values above Least
	Most    int64                     // the largest; 0 means no limit
	Default string                    // if Derived is set, its description
	Derived func(Parameters) *big.Rat // the default, if it depends on parameters declared before
}

// String returns the name of the parameter.
func (c *Choice) String() string { return c.Name }

// String returns the name of the parameter.
func (n *Number) String() string { return n.Name }

// Is reports whether the value is that word, which must be one of Words.
func (c *Choice) Is(p Parameters, word string) bool {
	if !slices.Contains(c.Words, word) {
		panic(fmt.Sprintf("election: parameter %s is never %q", c.Name, word))
	}
	return p.get(c).word == word
}

// Rational returns the value, which must not be changed.
func (n *Number) Rational(p Parameters) *big.Rat { return p.get(n).number }

// Linear returns factor times the value, plus constant, for a default that depends on it.
func (n *Number) Linear(p Parameters, factor, constant int64) *big.Rat {
	y := new(big.Rat).Mul(n.Rational(p), big.NewRat(factor, 1))
	return y.Add(y, big.NewRat(constant, 1))
}

// Ticks returns the value of a whole number, as time.
func (n *Number) Ticks(p Parameters) Ticks {
	ticks, ok := TicksOf(n.Rational(p).Num())
	if !ok {
		panic(ErrTime)
	}
	return ticks
}

func (c *Choice) usual(Parameters) string { return c.Words[0] }

func (n *Number) usual(before Parameters) string {
	if n.Derived != nil {
		return n.Derived(before).RatString()
	}
	return n.Default
}

func (c *Choice) validate() error {
	switch {
	case c.Name == "":
		return errNameless
	case len(c.Words) == 0:
		return fmt.Errorf("parameter %s has no Words", c.Name)
	}
	return nil
}

func (n *Number) validate() error {
	switch {
	case n.Name == "":
		return errNameless
	case n.Derived != nil:
		return nil
	}
	_, err := n.parse(n.Default)
	return err
}

var errNameless = errors.New("a Parameter has no Name")

func (c *Choice) parse(text string) (value, error) {
	if !slices.Contains(c.Words, text) {
		return value{}, fmt.Errorf("parameter %s is one of %s, not %.40q", c.Name, strings.Join(c.Words, ", "), text)
	}
	return value{word: text}, nil
}

func (n *Number) parse(text string) (value, error) {
	number, ok := Rational(text)
	if !ok {
		return value{}, fmt.Errorf("parameter %s is a number such as 3, 1.5 or 3/2, not %.40q", n.Name, text)
	}
	if n.Whole && !number.IsInt() {
		return value{}, fmt.Errorf("parameter %s is a whole number, not %s", n.Name, text)
	}
	if n.Whole && number.Num().BitLen() > maxWhole {
		return value{}, fmt.Errorf("parameter %s is below 2^%d, not %s", n.Name, maxWhole, text)
	}
	if n.Above && number.Cmp(big.NewRat(n.Least, 1)) <= 0 {
		return value{}, fmt.Errorf("parameter %s is greater than %d, not %s", n.Name, n.Least, text)
	}
	if number.Cmp(big.NewRat(n.Least, 1)) < 0 {
		return value{}, fmt.Errorf("parameter %s is at least %d, not %s", n.Name, n.Least, text)
	}
	if n.Most != 0 && number.Cmp(big.NewRat(n.Most, 1)) > 0 {
		return value{}, fmt.Errorf("parameter %s is at most %d, not %s", n.Name, n.Most, text)
	}
	return value{number: number}, nil
}

// maxWhole is the maximum number of bits of a whole number. As a time, it leaves room for a few sums below 2¹²⁸.
const maxWhole = 120

// Rational parses a decimal number or a fraction. big.Rat alone would also accept exponents, whose numbers can take
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

func (v value) equal(w value) bool {
	if v.number == nil || w.number == nil {
		return v == w
	}
	return v.number.Cmp(w.number) == 0
}

// Parameters holds the values of an algorithm's parameters.
type Parameters struct {
	declared []Parameter
	values   []value
	sequence []Ticks
}

// Set reads parameters by name and adds the defaults of those that are not given.
func (d *Declaration) Set(given map[string]string) (Parameters, error) {
	var set Parameters
	known := 0
	for i, p := range d.Parameters {
		text, isGiven := given[p.String()]
		if isGiven {
			known++
		} else {
			text = p.usual(set)
		}
		v, err := p.parse(text)
		if err != nil {
			return Parameters{}, err
		}
		set.declared, set.values = d.Parameters[:i+1], append(set.values, v)
	}
	if known == len(given) {
		return set, nil
	}
	names := set.Names()
	var unknown []string
	for name := range given {
		if !slices.Contains(names, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	if len(names) == 0 {
		return Parameters{}, fmt.Errorf("%s has no parameters, so no %s", d.Name, strings.Join(unknown, ", "))
	}
	return Parameters{}, fmt.Errorf("%s has no parameter %s; it has %s", d.Name,
		strings.Join(unknown, ", "), strings.Join(names, ", "))
}

func (p Parameters) get(of Parameter) value {
	i := slices.Index(p.declared, of)
	if i < 0 {
		panic(undeclared(of.String()))
	}
	return p.values[i]
}

func undeclared(name string) string { return "election: parameter " + name + " is not declared" }

// Sequence returns the declared sequence for this network, as times, which must not be changed. A number out of the
// range of times is [Forever].
func (p Parameters) Sequence() []Ticks { return p.sequence }

// Equal reports whether parameters of the same algorithm have the same values.
func (p Parameters) Equal(q Parameters) bool {
	return slices.EqualFunc(p.values, q.values, value.equal)
}

// Names returns the names, in the declared order.
func (p Parameters) Names() []string {
	names := make([]string, len(p.declared))
	for i, d := range p.declared {
		names[i] = d.String()
	}
	return names
}

// Text returns the value of a parameter as text, for code that shows it or cannot import the algorithm.
func (p Parameters) Text(name string) string {
	i := slices.Index(p.Names(), name)
	if i < 0 {
		panic(undeclared(name))
	}
	return p.values[i].String()
}

// Changed returns the names of the parameters whose values are not their defaults, in the declared order. A default
// that depends on other parameters is computed from their values.
func (p Parameters) Changed() []string {
	var changed []string
	for i, d := range p.declared {
		usual, err := d.parse(d.usual(Parameters{declared: p.declared[:i], values: p.values[:i]}))
		if err != nil || usual.String() != p.values[i].String() {
			changed = append(changed, d.String())
		}
	}
	return changed
}
