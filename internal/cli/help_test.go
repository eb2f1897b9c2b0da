package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
)

// everyCommand calls f with each command that the help lists, and its subcommands, as words of a call.
func everyCommand(f func(words []string, command *cobra.Command)) {
	p := commandLine(&plan.Program{Algorithms: all.Algorithms, Printer: &report.Printer{Name: "ringleader", Getenv: os.Getenv}})
	var visit func(words []string, command *cobra.Command)
	visit = func(words []string, command *cobra.Command) {
		if command.Hidden {
			return
		}
		command.InitDefaultHelpFlag()
		f(words, command)
		for _, sub := range command.Commands() {
			visit(append(slices.Clip(words), sub.Name()), sub)
		}
	}
	root := p.root("")
	p.narrow(root, nil)
	visit(nil, root)
}

// A command is made alone if the call begins with its name.
func TestEachCommandIsMadeUnderItsName(t *testing.T) {
	p := commandLine(&plan.Program{Algorithms: all.Algorithms, Printer: &report.Printer{Name: "ringleader", Getenv: os.Getenv}})
	for _, command := range p.root("").Commands() {
		if command.Name() == "help" || command.Name() == "completion" { // of the root
			continue
		}
		var names []string
		for _, made := range p.commands(command.Name()) {
			names = append(names, made.Name())
		}
		if !slices.Equal(names, []string{command.Name()}) {
			t.Errorf("a call of %s makes %v", command.Name(), names)
		}
	}
}

// helpOf is what ringleader prints in 80 columns.
func helpOf(t *testing.T, words ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(context.Background(), "ringleader", all.Algorithms, words, strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
	if code != 0 || stderr.Len() > 0 {
		t.Errorf("ringleader %s: exit status %d, %s", strings.Join(words, " "), code, stderr.String())
	}
	return stdout.String()
}

// visibleFlags are the flags that the help of a command may name.
func visibleFlags(command *cobra.Command) (names []string) {
	command.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

func TestEachHelpIsReadToTheEnd(t *testing.T) {
	everyCommand(func(words []string, command *cobra.Command) {
		text := helpOf(t, append(slices.Clip(words), "--help")...)
		if n := strings.Count(text, "\n"); n > 80 {
			t.Errorf("the help of %s has %d lines, and at most 80 are read", command.CommandPath(), n)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("the help of %s has a line of %d columns: %s", command.CommandPath(), n, line)
			}
		}
		if !strings.Contains(text, "\nExamples:\n  ringleader ") && !strings.Contains(text, "\nExamples:\n  source ") {
			t.Errorf("the help of %s has no example", command.CommandPath())
		}
		for _, name := range visibleFlags(command) {
			if !strings.Contains(text, "--"+name) {
				t.Errorf("the help of %s does not name --%s", command.CommandPath(), name)
			}
		}
	})
}

func TestEachFlagHasOneGroup(t *testing.T) {
	used := map[string]bool{}
	everyCommand(func(_ []string, command *cobra.Command) {
		for _, name := range visibleFlags(command) {
			used[name], used[command.Name()+":"+name] = true, true
			if groups := groupsOf(command.Name(), name); len(groups) != 1 {
				t.Errorf("--%s of %s is in the groups %q; it should be in one of help_groups.go", name, command.CommandPath(), groups)
			}
		}
	})
	lists := []string{}
	for _, g := range flagGroups {
		lists = append(lists, strings.Fields(g.flags)...)
	}
	for command, flags := range basicFlags {
		for name := range strings.FieldsSeq(flags) {
			lists = append(lists, command+":"+name)
		}
	}
	for _, name := range lists {
		if !used[name] {
			t.Errorf("help_groups.go has %s, which no command has", name)
		}
	}
}

func TestHelpAllExplainsEverything(t *testing.T) {
	everyCommand(func(words []string, command *cobra.Command) {
		if !command.HasParent() {
			return
		}
		text := helpOf(t, append(slices.Clip(words), "--help", "all")...)
		for _, name := range visibleFlags(command) {
			if countOf(text, name) < 1 {
				t.Errorf("--help all of %s does not explain --%s", command.CommandPath(), name)
			}
		}
		last := strings.Fields(command.Example)
		if !strings.Contains(strings.Join(strings.Fields(text), " "), last[len(last)-1]) {
			t.Errorf("--help all of %s has not all examples", command.CommandPath())
		}
		if other := helpOf(t, append([]string{"help"}, append(slices.Clip(words), "all")...)...); other != text {
			t.Errorf("help %s all is not %[1]s --help all", command.CommandPath())
		}
	})
}

// countOf counts the lines of a help that explain a flag.
func countOf(text, name string) (n int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, short := strings.CutPrefix(line, "-"); short && !strings.HasPrefix(rest, "-") {
			_, line, _ = strings.Cut(line, ", ")
		}
		if word, _, _ := strings.Cut(line, " "); word == "--"+name {
			n++
		}
	}
	return n
}

func TestHelpOfAGroupExplainsItsFlags(t *testing.T) {
	text := helpOf(t, "run", "--help", "faults")
	if !strings.HasPrefix(text, "Faults:\n") || countOf(text, "crash") != 1 || countOf(text, "seed") != 0 {
		t.Errorf("run --help faults prints\n%s", text)
	}
	if text, want := helpOf(t, "run", "--help", "hooks"), helpOf(t, "run", "--help"); text != want {
		t.Errorf("run has no hooks, and its help should be the usual one:\n%s", text)
	}
}

// A flag or an argument that its command explains as a file is completed with files.
func TestTheShellCompletesFiles(t *testing.T) {
	file := regexp.MustCompile(`\b(FILE|DIR|DIRECTORY)\b|\b(a|this) file\b`)
	completesFiles := func(words ...string) bool {
		var stdout bytes.Buffer
		Run(t.Context(), "ringleader", all.Algorithms, append([]string{cobra.ShellCompNoDescRequestCmd}, words...), strings.NewReader(""), &stdout, io.Discard, func(string) string { return "" })
		out := stdout.String()
		var directive cobra.ShellCompDirective
		if _, err := fmt.Sscanf(out[strings.LastIndexByte(out, ':'):], ":%d", &directive); err != nil {
			t.Fatal(err)
		}
		return directive&cobra.ShellCompDirectiveNoFileComp == 0
	}
	everyCommand(func(words []string, command *cobra.Command) {
		_, arguments, _ := strings.Cut(command.Use, " ")
		if first, _, _ := strings.Cut(arguments, " "); file.MatchString(first) && !strings.HasPrefix(first, "-") && !strings.HasPrefix(first, "[-") && !completesFiles(append(slices.Clip(words), "")...) {
			t.Errorf("%s completes no file", command.Use)
		}
		command.Flags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal == "" && !f.Hidden && file.MatchString(f.Usage) && !completesFiles(append(slices.Clip(words), "--"+f.Name, "")...) {
				t.Errorf("%s --%s completes no file: %s", strings.Join(words, " "), f.Name, f.Usage)
			}
		})
	})
	if !completesFiles("exec", "--id", "1", "--", "./") {
		t.Error("exec completes no command")
	}
}
