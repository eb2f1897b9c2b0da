package repotest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// forPrograms are the packages that a program which elects a leader imports.
var forPrograms = []string{".", "./election", "./fence", "./statushttp", "./storage", "./transport", "./clock"}

// enumerated wants the comment of a type to name the constants of that type, since "go doc" shows only the first of them with the type.
// The text of a value is documented, too.
func enumerated(m *module) (complaints []string) {
	for _, p := range m.packages {
		if !slices.Contains(forPrograms, p.path) {
			continue
		}
		comments, positions := map[string]string{}, map[string]ast.Node{}
		for _, f := range p.files {
			for _, d := range f.Decls {
				if f, isFunc := d.(*ast.FuncDecl); isFunc && f.Recv != nil && f.Name.Name == "String" && f.Doc == nil && ast.IsExported(receiver(f)) {
					complaints = append(complaints, m.at(f, "the method String of %s has no comment", receiver(f)))
				}
				if d, isDecl := d.(*ast.GenDecl); isDecl && d.Tok == token.TYPE {
					for _, s := range d.Specs {
						s := s.(*ast.TypeSpec)
						comments[s.Name.Name], positions[s.Name.Name] = d.Doc.Text()+s.Doc.Text(), s
					}
				}
			}
		}
		for _, v := range typed(p.files) {
			if positions[v.of] != nil && ast.IsExported(v.of) && !strings.Contains(comments[v.of], fmt.Sprintf("[%s]", v.name)) {
				complaints = append(complaints, m.at(positions[v.of], "the comment of %s does not name [%s]", v.of, v.name))
			}
		}
	}
	return complaints
}

// value is an exported constant with a type of its package.
type value struct{ name, of string }

// typed returns the exported constants with a type. One without a type and a value repeats those of the one before.
func typed(files []*ast.File) (values []value) {
	for _, f := range files {
		for _, d := range f.Decls {
			d, isDecl := d.(*ast.GenDecl)
			if !isDecl || d.Tok != token.CONST {
				continue
			}
			of := ""
			for _, s := range d.Specs {
				s := s.(*ast.ValueSpec)
				if name, named := s.Type.(*ast.Ident); named {
					of = name.Name
				} else if s.Type != nil || len(s.Values) > 0 {
					of = ""
				}
				for _, name := range s.Names {
					if of != "" && name.IsExported() {
						values = append(values, value{name.Name, of})
					}
				}
			}
		}
	}
	return values
}
