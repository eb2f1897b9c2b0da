package work

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// File is a file with the results of a job, so that it can be stopped and resumed. Its first line names the job, and
// each further one is a piece with its result. A line is on disk before its units count as computed, so a crash loses
// only unfinished pieces.
type File struct {
	Parts []Part // that the file had
	path  string
	head  []byte
	file  *os.File
}

// ErrFile reports that a file cannot keep the results of a job; the text gives the reason.
var ErrFile = errors.New("cannot keep results")

// ErrDamaged reports that a line of a file is not as it was written.
var ErrDamaged = errors.New("a damaged result")

// Head is the first line of a file.
type Head struct {
	Format string `json:"format"`
	Job
	Shard string `json:"shard,omitempty"`
	Call  string `json:"call"` // the command line, for people and for results that show it
}

const format = "ringleader results 2"

// OpenFile opens or creates a file for a shard of a job, or for the whole job, which a command line asks for. It cuts off
// half a line at the end, which a crash may leave.
func OpenFile(path string, j Job, t Task, s Shard, call string) (*File, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f := &File{path: path}
	head, err := json.Marshal(Head{format, j, s.String(), call})
	if err != nil {
		return nil, err
	}
	f.head = append(head, '\n')
	info, missing := os.Stat(path)
	if missing == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", ErrFile, path)
	}
	if f.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	if err := f.begin(t); err != nil {
		f.file.Close()
		if missing != nil { // a failure leaves no new file
			os.Remove(path)
		}
		return nil, err
	}
	return f, nil
}

// begin reads the file, and writes the first line if there is none.
func (f *File) begin(t Task) error {
	text, err := io.ReadAll(f.file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole > 0 {
		err = f.read(t, text[:whole])
	} else if !bytes.HasPrefix(f.head, text) {
		err = notOurs(f.path)
	}
	if err != nil {
		return err
	}
	if whole < len(text) {
		err = f.file.Truncate(int64(whole))
	}
	if err != nil || whole > 0 {
		return err
	}
	return errors.Join(f.write(f.head), syncFolder(f.path))
}

func notOurs(path string) error { return fmt.Errorf("%w: %s holds something else", ErrFile, path) }

// read reads whole lines.
func (f *File) read(t Task, text []byte) error {
	head, parts, err := parse(f.path, text)
	if err != nil {
		return err
	}
	var own Head
	if err := json.Unmarshal(f.head, &own); err != nil {
		return err
	}
	switch {
	case head.Version != own.Version:
		return fmt.Errorf("%w: %s keeps those of version %s, and this is version %s: %s", ErrFile, f.path, head.Version, own.Version, head.Call)
	case !head.Same(own.Job):
		return fmt.Errorf("%w: %s keeps those of another job: %s", ErrFile, f.path, head.Call)
	case head.Shard != own.Shard:
		return fmt.Errorf("%w: %s keeps those of %s of this job", ErrFile, f.path, shardName(head.Shard))
	}
	f.Parts = parts
	return check(f.path, t, parts)
}

// Same reports whether two jobs are the same.
func (j Job) Same(other Job) bool { return j.Key() == other.Key() }

func shardName(s string) string {
	if s == "" {
		return "the whole"
	}
	return "shard " + s
}

// check refuses parts that are not of the task.
func check(path string, t Task, parts []Part) error {
	for i, part := range parts {
		valid := part.From < part.To && part.To <= t.Units()
		if valid {
			_, err := t.Join(part.Result, part.Result)
			if t, picky := t.(Picky); picky {
				err = t.Check(part.Piece, part.Result)
			}
			valid = err == nil
		}
		if !valid {
			return fmt.Errorf("%w: line %d of %s is no result of this job", ErrFile, i+2, path)
		}
	}
	return nil
}

// stored is a line with a result.
type stored struct {
	Piece
	Result json.RawMessage `json:"result"`
	Check  string          `json:"check"` // of all that is before it
}

// parse reads whole lines.
func parse(path string, text []byte) (head Head, parts []Part, err error) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if err := json.Unmarshal(lines[0], &head); err != nil || head.Format != format {
		return head, nil, notOurs(path)
	}
	for i, line := range lines[1 : len(lines)-1] {
		var one stored
		if err := json.Unmarshal(line, &one); err != nil || one.Check != sum(unsealed(Part{one.Piece, one.Result})) {
			return head, nil, fmt.Errorf("%w: %w in line %d of %s", ErrFile, ErrDamaged, i+2, path)
		}
		parts = append(parts, Part{one.Piece, one.Result})
	}
	return head, parts, nil
}

// mostHead is how long the first line may be, in bytes: it has a command line.
const mostHead = 1 << 20

// ReadFile reads a file without opening it for more results. Of something else it reads no more than the first line: it may have no end.
func ReadFile(path string) (head Head, parts []Part, err error) {
	file, err := os.Open(path)
	if err != nil {
		return head, nil, err
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, mostHead)
	first, err := lines.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull), errors.Is(err, io.EOF):
		return head, nil, notOurs(path)
	case err != nil:
		return head, nil, err
	}
	if head, _, err = parse(path, first); err != nil {
		return head, nil, err
	}
	text, err := io.ReadAll(io.MultiReader(bytes.NewReader(bytes.Clone(first)), lines))
	if err != nil {
		return head, nil, err
	}
	return parse(path, text[:bytes.LastIndexByte(text, '\n')+1])
}

// Add keeps a part.
func (f *File) Add(part Part) error {
	line, err := line(part)
	if err != nil {
		return err
	}
	return f.write(line)
}

// line returns a part as a line. It keeps the bytes of the result, which encoding/json would escape.
func line(part Part) ([]byte, error) {
	if !json.Valid(part.Result) || bytes.ContainsRune(part.Result, '\n') {
		return nil, fmt.Errorf("the result of units %s is not one line of JSON", part.Piece)
	}
	text := unsealed(part)
	return fmt.Appendf(text, ",\"check\":%q}\n", sum(text)), nil
}

// unsealed returns the beginning of the line of a part, up to the check.
func unsealed(part Part) []byte {
	return fmt.Appendf(nil, "{\"from\":%d,\"to\":%d,\"result\":%s", part.From, part.To, part.Result)
}

// sum returns the check of the beginning of a line. It finds damage, and hides nothing from who computes it anew.
func sum(text []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) }

func (f *File) write(text []byte) error {
	if _, err := f.file.Write(text); err != nil {
		return err
	}
	return f.file.Sync()
}

// Close ends the file.
func (f *File) Close() error { return f.file.Close() }

// Text returns the file of a complete job, with the parts of all results. With this text, the files of a resumed and an
// uninterrupted job are the same.
func (f *File) Text(parts []Part) ([]byte, error) {
	text := bytes.Clone(f.head)
	for _, part := range parts {
		more, err := line(part)
		if err != nil {
			return nil, err
		}
		text = append(text, more...)
	}
	return text, nil
}

// syncFolder makes a new name durable, on systems where folders can be synced.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	_ = folder.Sync()
	return folder.Close()
}
