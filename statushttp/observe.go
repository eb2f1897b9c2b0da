package statushttp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"ringleader.example/ringleader"
)

const (
	again     = 500 * time.Millisecond // after which a member that did not answer is asked again
	silence   = 3 * alive              // after which a stream without a sign of life has ended
	mostEvent = 1 << 22                // bytes of an event; a status has less than 2 kB for each member
)

// Observe yields which member leads, for a process that is no member: it has no vote, no directory and no place in any list. It reads
// the streams /watch of members, whose URLs are such as "http://10.0.0.5:8001". Each is that of a [Handler], or of the --http of
// "ringleader join". A nil client is [http.DefaultClient]; one with a Timeout asks again after each.
//
// The first view comes when a member has answered, or none has, and then one with each change. View.Role is empty, and View.Since is when this
// process learned it. The error is nil if a leader is known, and otherwise tells what each member said, or why it did not answer. All
// URLs are asked until ctx is done, which ends the sequence.
//
// Members may differ for a moment: the highest term counts, and with [ringleader.Bully], which has none, the first URL whose member knows a
// leader. What a member said counts until its stream ends: for up to 45 seconds if its machine has died. So an observer may
// name a leader whose lease has ended. A resource that must not obey that one compares terms: see package fence.
func Observe(ctx context.Context, client *http.Client, urls ...string) iter.Seq2[ringleader.View, error] {
	return func(yield func(ringleader.View, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		heard := make(chan word)
		for i, url := range urls {
			all.Go(func() { follow(ctx, cmp.Or(client, http.DefaultClient), i, url, heard) })
		}
		words, last := make([]*word, len(urls)), ringleader.View{}
		for first := true; ; {
			select {
			case w := <-heard:
				words[w.index] = &w
			case <-ctx.Done():
				return
			}
			v, ready, err := judge(words)
			if v == last && !first || first && !ready {
				continue
			}
			first, last = false, v
			v.Since = time.Now()
			if !yield(v, err) {
				return
			}
		}
	}
}

// word is what a member said last: its status, or why it does not answer.
type word struct {
	index  int
	url    string
	status ringleader.Status
	err    error
}

// better reports whether the word of a member that knows a leader counts more than another one.
func (w *word) better(than *word) bool {
	a, b := &w.status, &than.status
	switch {
	case a.Term != b.Term:
		return a.Term > b.Term
	case a.Term == 0: // with Bully; the first one counts
		return false
	}
	return b.Value == "" && a.Value != "" // which arrives later at some
}

// judge returns the view that follows from all words. It is ready if a member has answered, or all have failed to. A nil word is none.
func judge(words []*word) (v ringleader.View, ready bool, err error) {
	var best *word
	var reasons []error
	waits := false
	for _, w := range words {
		switch {
		case w == nil:
			waits = true
		case w.err != nil:
			reasons = append(reasons, fmt.Errorf("%s: %w", w.url, w.err))
		case w.status.Leader == nil:
			ready, v.Term = true, max(v.Term, w.status.Term)
			reasons = append(reasons, fmt.Errorf("%s: member %d knows no leader: %s", w.url, w.status.ID, strings.Join(w.status.Why, "; ")))
		case best == nil || w.better(best):
			best = w
		}
	}
	if best == nil {
		return v, ready || !waits, errors.Join(reasons...)
	}
	s := &best.status
	return ringleader.View{Leader: *s.Leader, Known: true, Term: s.Term, Value: s.Value}, true, nil
}

// follow reads the stream of a member again and again, until ctx is done.
func follow(ctx context.Context, client *http.Client, index int, url string, heard chan<- word) {
	tell := func(s ringleader.Status, err error) {
		select {
		case heard <- word{index, url, s, err}:
		case <-ctx.Done():
		}
	}
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
		err := read(ctx, client, url, func(s ringleader.Status) { tell(s, nil) })
		tell(ringleader.Status{}, err)
		pause.Reset(again)
	}
}

// read reads a stream until it ends, and returns why.
func read(ctx context.Context, client *http.Client, url string, take func(ringleader.Status)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(silence, func() { cancel(fmt.Errorf("no sign of life for %v", silence)) })
	defer silent.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+"/watch", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, mostEvent)
	for lines.Scan() {
		silent.Reset(silence)
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var s ringleader.Status
		if err := json.Unmarshal([]byte(data), &s); err != nil {
			return fmt.Errorf("it is no member of ringleader: %w", err)
		}
		take(s)
	}
	return cmp.Or(context.Cause(ctx), lines.Err(), errors.New("the connection has ended"))
}
