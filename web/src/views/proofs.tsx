// Models that are proved for every number of processes. A reader leaves out invariants, and sees the smallest state in which all that are
// left hold and from which a step breaks one.

import type { ViewProps } from "../frame";
import { go, writeAddress, type Address } from "../address";
import type { Engine, Fact, InductionAnswer, InductionQuestion, Model, Named } from "../engine";
import { Failed, Going, useAsked } from "./parts/ask";
import { Check, Choose, Whole } from "./parts/form";
import { Command } from "./run/export";

/** The numbers of processes that the lab searches, and the one that it begins with. */
const [least, usual, most] = [1, 3, 4];

function read(address: Address): InductionQuestion {
  const n = Number(address.query.get("n") ?? usual);
  return {
    model: address.rest[0] ?? "lcr",
    without: address.query.getAll("without"),
    n: Number.isInteger(n) ? Math.min(most, Math.max(least, n)) : usual,
  };
}

export function proofAddress({ model, without, n }: InductionQuestion): string {
  const query = new URLSearchParams(without.map((name) => ["without", name]));
  if (n !== usual) query.set("n", String(n));
  return writeAddress({ view: "proofs", rest: [model], query });
}

export function ProofsView({ engine, address }: ViewProps) {
  const asked = useAsked<Model[]>("models", () => engine.models());
  const question = read(address);
  const all = asked.answer ?? [];
  const model = all.find((m) => m.name === question.model);
  const change = (to: Partial<InductionQuestion>): void => go(proofAddress({ ...question, ...to }), address.rest.length > 0);
  return (
    <section class="view view-proofs" aria-label="Proofs">
      <h1>Right for every n</h1>
      <p class="lead">An invariant holds at first, and every step keeps it. So it holds in every run, whatever the number of processes. Leave one out, and look for the state that it excludes.</p>
      <Failed text={asked.error ?? (asked.answer !== undefined && model === undefined ? `There is no model ${question.model}. Choose one below.` : undefined)} />
      <Going asked={asked} />
      {all.length > 0 && (
        <div class="fields">
          <Choose label="model" value={question.model} from={model === undefined ? [question.model, ...all.map((m) => m.name)] : all.map((m) => m.name)} onChange={(name) => go(proofAddress({ ...question, model: name, without: [] }))} />
          {model?.ring === true && <Whole label="n" value={question.n} least={least} most={most} onChange={(n) => change({ n })} hint="The number of processes of the ring on which the lab looks for a counterexample to induction; every order of their identifiers is tried" />}
        </div>
      )}
      {model !== undefined && <Proved engine={engine} model={model} question={question} onChange={(without) => change({ without })} />}
    </section>
  );
}

function Proved({ engine, model, question, onChange }: { engine: Engine; model: Model; question: InductionQuestion; onChange: (without: string[]) => void }) {
  const change = (name: string, holds: boolean): void => onChange(holds ? question.without.filter((w) => w !== name) : [...question.without, name]);
  const solvers = model.proved.map((p) => `${p.solver} ${p.version}`).join(" and ");
  return (
    <article class="proof">
      <header>
        <h2>{model.title}</h2>
        <p class="theorem">{model.theorem}</p>
        <p class="muted">Proved by {solvers}: {model.proved[0]?.obligations ?? 0} obligations. Source: {model.source}.</p>
      </header>
      <div class="halves">
        <section aria-label="Invariants">
          <h3>Invariants</h3>
          <ul class="formulas">
            {model.invariants.map((f) => (
              <li key={f.name} class={question.without.includes(f.name) ? "out" : ""}>
                {model.ring ? <Check label={f.words} value={!question.without.includes(f.name)} onChange={(holds) => change(f.name, holds)} /> : f.words}
                <Term of={f} />
              </li>
            ))}
          </ul>
          <h3>What follows</h3>
          <ul class="formulas">
            {model.safety.map((f) => <li key={f.name}>{f.words}<Term of={f} /></li>)}
          </ul>
          <details>
            <summary>What a state has, and the steps</summary>
            <dl class="meanings">
              {[...model.states, ...model.actions].map((w) => <div key={w.name}><dt><code>{w.name}</code></dt><dd>{w.words}</dd></div>)}
            </dl>
          </details>
        </section>
        <section aria-label="Counterexample to induction" class="induction">
          {!model.ring ? (
            <p>This model is not of a ring, so only solvers search it: <code>ringleader prove {model.name} --drop INVARIANT</code></p>
          ) : question.without.length === 0 ? (
            <p>All invariants are here, and every step keeps each of them. Leave one out: is there a state in which all others hold, and a step that breaks one?</p>
          ) : (
            <Induction engine={engine} question={question} />
          )}
        </section>
      </div>
    </article>
  );
}

/** The name of a formula, and its term for those who ask. */
function Term({ of }: { of: Named }) {
  return (
    <details class="term">
      <summary><code>{of.name}</code></summary>
      <code>{of.term}</code>
    </details>
  );
}

function Induction({ engine, question }: { engine: Engine; question: InductionQuestion }) {
  const asked = useAsked<InductionAnswer>(JSON.stringify(question), (progress, signal) => engine.induction(question, progress, signal));
  const found = asked.answer;
  return (
    <>
      <Going asked={asked} />
      <Failed text={asked.error} />
      {found?.detail !== undefined && <p class="none">{found.detail}</p>}
      {found?.ring !== undefined && <Found of={found} ring={found.ring} />}
      {found !== undefined && <Command call={found.call} />}
    </>
  );
}

function Found({ of, ring }: { of: InductionAnswer; ring: string[] }) {
  const [state, change, broken] = [of.state ?? [], of.change ?? [], of.broken ?? []];
  const meanings = new Map([...state, ...change].map((f) => [f.text.replace(/^(not )?\(?([\w-]+).*$/, "$2"), f.words]));
  return (
    <>
      <Ring ring={ring} state={state} change={change} />
      <dl class="story-of">
        <div><dt>State</dt><dd>{texts(state)}. All invariants that are left hold.</dd></div>
        <div><dt>Step</dt><dd><code>{of.step?.name}</code> {of.step?.words}</dd></div>
        <div class="new"><dt>Then</dt><dd>{texts(change)}.</dd></div>
        {broken.map((f) => <div key={f.name} class="new"><dt>Broken</dt><dd><code>{f.name}</code> {f.words}</dd></div>)}
      </dl>
      {of.excluding !== undefined && (
        <details class="why">
          <summary>Why can that state not be?</summary>
          <ul>{of.excluding.map((f) => <li key={f.name}>{f.words} <code>{f.name}</code></li>)}</ul>
        </details>
      )}
      <dl class="meanings muted">
        {[...meanings].map(([name, words]) => <div key={name}><dt><code>{name}</code></dt><dd>{words}</dd></div>)}
      </dl>
    </>
  );
}

const texts = (facts: Fact[]): string => (facts.length === 0 ? "nothing" : facts.map((f) => f.text).join(", "));

/** The ring, with the facts of the state at their processes, and in another colour what the step changes. */
function Ring({ ring, state, change }: { ring: string[]; state: Fact[]; change: Fact[] }) {
  const [radius, line, letter] = [78, 19, 8.2];
  const at = (p: number): [string, boolean][] => [...state.filter((f) => f.at === p).map((f): [string, boolean] => [f.text, false]), ...change.filter((f) => f.at === p).map((f): [string, boolean] => ["+ " + f.text, true])];
  const longest = Math.max(0, ...ring.flatMap((_, p) => at(p).map(([text]) => text.length)));
  const width = 2 * Math.max(radius + 20, 0.87 * radius + 30 + letter * longest);
  const above = 30 + line * at(0).length;
  const below = 24 + line * Math.max(1, ...ring.map((_, p) => (p === 0 ? 0 : at(p).length)));
  const [x, y] = [width / 2, above + radius + 18];
  const turn = (2 * Math.PI) / ring.length;
  const spot = (p: number, r: number): [number, number] => [x + r * Math.sin(p * turn), y - r * Math.cos(p * turn)];
  const gap = 26 / radius / turn;
  return (
    <svg class="induced" viewBox={`0 0 ${width} ${y + radius + below}`} role="img" aria-label={`The ring, going right: ${ring.join(", ")}. State: ${texts(state)}. The step changes: ${texts(change)}`}>
      {ring.map((_, p) => {
        const [from, to] = [spot(p + gap, radius), spot(p + 1 - gap, radius)];
        const angle = ((p + 1 - gap) * turn * 180) / Math.PI;
        return (
          <g key={p} class="arc">
            <path d={`M${from.join(" ")}A${radius} ${radius} 0 ${(1 - 2 * gap) * turn > Math.PI ? 1 : 0} 1 ${to.join(" ")}`} />
            <path class="head" d="M-9 -5L0 0L-9 5" transform={`translate(${to.join(" ")})rotate(${angle})`} />
          </g>
        );
      })}
      {ring.map((id, p) => {
        const [px, py] = spot(p, radius);
        const side = Math.abs(px - x) < 1 ? 0 : Math.sign(px - x);
        const lines = at(p);
        const first = side !== 0 ? py + 5 + (py < y - 1 ? -line * (lines.length - 1) : 0) : py < y ? py - 28 - line * (lines.length - 1) : py + 38;
        return (
          <g key={id} class="process">
            <circle cx={px} cy={py} r="18" />
            <text class="id" x={px} y={py + 5} text-anchor="middle">{id}</text>
            {lines.map(([text, fresh], k) => (
              <text key={text} class={fresh ? "new" : ""} x={px + 27 * side} y={first + line * k} text-anchor={side === 0 ? "middle" : side > 0 ? "start" : "end"}>{text}</text>
            ))}
          </g>
        );
      })}
    </svg>
  );
}
