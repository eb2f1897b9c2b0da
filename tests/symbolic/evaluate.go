package symbolic

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// value returns the value of an operand.
func (x *executor) value(f *frame, v ssa.Value, s *state) value {
	c, is := v.(*ssa.Const)
	switch {
	case !is:
		return f.values[v]
	case c.Value == nil:
		return x.zero(c.Type())
	case c.Value.Kind() == constant.Bool:
		return boolean(constant.BoolVal(c.Value))
	case c.Value.Kind() == constant.Int:
		if n, exact := constant.Int64Val(c.Value); exact {
			return number(n, constantName(x.h.pkg.Types, c.Type(), n))
		}
	}
	return nil // a text, for the parameters of an algorithm
}

// term returns the value of an operand that is a number or a truth value.
func (x *executor) term(f *frame, v ssa.Value, s *state) *Term {
	t, is := x.value(f, v, s).(*Term)
	if !is {
		at := v.Pos()
		if !at.IsValid() {
			at = f.function.Pos()
		}
		x.fail(at, "a value of the type %v", v.Type())
	}
	return t
}

// address returns what a pointer points to.
func (x *executor) address(f *frame, v ssa.Value, s *state, at token.Pos) *pointer {
	p, is := x.value(f, v, s).(*pointer)
	if !is {
		x.fail(at, "a pointer other than to the state of the process or to a local variable")
	}
	return p
}

func (x *executor) load(s *state, p *pointer) value {
	v := s.memory[p.to]
	for _, i := range p.path {
		v = v.(aggregate)[i]
	}
	return v
}

func (x *executor) store(s *state, p *pointer, v value) {
	s.memory[p.to] = changed(s.memory[p.to], p.path, v)
}

// changed returns an aggregate in which one part is another.
func changed(whole value, path []int, part value) value {
	if len(path) == 0 {
		return part
	}
	all := slices.Clone(whole.(aggregate))
	all[path[0]] = changed(all[path[0]], path[1:], part)
	return all
}

// part returns a pointer to a part.
func (p *pointer) part(i int) *pointer {
	return &pointer{p.to, append(slices.Clone(p.path), i)}
}

// index returns an index that is known.
func (x *executor) index(f *frame, v ssa.Value, s *state, at token.Pos) int {
	t := x.term(f, v, s)
	if !t.known {
		x.fail(at, "an index that is not constant")
	}
	return int(t.value)
}

// compute executes an instruction that has a value and no effect.
func (x *executor) compute(f *frame, i ssa.Value, s *state) value {
	switch i := i.(type) {
	case *ssa.Alloc:
		o := &object{i.Comment}
		s.memory[o] = x.zero(i.Type().Underlying().(*types.Pointer).Elem())
		return &pointer{to: o}
	case *ssa.FieldAddr:
		return x.address(f, i.X, s, i.Pos()).part(i.Field)
	case *ssa.IndexAddr:
		return x.address(f, i.X, s, i.Pos()).part(x.index(f, i.Index, s, i.Pos()))
	case *ssa.Field:
		return x.value(f, i.X, s).(aggregate)[i.Field]
	case *ssa.Index:
		return x.value(f, i.X, s).(aggregate)[x.index(f, i.Index, s, i.Pos())]
	case *ssa.ChangeType:
		return x.value(f, i.X, s)
	case *ssa.Convert:
		from, to := most(i.X.Type()), most(i.Type())
		if from == 0 || to < from {
			x.fail(i.Pos(), "a conversion from %v to %v", i.X.Type(), i.Type())
		}
		return x.term(f, i.X, s)
	case *ssa.UnOp:
		switch i.Op {
		case token.MUL:
			return x.load(s, x.address(f, i.X, s, i.Pos()))
		case token.NOT:
			return not(x.term(f, i.X, s))
		}
		x.fail(i.Pos(), "the operator %v", i.Op)
	case *ssa.BinOp:
		a, b := x.term(f, i.X, s), x.term(f, i.Y, s)
		if _, is := opposite[i.Op]; is {
			return compare(i.Op, a, b)
		}
		return x.arithmetic(i, a, b)
	}
	x.fail(placeOf(i.(ssa.Instruction)), "%s", construct(i.(ssa.Instruction)))
	return nil
}

// arithmetic returns the result of an operator.
func (x *executor) arithmetic(i *ssa.BinOp, a, b *Term) *Term {
	c := &Computed{Most: most(i.Type())}
	switch i.Op {
	case token.ADD, token.SUB:
		c.Exact = fmt.Sprintf("(%v %s %s)", i.Op, a.SMT(), b.SMT())
	case token.SHL, token.MUL: // any value
	default:
		x.fail(i.Pos(), "the operator %v", i.Op)
	}
	if c.Most == 0 {
		x.fail(i.Pos(), "arithmetic in the type %v", i.Type())
	}
	key := fmt.Sprintf("%s %v %s up to %d", a.SMT(), i.Op, b.SMT(), c.Most)
	if x.computed[key] == nil {
		c.Name = fmt.Sprintf("%s-result-%d", x.name, len(x.computed)+1)
		x.computed[key] = c
		x.results[key] = Name(fmt.Sprintf("(%v %v %v)", a, i.Op, b), c.Name, false)
	}
	return x.results[key]
}

// foreign executes a call of a function of another package: a method of Out is an effect, and max and min are terms. A parameter has any
// value.
func (x *executor) foreign(f *frame, i *ssa.Call, s *state) value {
	if b, is := i.Call.Value.(*ssa.Builtin); is && len(i.Call.Args) == 2 && (b.Name() == "max" || b.Name() == "min") {
		op := map[string]token.Token{"max": token.GEQ, "min": token.LEQ}[b.Name()]
		return larger(x.term(f, i.Call.Args[0], s), x.term(f, i.Call.Args[1], s), op)
	}
	callee := i.Call.StaticCallee()
	if callee == nil {
		x.fail(i.Pos(), "a call of what is not known before")
	}
	switch method := methodOf(callee); method {
	case "Choice.Is":
		choice, isVariable := i.Call.Args[0].(*ssa.Global)
		word, isConstant := i.Call.Args[2].(*ssa.Const)
		if _, isGiven := x.value(f, i.Call.Args[1], s).(given); !isVariable || choice.Pkg != f.function.Pkg || !isConstant || !isGiven {
			x.fail(i.Pos(), "a Choice that is no variable of the package, a word that is no constant, or parameters that New was not given")
		}
		return Name(choice.Name()+".Is", "any-"+choice.Name()+"-"+constant.StringVal(word.Value), true)
	case "Out.Send", "Out.Lead", "Out.Follow":
		e := Effect{Name: strings.TrimPrefix(method, "Out.")}
		for _, a := range i.Call.Args[1:] {
			switch v := x.value(f, a, s).(type) {
			case *Term:
				e.Args = append(e.Args, v)
			case aggregate:
				e.Fields = flatten(a.Type(), v, "")
			}
		}
		s.effects = append(s.effects, e)
		return nil
	}
	x.fail(i.Pos(), "a call of %s", callee.RelString(x.h.pkg.Types))
	return nil
}

// methodOf returns TYPE.METHOD for a method of package election, whatever its type arguments.
func methodOf(f *ssa.Function) string {
	if o := f.Origin(); o != nil {
		f = o
	}
	receiver := f.Signature.Recv()
	if receiver == nil || f.Object() == nil || !strings.HasSuffix(f.Object().Pkg().Path(), "/election") {
		return ""
	}
	t := receiver.Type()
	if p, is := t.(*types.Pointer); is {
		t = p.Elem()
	}
	if n, is := t.(*types.Named); is {
		return n.Obj().Name() + "." + f.Name()
	}
	return ""
}
