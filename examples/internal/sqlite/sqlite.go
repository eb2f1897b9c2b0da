// Package sqlite runs statements of SQL with the command sqlite3, so that this module needs no driver.
package sqlite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Database is a file of SQLite, and the command that works on it.
type Database struct{ Command, File string }

// Run runs statements, and returns what they print. If ctx ends first, it is unknown which of them have had an effect.
func (db Database) Run(ctx context.Context, statements string) (string, error) {
	// What the user's own file of settings has, such as headers of columns, is not for a program.
	out, err := exec.CommandContext(ctx, db.Command, "-init", os.DevNull, "-bail", "-cmd", ".timeout 10000", db.File, statements).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", db.Command, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// Quoted returns a text as a literal of SQL. With a driver, it would be a parameter.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
