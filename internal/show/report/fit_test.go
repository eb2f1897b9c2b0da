package report

import (
	"strings"
	"testing"
)

func TestParagraphsAreBrokenAnewAndTablesAreNot(t *testing.T) {
	got := Paragraphs("One two three\nfour five.\n\nA list:\n  a  first\n  b  second of many\nThe end", 16)
	want := "One two three\nfour five.\n\nA list:\n  a  first\n  b  second of\n     many\nThe end\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheWidthIsThatOfTheTerminalOrOfColumnsOrEighty(t *testing.T) {
	for columns, want := range map[string]int{"": 80, "132": 132, "x": 80, "-3": 80, "0": 80, "7": leastWidth} {
		p := Printer{Out: &strings.Builder{}, Getenv: func(string) string { return columns }}
		if got := p.Width(); got != want {
			t.Errorf("COLUMNS=%s: %d columns, want %d", columns, got, want)
		}
	}
}

// A text that is printed in pieces is broken as if it came at once.
func TestTextIsFittedHoweverItIsWritten(t *testing.T) {
	var out strings.Builder
	p := Printer{Out: &out, Getenv: func(string) string { return "40" }}
	const text = "one two three four five six seven eight nine ten\neleven\ntwelve"
	err := p.Fit(func(p *Printer) error {
		for i := range text {
			if _, err := p.Out.Write([]byte(text[i : i+1])); err != nil {
				return err
			}
		}
		return nil
	})
	if want := "one two three four five six seven eight\n  nine ten\neleven\ntwelve"; err != nil || out.String() != want {
		t.Errorf("%v, %q, want %q", err, out.String(), want)
	}
}

func TestExamplesOfAnyProgramAreBrokenAsCommands(t *testing.T) {
	var out strings.Builder
	p := Printer{Name: "mine", Out: &out, Getenv: func(string) string { return "40" }}
	err := p.Fit(func(p *Printer) error {
		_, err := p.Out.Write([]byte("  mine run lcr --n 5 --order random --seed 7\nmine (devel), a line that is prose and too wide\n"))
		return err
	})
	want := "  mine run lcr --n 5 --order random \\\n    --seed 7\nmine (devel), a line that is prose and\n  too wide\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestACommandOfSeveralLinesCanStillBeCopied(t *testing.T) {
	var out strings.Builder
	p := Printer{Out: &out, Name: "elect", Getenv: func(string) string { return "40" }}
	const text = "  elect join --id 1 --data data/1 \\\n    --member 1=127.0.0.1:7001 --member 2=127.0.0.1:7002 \\\n    --member 3=127.0.0.1:7003 -- sh -c true\nNo command is this line, which is prose\\\nand so is the next one, which is wide, too\n"
	if err := p.Fit(func(p *Printer) error {
		_, err := p.Out.Write([]byte(text))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	command, prose, _ := strings.Cut(out.String(), "No command")
	joined := strings.Join(strings.Fields(strings.ReplaceAll(command, "\\\n", " ")), " ")
	if joined != "elect join --id 1 --data data/1 --member 1=127.0.0.1:7001 --member 2=127.0.0.1:7002 --member 3=127.0.0.1:7003 -- sh -c true" {
		t.Errorf("a shell reads %q", joined)
	}
	if want := " is this line, which is prose\\\nand so is the next one, which is wide,\n  too\n"; prose != want {
		t.Errorf("prose is %q, want %q", prose, want)
	}
}
