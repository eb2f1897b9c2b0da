package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkSave compares Save with a file for each record that is replaced: written, flushed and renamed, and then its directory is flushed.
func BenchmarkSave(b *testing.B) {
	for _, n := range []int{1, 1000} {
		records := make([]Record, n)
		for i := range records {
			records[i] = Record{fmt.Sprint("group ", i), make([]byte, 100)}
		}
		change := func(i int) {
			for _, r := range records {
				r.Data[0], r.Data[1], r.Data[2] = byte(i), byte(i>>8), byte(i>>16)
			}
		}
		b.Run(fmt.Sprint("slots/", n), func(b *testing.B) {
			directory := b.TempDir()
			if err := Init(directory, owner, InitOptions{Records: n}); err != nil {
				b.Fatal(err)
			}
			d := mustOpen(b, directory)
			for i := 0; b.Loop(); i++ {
				change(i)
				if err := d.Save(records); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint("rename/", n), func(b *testing.B) {
			directory := b.TempDir()
			for i := 0; b.Loop(); i++ {
				change(i)
				if err := replace(directory, records); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOpen1000(b *testing.B) {
	directory := b.TempDir()
	if err := Init(directory, owner, InitOptions{Records: 1000}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		d, err := Open(directory, owner)
		if err != nil {
			b.Fatal(err)
		}
		d.Close()
	}
}

func replace(directory string, records []Record) error {
	for i, r := range records {
		name := filepath.Join(directory, fmt.Sprint(i))
		f, err := os.Create(name + ".new")
		if err != nil {
			return err
		}
		_, err = f.Write(r.Data)
		if err := errors.Join(err, f.Sync(), f.Close(), os.Rename(name+".new", name)); err != nil {
			return err
		}
		d, err := os.Open(directory)
		if err != nil {
			return err
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return err
		}
	}
	return nil
}
