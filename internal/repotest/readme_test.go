package repotest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goBlock is a snippet of Go in a page.
var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// returns matches a snippet that ends with its own return.
var returns = regexp.MustCompile(`(?m)^return `)

func TestTheSnippetsOfPagesCompileAndVet(t *testing.T) {
	name, dir := tree(t).name, t.TempDir()
	foreign(t, dir)
	snippets := goBlock.FindAllStringSubmatch(read(t, filepath.Join(root, "README.md")), -1)
	if len(snippets) == 0 {
		t.Fatal("README.md has no snippet of Go")
	}
	for _, snippet := range snippets {
		end := "return nil"
		if returns.MatchString(snippet[1]) {
			end = ""
		}
		write(t, filepath.Join(dir, "main.go"), strings.Join([]string{
			"package main", "import (", `"context"`, `"fmt"`, `"` + name + `"`, ")",
			"func main() { fmt.Println(run(context.Background())) }",
			"func run(ctx context.Context) error {", snippet[1], end, "}", "",
		}, "\n"))
		outside(t, dir, "go", "vet", ".")
	}
	start := goBlock.FindAllStringSubmatch(read(t, filepath.Join(root, "docs/start.md")), -1)
	if len(start) != 1 {
		t.Fatalf("docs/start.md has %d programs", len(start))
	}
	write(t, filepath.Join(dir, "main.go"), start[0][1])
	outside(t, dir, "go", "vet", ".")
	page := "docs/8-elect-among-your-own-processes.md"
	programs := goBlock.FindAllStringSubmatch(read(t, filepath.Join(root, page)), -1)
	if len(programs) < 2 {
		t.Fatalf("%s has no program, and no part of one", page)
	}
	write(t, filepath.Join(dir, "main.go"), programs[0][1])
	outside(t, dir, "go", "vet", ".")
	for _, part := range programs[1:] {
		write(t, filepath.Join(dir, "main.go"), strings.Join([]string{
			"package main", "import (", `"context"`, `"fmt"`, `"log"`, `"net/http"`, `"` + name + `"`, `"` + name + `/statushttp"`, ")",
			"var _, _, _, _ = fmt.Sprint, log.Print, http.DefaultClient, statushttp.Handler", "func main() {}",
			"func run(ctx context.Context, member *ringleader.Member, work func(context.Context, ringleader.Leadership) error) error {",
			part[1], "return nil }", "",
		}, "\n"))
		outside(t, dir, "go", "vet", ".")
	}
}
