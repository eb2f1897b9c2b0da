package repotest

import (
	"go/ast"
	"go/token"
	"slices"
)

// mostWays is how many ways through a function there may be, counted as McCabe does: more cannot be kept in mind.
const mostWays = 20

// unembedded forbids to embed generic types. The compiler makes each promoted method again for each outer type and
// each of its instances, and the linker throws them away: this once took half of the time that a build takes.
func unembedded(m *module) (complaints []string) {
	for _, p := range m.packages {
		for _, f := range slices.Concat(p.files, p.tests) {
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.StructType)
				if !ok {
					return true
				}
				for _, field := range s.Fields.List {
					if field.Names == nil && isInstance(field.Type) {
						complaints = append(complaints, m.at(field, "a struct embeds a generic type; give the field a name"))
					}
				}
				return true
			})
		}
	}
	return complaints
}

// isInstance reports whether an expression is a generic type with its arguments, or a pointer to one.
func isInstance(e ast.Expr) bool {
	if pointer, ok := e.(*ast.StarExpr); ok {
		e = pointer.X
	}
	switch e.(type) {
	case *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}

// surveyable forbids functions with more ways through them than mostWays.
func surveyable(m *module) (complaints []string) {
	for _, p := range m.packages {
		for _, f := range slices.Concat(p.files, p.tests) {
			for _, d := range f.Decls {
				name := "what is initialised"
				if d, ok := d.(*ast.FuncDecl); ok {
					name = d.Name.Name
				}
				for _, n := range ways(d) {
					if n > mostWays {
						complaints = append(complaints, m.at(d, "there are %d ways through %s; split it, at most %d can be kept in mind", n, name, mostWays))
					}
				}
			}
		}
	}
	return complaints
}

// ways counts the ways through a declaration: one more than it has branches. A function that is an entry of a table
// counts by itself, because no one reads a table as a whole.
func ways(n ast.Node) []int {
	here, others := 1, []int(nil)
	entries := map[ast.Node]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			here++
		case *ast.CaseClause:
			if n.List != nil {
				here++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				here++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				here++
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					e = pair.Value
				}
				entries[e] = true
			}
		case *ast.FuncLit:
			if entries[n] {
				others = append(others, ways(n.Body)...)
				return false
			}
		}
		return true
	})
	return append(others, here)
}
