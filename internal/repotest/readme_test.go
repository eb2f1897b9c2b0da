package repotest

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// goBlock is a snippet of Go in a page.
var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// returns matches a snippet that ends with its own return.
var returns = regexp.MustCompile(`(?m)^return `)

func TestTheSnippetsOfPagesCompileAndVet(t *testing.T) {
	t.Parallel()
	name, dir := tree(t).name, t.TempDir()
	foreign(t, dir)
	snippets := goBlock.FindAllStringSubmatch(read(t, filepath.Join(root, "README.md")), -1)
	if len(snippets) == 0 {
		t.Fatal("README.md has no snippet of Go")
	}
	folders := 0
	snippet := func(lines ...string) { // each is a package of its own, and one go vet looks at all
		folders++
		write(t, filepath.Join(dir, "snippet"+strconv.Itoa(folders), "main.go"), strings.Join(append(lines, ""), "\n"))
	}
	for _, s := range snippets {
		end := "return nil"
		if returns.MatchString(s[1]) {
			end = ""
		}
		snippet("package main", "import (", `"context"`, `"fmt"`, `"`+name+`"`, ")",
			"func main() { fmt.Println(run(context.Background())) }",
			"func run(ctx context.Context) error {", s[1], end, "}")
	}
	start := goBlock.FindAllStringSubmatch(read(t, filepath.Join(root, "docs/start.md")), -1)
	if len(start) != 1 {
		t.Fatalf("docs/start.md has %d programs", len(start))
	}
	snippet(start[0][1])
	page := "docs/8-elect-among-your-own-processes.md"
	programs := goBlock.FindAllStringSubmatch(read(t, filepath.Join(root, page)), -1)
	if len(programs) < 2 {
		t.Fatalf("%s has no program, and no part of one", page)
	}
	snippet(programs[0][1])
	for _, part := range programs[1:] {
		snippet("package main", "import (", `"context"`, `"fmt"`, `"log"`, `"net/http"`, `"`+name+`"`, `"`+name+`/statushttp"`, ")",
			"var _, _, _, _ = fmt.Sprint, log.Print, http.DefaultClient, statushttp.Handler", "func main() {}",
			"func run(ctx context.Context, member *ringleader.Member, work func(context.Context, ringleader.Leadership) error) error {",
			part[1], "return nil }")
	}
	if !*long {
		outside(t, dir, "go", "list", "-export", "./...") // which compiles, and links nothing
		return
	}
	pageOne(t, filepath.Join(dir, "swallow"))
	outside(t, dir, "go", "vet", "./...")
}
