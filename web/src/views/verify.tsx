// The checker: every schedule of a small election, and the run that violates a property, if there is one.

import { useState } from "preact/hooks";
import type { ViewProps } from "../frame";
import { go, writeAddress, type Address } from "../address";
import type { Algorithm, CallAnswer, Run } from "../engine";
import { digits, numberOf } from "../charts/numbers";
import { Failed, Going, useAsked } from "./parts/ask";
import { useCatalogue } from "./run/answers";
import { Command } from "./run/export";
import { runAddress } from "./run";
import { Check, Choose, Field, Whole } from "./parts/form";

/** What the address has: a question, as words of the command line. */
interface Question {
  algorithm: string;
  n: number;
  start: string;
  faults: Record<string, number>; // by flag
  reorder: boolean;
  lazy: boolean;
  delay: number; // 0: as the algorithm has it
  random: number; // walks in place of the search
  reduce: boolean; // fewer states, where that shows the same
  parameters: Record<string, string>;
}

const faultFlags: [flag: string, label: string, hint: string][] = [
  ["crash", "crashes", "of any process, at any moment"],
  ["recover", "recoveries", "of crashed processes"],
  ["lose", "lost messages", "any message"],
  ["duplicate", "duplicates", "messages that arrive twice"],
  ["cut", "cuts", "of a link, one way or both, or between two sides; each ends"],
  ["suspect-falsely", "wrong suspicions", "of live processes"],
  ["resign", "resignations", "a host asks its process to resign"],
];

const starts: [string, string][] = [
  ["all", "all, at first"],
  ["any", "the schedule decides"],
  ["every-set", "every set of processes"],
  ["each", "each, at any time"],
];

const examples: { title: string; args: Partial<Question> }[] = [
  { title: "LCR on every ring of 4", args: { algorithm: "lcr", n: 4 } },
  { title: "Bully with a crash and a recovery", args: { algorithm: "bully", n: 3, faults: { crash: 1, recover: 1 } } },
  { title: "Bully that waits too little", args: { algorithm: "bully", n: 3, start: "every-set", parameters: { "answer-timeout": "2" } } },
  { title: "Bully and a cut", args: { algorithm: "bully", n: 3, faults: { cut: 1 } } },
];

const none: Question = { algorithm: "lcr", n: 4, start: "all", faults: {}, reorder: false, lazy: false, delay: 0, random: 0, reduce: false, parameters: {} };

function read(address: Address): Question {
  const q = address.query;
  const whole = (name: string): number => {
    const value = Number(q.get(name));
    return Number.isInteger(value) && value > 0 ? value : 0;
  };
  return {
    algorithm: q.get("algorithm") ?? none.algorithm,
    n: whole("n") || none.n,
    start: q.get("start") ?? none.start,
    faults: Object.fromEntries(faultFlags.map(([flag]) => [flag, whole(flag)])),
    reorder: q.get("reorder") === "1",
    lazy: q.get("lazy") === "1",
    delay: whole("delay"),
    random: whole("random"),
    reduce: q.get("reduce") === "1",
    parameters: Object.fromEntries(q.getAll("param").map((p) => p.split(/=(.*)/s).slice(0, 2)).filter(([name, value]) => name && value)) as Record<string, string>,
  };
}

function addressOf(question: Question, asked: boolean): string {
  const query = new URLSearchParams({ algorithm: question.algorithm, n: String(question.n) });
  if (question.start !== "all") query.set("start", question.start);
  for (const [flag, count] of Object.entries(question.faults)) if (count > 0) query.set(flag, String(count));
  if (question.reorder) query.set("reorder", "1");
  if (question.lazy) query.set("lazy", "1");
  if (question.delay > 0) query.set("delay", String(question.delay));
  if (question.random > 0) query.set("random", String(question.random));
  if (question.reduce) query.set("reduce", "1");
  for (const [name, value] of Object.entries(question.parameters)) query.append("param", `${name}=${value}`);
  if (asked) query.set("go", "1");
  return writeAddress({ view: "verify", query });
}

function words(q: Question): string[] {
  return [
    "verify",
    q.algorithm,
    `--n=${q.n}`,
    ...(q.start === "all" ? [] : [`--start=${q.start}`]),
    ...Object.entries(q.faults).flatMap(([flag, count]) => (count > 0 ? [`--${flag}=${count}`] : [])),
    ...(q.reorder ? ["--reorder=true"] : []),
    ...(q.lazy ? ["--lazy=true"] : []),
    ...(q.delay > 0 ? [`--delay=${q.delay}`] : []),
    ...(q.random > 0 ? [`--random=${q.random}`] : q.reduce ? ["--reduce=auto"] : []),
    ...Object.entries(q.parameters).map(([name, value]) => `--param=${name}=${value}`),
  ];
}

export function VerifyView({ engine, address }: ViewProps) {
  const question = read(address);
  const go1 = address.query.get("go") === "1";
  const catalogue = useCatalogue(engine);
  const algorithms = catalogue.answer?.algorithms ?? [];
  const algorithm = algorithms.find((a) => a.name === question.algorithm);
  const [again, setAgain] = useState(0);
  const asked = useAsked<CallAnswer>(go1 ? JSON.stringify([question, again]) : undefined, (progress, signal) => engine.call(words(question), progress, signal));
  const change = (to: Partial<Question>): void => go(addressOf({ ...question, ...to }, false), true);
  return (
    <section class="view view-verify" aria-label="Verify">
      <h1>Every order, every schedule</h1>
      <p class="lead">The checker tries whatever can happen in a small election. A violation is a run with the fewest steps.</p>
      <Failed text={catalogue.error ?? (catalogue.answer !== undefined && algorithm === undefined ? `There is no algorithm ${question.algorithm}. Choose one below.` : undefined)} />
      <div class="examples" role="group" aria-label="Examples">
        {examples.map((e) => (
          <a class="quiet" href={addressOf({ ...none, ...e.args, faults: { ...e.args.faults } }, true)}>{e.title}</a>
        ))}
      </div>
      <form
        class="options"
        onSubmit={(e) => {
          e.preventDefault();
          setAgain(again + 1);
          go(addressOf(question, true), go1);
        }}
      >
        <div class="fields">
          <Choose label="algorithm" value={question.algorithm} from={algorithm === undefined ? [question.algorithm, ...algorithms.map((a) => a.name)] : algorithms.map((a) => a.name)} onChange={(name) => change({ algorithm: name, parameters: {} })} />
          <Whole label="n" value={question.n} least={1} most={9} onChange={(n) => change({ n })} hint="The number of processes; every order of their identifiers is tried" />
          <Choose label="initiators" value={question.start} from={starts} onChange={(start) => change({ start })} hint="The processes that begin by themselves: all before any message arrives; at moments that the schedule chooses; each set of them in turn; or each process, or none, at any time" />
          <Whole label="random walks" value={question.random} least={0} most={1_000_000} onChange={(random) => change({ random })} hint="So many runs with random choices, in place of the search of all, which ends only for small elections. They find violations, and prove nothing; 0: search" />
          <Check label="fewer states" value={question.reduce} onChange={(reduce) => change({ reduce })} hint="Leave out schedules and orders that are known to show nothing more. The answer is the same with less memory; a violation may have more steps than it needs" />
        </div>
        <fieldset class="fields">
          <legend>What may go wrong, and how often</legend>
          {faultFlags.map(([flag, label, hint]) => (
            <Whole label={label} hint={hint} value={question.faults[flag] ?? 0} least={0} most={9} onChange={(count) => change({ faults: { ...question.faults, [flag]: count } })} />
          ))}
          <Check label="messages overtake" value={question.reorder} onChange={(reorder) => change({ reorder })} hint="Links are not FIFO: a message may arrive before one that was sent earlier on the same link" />
          {algorithm?.timing === "timed" && <Whole label="longest delay" value={question.delay} least={0} most={9} onChange={(delay) => change({ delay })} hint="Messages take 1 to this many units of time, whatever the algorithm assumes; 0: as long as its parameter delay says" />}
          {algorithm?.timing === "timed" && <Check label="lazy time" value={question.lazy} onChange={(lazy) => change({ lazy })} hint="For algorithms with leases: no event is urgent. Messages and timers take any time, and the clocks of the processes run differently" />}
        </fieldset>
        <Parameters algorithm={algorithm} given={question.parameters} onChange={(parameters) => change({ parameters })} />
        <div class="actions">
          <button class="primary" type="submit" disabled={asked.busy && go1}>Verify</button>
          {asked.busy && go1 && <button type="button" onClick={() => go(addressOf(question, false), true)}>Cancel</button>}
          <Command call={`ringleader ${words(question).join(" ")}`} />
        </div>
      </form>
      <Going asked={asked} />
      <Failed text={asked.error} />
      {asked.answer !== undefined && !asked.busy && <Found answer={asked.answer} />}
    </section>
  );
}

function Parameters({ algorithm, given, onChange }: { algorithm: Algorithm | undefined; given: Record<string, string>; onChange: (given: Record<string, string>) => void }) {
  if (algorithm === undefined || algorithm.parameters.length === 0) return null;
  const set = (name: string, value: string): void => {
    const { [name]: _, ...rest } = given;
    onChange(value.trim() === "" ? rest : { ...rest, [name]: value.trim() });
  };
  return (
    <details open={Object.keys(given).length > 0}>
      <summary>Parameters of {algorithm.name}</summary>
      <p class="muted">What the algorithm itself is given. An empty field has the value that it shows.</p>
      <div class="fields">
        {algorithm.parameters.map((p) =>
          p.choices !== undefined && p.choices !== null && p.choices.length > 0 ? (
            <Choose label={`parameter ${p.name}`} hint={sentence(p.about)} value={given[p.name] ?? p.default} from={p.choices} onChange={(value) => set(p.name, value === p.default ? "" : value)} />
          ) : (
            <Field label={`parameter ${p.name}`} hint={sentence(p.about)}>
              <input value={given[p.name] ?? ""} placeholder={p.default} onChange={(e) => set(p.name, e.currentTarget.value)} />
            </Field>
          ),
        )}
      </div>
    </details>
  );
}

interface Verification {
  algorithm: string;
  n: number;
  orders: number;
  states: unknown;
  transitions: unknown;
  depth: number;
  complete: boolean;
  holds: boolean;
  walks?: unknown;
  unclaimed?: string[];
  sometimes?: Record<string, boolean>;
  max_messages?: { total: unknown; election: unknown };
  min_messages?: { total: unknown; election: unknown };
  violation?: { property: string; detail: string; steps: unknown[] };
}

/** What was found. */
function Found({ answer }: { answer: CallAnswer }) {
  const v = answer.result as Verification;
  const walked = numberOf(v.walks) ?? 0;
  const verdict = v.violation !== undefined ? "violated" : v.holds ? "holds" : "open";
  return (
    <section class={`verdict ${verdict}`} aria-label="Result" aria-live="polite">
      <h2>
        <span class="sign" aria-hidden="true">{{ violated: "✕", holds: "✓", open: "?" }[verdict]}</span>{" "}
        {v.violation !== undefined ? `Violated: ${v.violation.property}` : v.holds ? "Holds, whatever happens" : walked > 0 ? `No violation in ${digits(walked)} random walks` : "No violation so far; the search is not finished"}
      </h2>
      {v.violation !== undefined && <p class="detail">{sentence(v.violation.detail)}, after {v.violation.steps.length} {v.violation.steps.length === 1 ? "step" : "steps"}.</p>}
      {v.violation !== undefined && answer.run !== undefined && <OpenRun run={answer.run} steps={v.violation.steps.length} />}
      <dl class="facts">
        {v.orders > 1 && <Fact name="orders" value={digits(v.orders)} />}
        <Fact name={walked > 0 ? "steps" : "states"} value={digits(numberOf(v.states))} />
        {walked === 0 && <Fact name="transitions" value={digits(numberOf(v.transitions))} />}
        <Fact name="most steps" value={digits(v.depth)} />
        {v.max_messages !== undefined && v.min_messages !== undefined && <Fact name="election messages" value={range(v.min_messages.election, v.max_messages.election)} />}
        {v.max_messages !== undefined && v.min_messages !== undefined && <Fact name="all messages" value={range(v.min_messages.total, v.max_messages.total)} />}
      </dl>
      {v.unclaimed !== undefined && <p class="muted">Outside its fault model: {v.algorithm} is not made for {v.unclaimed.join(", ")}.</p>}
      {v.sometimes !== undefined && (
        <p class="muted">
          Happened: {Object.entries(v.sometimes).filter(([, happened]) => happened).map(([event]) => event).join(", ") || "nothing of note"}.
          {Object.values(v.sometimes).includes(false) && ` Never happened: ${Object.entries(v.sometimes).filter(([, happened]) => !happened).map(([event]) => event).join(", ")}.`}
        </p>
      )}
    </section>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return <div><dt>{name}</dt><dd>{value}</dd></div>;
}

function range(least: unknown, most: unknown): string {
  const [a, b] = [digits(numberOf(least)), digits(numberOf(most))];
  return a === b ? a : `${a} to ${b}`;
}

/** A text with a capital, unless it begins with a variable. */
export function sentence(text: string): string {
  return /^\w\b/.test(text) && !/^a\b/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

function OpenRun({ run, steps }: { run: Run; steps: number }) {
  return <p><a class="primary" href={runAddress(run)}>Play these {steps} {steps === 1 ? "step" : "steps"}</a></p>;
}
