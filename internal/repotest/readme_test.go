package repotest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goBlock is a snippet of Go in a page.
var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

func TestTheSnippetsOfTheReadmeCompileAndVet(t *testing.T) {
	name, dir := tree(t).name, t.TempDir()
	foreign(t, dir, name)
	snippets := goBlock.FindAllStringSubmatch(read(t, filepath.Join(root, "README.md")), -1)
	if len(snippets) == 0 {
		t.Fatal("README.md has no snippet of Go")
	}
	for _, snippet := range snippets {
		write(t, filepath.Join(dir, "main.go"), strings.Join([]string{
			"package main", "import (", `"context"`, `"fmt"`, `"` + name + `"`, ")",
			"func main() { fmt.Println(run(context.Background())) }",
			"func run(ctx context.Context) error {", snippet[1], "return nil", "}", "",
		}, "\n"))
		outside(t, dir, "go", "vet", ".")
	}
}
