package option

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Instead returns what to use in place of an invalid word: the nearest choice, or all of them.
func Instead(word string, choices []string) string {
	if best := Near(word, choices); best != "" {
		return fmt.Sprintf("did you mean %s?", best)
	}
	if len(choices) == 1 {
		return "its only one is " + choices[0]
	}
	return "choose one of " + strings.Join(choices, ", ")
}

// Near returns the most probable choice for a misspelt word, or "".
func Near(word string, choices []string) (best string) {
	word = strings.ToLower(word)
	letters := len(strings.TrimLeft(word, "-"))
	least := min(letters/3+2, letters, 4)
	for _, choice := range choices {
		d := Distance(word, choice)
		if len(word) > 1 && strings.HasPrefix(choice, word) {
			d = 0
		}
		if d < least {
			best, least = choice, d
		}
	}
	return best
}

// Distance returns the optimal string alignment distance: how many letters are to be inserted, deleted, replaced, or exchanged with the next one to turn a
// into b, if no letter is changed twice.
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before, row, next := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		next[0] = i + 1
		for j := range to {
			replaced := row[j]
			if from[i] != to[j] {
				replaced++
			}
			next[j+1] = min(replaced, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(to)]
}

// Excerpt quotes a text, or its beginning.
func Excerpt(text string) string {
	const most = 40
	if utf8.RuneCountInString(text) > most {
		return fmt.Sprintf("%q…", string([]rune(text)[:most]))
	}
	return fmt.Sprintf("%q", text)
}

// OneLine makes one line of several errors.
func OneLine(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ") }

// Drawable returns an error if the ending of a drawing's file is none of some. A device needs none.
func Drawable(flag, path string, endings []string) error {
	if path == "" || path == "-" || slices.Contains(endings, strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))) {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	last := len(endings) - 1
	return fmt.Errorf("--%s draws into a file that ends in .%s or .%s, not %q", flag, strings.Join(endings[:last], ", ."), endings[last], path)
}
