package symbolic

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Path is one way through a handler.
type Path struct {
	Name       string // such as receive-3
	At         token.Position
	Conditions []*Term  // all hold of what the step begins with
	Fields     []Field  // of the state after the step
	Effects    []Effect // in order
	Computed   []*Computed
}

// Field is a part of a state or message: a field, or an element of an array in it.
type Field struct {
	Name    string // such as ID or Waiting-0
	Value   *Term
	Natural bool // a number that is never negative, by its type
}

// Effect is a call of a method of Out.
type Effect struct {
	Name   string
	Args   []*Term // those before a message
	Fields []Field // of the message
}

// Computed is the result of arithmetic: exact if it fits into its type, and else any value of the type.
type Computed struct {
	Name  string // of a constant in SMT-LIB
	Exact string // in SMT-LIB; "" if it is any value
	Most  int64
}

// most of the paths of a handler, of the calls that are under way, and of the blocks of a path: the executor calls itself for each.
const (
	mostPaths = 500
	mostDepth = 20
	mostSteps = 10_000
)

// portName and kindName are where and of which kind a message is, in SMT-LIB.
const (
	portName = "m-port"
	kindName = "m-kind"
)

// value is a *Term, an aggregate, a *pointer, given, or nil for Out and what is not looked at.
type (
	value     any
	aggregate []value // the fields of a struct, or the elements of an array
	object    struct{ name string }
	pointer   struct {
		to   *object
		path []int
	}
)

// state is what changes on a path.
type state struct {
	memory     map[*object]value
	conditions []*Term
	effects    []Effect
	at         token.Position
	steps      int // blocks
}

func (s *state) clone() *state {
	return &state{maps.Clone(s.memory), slices.Clone(s.conditions), slices.Clone(s.effects), s.at, s.steps}
}

// frame is a call that is under way.
type frame struct {
	function *ssa.Function
	values   map[ssa.Value]value
	depth    int
}

func (f *frame) clone() *frame { return &frame{f.function, maps.Clone(f.values), f.depth} }

// String returns the name of a path and its place.
func (p *Path) String() string {
	parts := strings.Split(filepath.ToSlash(p.At.Filename), "/")
	return fmt.Sprintf("%s (%s:%d)", p.Name, strings.Join(parts[max(0, len(parts)-3):], "/"), p.At.Line)
}

type executor struct {
	h        *Handlers
	name     string
	process  *object
	paths    []*Path
	last     token.Pos            // of an instruction
	computed map[string]*Computed // by their operands in SMT-LIB
	results  map[string]*Term     // of arithmetic, as computed has them
}

// Execute returns all paths of a handler: new, start or receive. What a step begins with has the names go-FIELD of the process me, m-FIELD
// of the message, m-kind and m-port, and l-FIELD of what New is given for the process n. An error is an [*Error].
func (h *Handlers) Execute(handler string) (paths []*Path, err error) {
	x := &executor{h: h, name: handler, process: &object{"p"}, computed: map[string]*Computed{}, results: map[string]*Term{}}
	defer func() {
		if bad := recover(); bad != nil {
			wrong, is := bad.(*Error)
			if !is {
				panic(bad)
			}
			paths, err = nil, wrong
		}
	}()
	s := &state{memory: map[*object]value{}}
	process := &pointer{to: x.process}
	s.memory[x.process] = begin(h.State, "p", "", "(go-%s me)")
	message := begin(h.Message, "m", "", "m-%s")
	switch handler {
	case "new":
		local := h.New.Signature.Params().At(0).Type()
		x.call(h.New, []value{begin(local, "l", "", "(l-%s n)")}, s, 0, token.NoPos, func(s *state, v value) {
			s.memory[x.process] = v
			x.end(s)
		})
	case "start":
		x.call(h.Start, []value{process, nil}, s, 0, token.NoPos, func(s *state, _ value) { x.end(s) })
	case "receive":
		x.call(h.Receive, []value{process, Name("port", portName, false), Name("kind", kindName, false), message, nil}, s, 0, token.NoPos,
			func(s *state, _ value) { x.end(s) })
	}
	return x.paths, nil
}

// Begin returns the fields of a process and of a message as a step begins with them.
func (h *Handlers) Begin() (process, message []Field) {
	return flatten(h.State, begin(h.State, "p", "", "(go-%s me)"), ""), flatten(h.Message, begin(h.Message, "m", "", "m-%s"), "")
}

// given are the parameters that New is given.
type given struct{}

// begin returns the value of a type before the step: text is how Go writes it, and the format has its name, as [flatten] makes it, in
// SMT-LIB. A string or a slice is not looked at.
func begin(t types.Type, text, name, format string) value {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		all := make(aggregate, u.NumFields())
		for i := range all {
			field := u.Field(i)
			if named, is := field.Type().(*types.Named); is && text == "l" && named.Obj().Name() == "Parameters" {
				all[i] = given{}
				continue
			}
			all[i] = begin(field.Type(), text+"."+field.Name(), join(name, field.Name()), format)
		}
		return all
	case *types.Array:
		all := make(aggregate, u.Len())
		for i := range all {
			all[i] = begin(u.Elem(), fmt.Sprintf("%s[%d]", text, i), join(name, fmt.Sprint(i)), format)
		}
		return all
	case *types.Basic:
		if u.Info()&(types.IsBoolean|types.IsInteger) != 0 {
			return Name(text, fmt.Sprintf(format, name), u.Info()&types.IsBoolean != 0)
		}
	}
	return nil
}

// zero returns the zero value of a type, or nil for what is not looked at.
func (x *executor) zero(t types.Type) value {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		all := make(aggregate, u.NumFields())
		for i := range all {
			all[i] = x.zero(u.Field(i).Type())
		}
		return all
	case *types.Array:
		all := make(aggregate, u.Len())
		for i := range all {
			all[i] = x.zero(u.Elem())
		}
		return all
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return boolean(false)
		case u.Info()&types.IsInteger != 0:
			return number(0, constantName(x.h.pkg.Types, t, 0))
		}
	}
	return nil
}

// flatten returns the parts of a struct that are numbers or truth values.
func flatten(t types.Type, v value, prefix string) (fields []Field) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i, part := range v.(aggregate) {
			fields = append(fields, flatten(u.Field(i).Type(), part, join(prefix, u.Field(i).Name()))...)
		}
	case *types.Array:
		for i, part := range v.(aggregate) {
			fields = append(fields, flatten(u.Elem(), part, join(prefix, fmt.Sprint(i)))...)
		}
	default:
		if term, is := v.(*Term); is {
			b, basic := u.(*types.Basic)
			fields = append(fields, Field{prefix, term, basic && b.Info()&types.IsUnsigned != 0})
		}
	}
	return fields
}

// join returns the name of a part: no name of Go has a hyphen.
func join(prefix, name string) string { return strings.TrimPrefix(prefix+"-"+name, "-") }

// most returns the largest number of an unsigned type of up to 32 bits, or 0.
func most(t types.Type) int64 {
	if b, is := t.Underlying().(*types.Basic); is {
		return map[types.BasicKind]int64{types.Uint8: 1<<8 - 1, types.Uint16: 1<<16 - 1, types.Uint32: 1<<32 - 1}[b.Kind()]
	}
	return 0
}

// fail ends the execution, at a place or else at the last one known.
func (x *executor) fail(at token.Pos, format string, args ...any) {
	if !at.IsValid() {
		at = x.last
	}
	panic(failure(x.h.pkg.Fset.Position(at), format, args...))
}

// end completes a path.
func (x *executor) end(s *state) {
	if len(x.paths) == mostPaths {
		x.fail(x.h.Receive.Pos(), "a handler of more than %d paths", mostPaths)
	}
	p := &Path{Name: fmt.Sprintf("%s-%d", x.name, len(x.paths)+1), At: s.at, Conditions: s.conditions, Effects: s.effects}
	p.Fields = flatten(x.h.State, s.memory[x.process], "")
	used := p.Text()
	for changed := true; changed; { // results of arithmetic in others, too
		changed = false
		for _, key := range slices.Sorted(maps.Keys(x.computed)) {
			c := x.computed[key]
			if strings.Contains(used, c.Name) && !slices.Contains(p.Computed, c) {
				p.Computed, used, changed = append(p.Computed, c), used+c.Exact, true
			}
		}
	}
	x.paths = append(x.paths, p)
}

// Text returns all terms of a path in SMT-LIB, with spaces behind them.
func (p *Path) Text() string {
	var b strings.Builder
	for _, c := range p.Conditions {
		b.WriteString(c.SMT() + " ")
	}
	for _, f := range p.Fields {
		b.WriteString(f.Value.SMT() + " ")
	}
	for _, e := range p.Effects {
		for _, a := range e.Args {
			b.WriteString(a.SMT() + " ")
		}
		for _, f := range e.Fields {
			b.WriteString(f.Value.SMT() + " ")
		}
	}
	return b.String()
}

// call executes a function of the package.
func (x *executor) call(f *ssa.Function, args []value, s *state, depth int, at token.Pos, then func(*state, value)) {
	if depth == mostDepth {
		x.fail(at, "a recursive call of %s", f.Name())
	}
	if b := loop(f.Blocks[0], map[*ssa.BasicBlock]bool{}); b != nil {
		x.fail(place(b), "a loop")
	}
	fr := &frame{f, map[ssa.Value]value{}, depth}
	for i, p := range f.Params {
		fr.values[p] = args[i]
	}
	x.block(fr, f.Blocks[0], nil, s, then)
}

// loop returns a block to which a way from it, or from one behind it, leads back, or nil. The blocks on the way are true; those that no loop has are
// false.
func loop(b *ssa.BasicBlock, seen map[*ssa.BasicBlock]bool) *ssa.BasicBlock {
	seen[b] = true
	for _, next := range b.Succs {
		under, there := seen[next]
		if under {
			return next
		}
		if !there {
			if found := loop(next, seen); found != nil {
				return found
			}
		}
	}
	seen[b] = false
	return nil
}

// place returns where a block is in the source.
func place(b *ssa.BasicBlock) token.Pos {
	for _, i := range b.Instrs {
		if at := placeOf(i); at.IsValid() {
			return at
		}
	}
	return b.Parent().Pos()
}

// placeOf returns where an instruction or one of its operands is, if it is anywhere.
func placeOf(i ssa.Instruction) token.Pos {
	if i.Pos().IsValid() {
		return i.Pos()
	}
	for _, operand := range i.Operands(nil) {
		if *operand != nil && (*operand).Pos().IsValid() {
			return (*operand).Pos()
		}
	}
	return token.NoPos
}

func (x *executor) block(f *frame, b, from *ssa.BasicBlock, s *state, then func(*state, value)) {
	if s.steps++; s.steps > mostSteps {
		x.fail(place(b), "a path of more than %d blocks", mostSteps)
	}
	values := map[ssa.Value]value{}
	first := 0
	for _, i := range b.Instrs {
		phi, is := i.(*ssa.Phi)
		if !is {
			break
		}
		values[phi] = x.value(f, phi.Edges[slices.Index(b.Preds, from)], s)
		first++
	}
	maps.Copy(f.values, values)
	x.instructions(f, b, first, s, then)
}

func (x *executor) instructions(f *frame, b *ssa.BasicBlock, first int, s *state, then func(*state, value)) {
	for n := first; n < len(b.Instrs); n++ {
		if at := b.Instrs[n].Pos(); at.IsValid() {
			s.at, x.last = x.h.pkg.Fset.Position(at), at
		}
		switch i := b.Instrs[n].(type) {
		case *ssa.If:
			x.fork(f, b, i, s, then)
			return
		case *ssa.Jump:
			x.block(f, b.Succs[0], b, s, then)
			return
		case *ssa.Return:
			switch len(i.Results) {
			case 0:
				then(s, nil)
			case 1:
				then(s, x.value(f, i.Results[0], s))
			default:
				x.fail(i.Pos(), "a function of several results")
			}
			return
		case *ssa.Store:
			x.store(s, x.address(f, i.Addr, s, i.Pos()), x.value(f, i.Val, s))
		case *ssa.Call:
			callee := i.Call.StaticCallee()
			if callee == nil || callee.Pkg != f.function.Pkg || callee.Blocks == nil {
				f.values[i] = x.foreign(f, i, s)
				continue
			}
			args := make([]value, len(i.Call.Args))
			for k, a := range i.Call.Args {
				args[k] = x.value(f, a, s)
			}
			x.call(callee, args, s, f.depth+1, i.Pos(), func(s *state, v value) {
				after := f.clone()
				after.values[i] = v
				x.instructions(after, b, n+1, s, then)
			})
			return
		case ssa.Value:
			f.values[i] = x.compute(f, i, s)
		case *ssa.DebugRef:
		default:
			x.fail(placeOf(i), "%s", construct(i))
		}
	}
}

// construct returns the words for an instruction that is not executed.
func construct(i ssa.Instruction) string {
	switch i.(type) {
	case *ssa.MapUpdate, *ssa.MakeMap, *ssa.Lookup:
		return "a map"
	case *ssa.Go:
		return "a goroutine"
	case *ssa.Send, *ssa.Select, *ssa.MakeChan:
		return "a channel"
	case *ssa.Defer, *ssa.RunDefers:
		return "a deferred call"
	case *ssa.Panic:
		return "a panic"
	case *ssa.Slice, *ssa.MakeSlice:
		return "a slice"
	case *ssa.MakeClosure:
		return "a function literal"
	case *ssa.MakeInterface, *ssa.TypeAssert, *ssa.ChangeInterface:
		return "an interface"
	}
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("an instruction %T", i), "*ssa."))
}

// fork follows a branch, or both.
func (x *executor) fork(f *frame, b *ssa.BasicBlock, i *ssa.If, s *state, then func(*state, value)) {
	condition := known(x.term(f, i.Cond, s), s.conditions)
	for k, c := range []*Term{condition, not(condition)} {
		switch {
		case c.known && c.value == 1:
			x.block(f, b.Succs[k], b, s, then)
			return
		case !c.known:
			branch := s.clone()
			branch.conditions = append(branch.conditions, c)
			x.block(f.clone(), b.Succs[k], b, branch, then)
		}
	}
}
