package symbolic

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// Handlers are the functions of an algorithm that make and change the state of a process.
type Handlers struct {
	New, Start, Receive *ssa.Function
	State, Message      *types.Struct
	Kinds               []string // by value: the names of the constants
	pkg                 *packages.Package
}

// Load reads the handlers of algorithms from source, by import path. Overlay has other texts for some files, by their full names.
func Load(dir string, overlay map[string][]byte, paths ...string) ([]*Handlers, error) {
	found, built, err := read(dir, overlay, paths...)
	if err != nil {
		return nil, err
	}
	var all []*Handlers
	for i, p := range found {
		h, err := handlers(p, built[i])
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

// read reads packages from source, in the order of their paths. It takes a second of a processor, most of it for any number of packages.
func read(dir string, overlay map[string][]byte, paths ...string) (found []*packages.Package, built []*ssa.Package, err error) {
	config := &packages.Config{
		Dir: dir, Overlay: overlay,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedTypesSizes |
			packages.NeedImports | packages.NeedExportFile,
	}
	if found, err = packages.Load(config, paths...); err != nil {
		return nil, nil, err
	}
	for _, p := range found {
		if len(p.Errors) > 0 {
			return nil, nil, p.Errors[0]
		}
	}
	slices.SortFunc(found, func(a, b *packages.Package) int {
		return slices.Index(paths, a.PkgPath) - slices.Index(paths, b.PkgPath)
	})
	program, built := ssautil.Packages(found, ssa.InstantiateGenerics)
	program.Build()
	return found, built, nil
}

// handlers finds the functions that the variable Algorithm of a package names.
func handlers(p *packages.Package, built *ssa.Package) (*Handlers, error) {
	literal := algorithmOf(p)
	if literal == nil {
		return nil, fmt.Errorf("%s has no variable Algorithm that is a composite literal", p.PkgPath)
	}
	if at := usedAgain(p); at.IsValid() {
		return nil, failure(p.Fset.Position(at), "Algorithm, which may change here,")
	}
	h := &Handlers{pkg: p}
	of := map[string]**ssa.Function{"New": &h.New, "Start": &h.Start, "Receive": &h.Receive}
	for _, e := range literal.Elts {
		field, is := e.(*ast.KeyValueExpr)
		if !is {
			return nil, failure(p.Fset.Position(e.Pos()), "a field without its name")
		}
		switch key := field.Key.(*ast.Ident).Name; {
		case key == "Declaration" || key == "Phase": // data, and a function for statistics
		case of[key] == nil:
			return nil, failure(p.Fset.Position(e.Pos()), "the handler %s: only New, Start and Receive are executed", key)
		default:
			if *of[key] = function(p, built, field.Value); *of[key] == nil {
				return nil, failure(p.Fset.Position(e.Pos()), "%s is no function or method of its package", key)
			}
		}
	}
	if h.New == nil || h.Start == nil || h.Receive == nil {
		return nil, failure(p.Fset.Position(literal.Pos()), "New, Start or Receive is not there")
	}
	h.State = h.New.Signature.Results().At(0).Type().Underlying().(*types.Struct)
	h.Message = h.Receive.Signature.Params().At(2).Type().Underlying().(*types.Struct)
	if err := h.twice(); err != nil {
		return nil, err
	}
	kind := h.Receive.Signature.Params().At(1).Type()
	for value := int64(0); ; value++ {
		text := constantName(p.Types, kind, value)
		if text == "" {
			return h, nil
		}
		h.Kinds = append(h.Kinds, text)
	}
}

// twice returns an error if two things that a step begins with have one name.
func (h *Handlers) twice() error {
	process, message := h.Begin()
	seen := map[string]bool{portName: true, kindName: true}
	for _, f := range slices.Concat(process, message) {
		if name := f.Value.SMT(); seen[name] {
			return failure(h.pkg.Fset.Position(h.Receive.Pos()), "a second thing of the name %s", name)
		}
		seen[f.Value.SMT()] = true
	}
	return nil
}

// algorithmOf returns the composite literal of the variable Algorithm.
func algorithmOf(p *packages.Package) (literal *ast.CompositeLit) {
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			declared, is := d.(*ast.GenDecl)
			if !is {
				continue
			}
			for _, s := range declared.Specs {
				if v, is := s.(*ast.ValueSpec); is && v.Names[0].Name == "Algorithm" && len(v.Values) == 1 {
					literal, _ = v.Values[0].(*ast.CompositeLit)
				}
			}
		}
	}
	return literal
}

// usedAgain returns where a package names its variable Algorithm besides its declaration: what is there may change it.
func usedAgain(p *packages.Package) (at token.Pos) {
	variable := p.Types.Scope().Lookup("Algorithm")
	for name, object := range p.TypesInfo.Uses {
		if object == variable && (!at.IsValid() || name.Pos() < at) {
			at = name.Pos()
		}
	}
	return at
}

// function returns the function or method that an expression names.
func function(p *packages.Package, built *ssa.Package, e ast.Expr) *ssa.Function {
	var object types.Object
	switch e := e.(type) {
	case *ast.Ident:
		object = p.TypesInfo.Uses[e]
	case *ast.SelectorExpr:
		object = p.TypesInfo.Uses[e.Sel]
	}
	if f, is := object.(*types.Func); is && f.Pkg() == p.Types {
		return built.Prog.FuncValue(f)
	}
	return nil
}

// constantName returns the name of a constant of a package by its type and value, or "".
func constantName(pkg *types.Package, t types.Type, value int64) string {
	for _, n := range pkg.Scope().Names() {
		if c, is := pkg.Scope().Lookup(n).(*types.Const); is && types.Identical(c.Type(), t) && c.Val().ExactString() == fmt.Sprint(value) {
			return n
		}
	}
	return ""
}

// Error is a construct of Go that this package does not execute.
type Error struct {
	At   token.Position
	What string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d: %s is outside of what is executed symbolically", e.At.Filename, e.At.Line, e.What)
}

func failure(at token.Position, format string, args ...any) *Error {
	return &Error{at, fmt.Sprintf(format, args...)}
}
