// Package amount has amounts of things in words, for all that is printed.
package amount

import (
	"fmt"
	"strings"
)

// Of returns an amount in words, such as "1 step" and "2 steps". The number is of any type.
func Of(n any, thing string) string {
	number := fmt.Sprint(n)
	return number + " " + Word(number, thing)
}

// Word returns the word for so many things.
func Word(n any, thing string) string {
	stem, isY := strings.CutSuffix(thing, "y")
	switch {
	case fmt.Sprint(n) == "1":
		return thing
	case isY && !strings.ContainsAny(stem[len(stem)-1:], "aeou"):
		return stem + "ies"
	case strings.HasSuffix(thing, "s"), strings.HasSuffix(thing, "sh"):
		return thing + "es"
	}
	return thing + "s"
}
