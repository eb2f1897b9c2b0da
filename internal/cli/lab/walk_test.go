package lab_test

import (
	"regexp"
	"strings"
	"testing"
)

// shellWord matches a word as a shell reads it.
var shellWord = regexp.MustCompile(`(?:'[^']*'|[^\s'])+`)

// shellWords are the words of a call, after the name of the program.
func shellWords(call string) []string {
	words := shellWord.FindAllString(call, -1)
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, "'", "")
	}
	return words[1:]
}

func TestTheCommandOfAWalkRepeatsIt(t *testing.T) {
	for _, run := range followed {
		walk := answered[labRunAnswer](t, "run", labObject{"run": run, "walk": true, "until": 40})
		if len(walk.Call) > 300 {
			t.Errorf("a walk of %d events has a command of %d bytes: %s", len(walk.Run.Choices), len(walk.Call), walk.Call)
		}
		tracedAlike(t, &walk, shellWords(walk.Call))
	}
	walk := answered[labRunAnswer](t, "run", labObject{"run": []string{"quorum-bully", "--n=5"}, "choices": []any{}, "say": "partition 1,2 | 3,4,5", "go": 20})
	if !strings.Contains(walk.Call, "'c0(partition_1,2_|_3,4,5)s0s1") {
		t.Errorf("the command is %s", walk.Call)
	}
	tracedAlike(t, &walk, shellWords(walk.Call))
	for _, wrong := range []string{"s0s0", "nonsense"} {
		question := labObject{"run": []string{"lcr", "--n=3"}, "choices": []string{wrong}}
		if _, err := inLab(t, "run", question); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestAWalkWithoutEventsAndALongOneHaveCommandsToo(t *testing.T) {
	for events, want := range map[int]string{0: "ringleader run lelann --n 100 --step", 11_000: "ringleader replay walk.json"} {
		walk := answered[labRunAnswer](t, "run", labObject{"run": []string{"lelann", "--n=100"}, "choices": []any{}, "go": events})
		if walk.Call != want {
			t.Errorf("%d events: %.100s, want %s", events, walk.Call, want)
		}
	}
}

// Addresses of earlier versions have events as saved files have them.
func TestAWalkIsAskedForAsFilesHaveIt(t *testing.T) {
	old := []labObject{{"what": "start", "process": 0, "time": 0}, {"what": "start", "process": 1, "time": 0}, {"what": "deliver", "process": 1, "link": 0, "time": 0}}
	walk := answered[labRunAnswer](t, "run", labObject{"run": []string{"lcr", "--ids=2,1", "--start=any"}, "choices": old})
	if got := walk.Call; got != "ringleader run lcr --ids 2,1 --start any --walk s0s1d1" {
		t.Errorf("the command is %s", got)
	}
}
