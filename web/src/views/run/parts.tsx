// The panels beside the network: what happens, what each process knows, the rule, the costs, the events.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Algorithm, Engine, Listing } from "../../engine";
import { unit } from "../../draw/hooks";
import { dashes } from "../../draw/kinds";
import { roleNames } from "../../draw/network";
import { Head, Sign } from "../../draw/symbols";
import type { RunModel } from "../../model/run";
import { known } from "../../model/state";
import { decisionText, effects, eventText, isOfLinks, time } from "../../model/story";

interface At {
  run: RunModel;
  at: number; // the number of steps taken
}

/** The step that has just happened. */
export function Happened({ run, at }: At) {
  const step = at > 0 ? run.steps[at - 1] : undefined;
  if (step === undefined) return <p class="happened">{run.length === 0 ? "No event has happened yet." : `The beginning: nothing is decided yet. ${run.length} events follow. ▶ or the space bar plays them; → makes one.`}</p>;
  const did = effects(run, step);
  return (
    <p class={`happened${step.broken === undefined ? "" : " wrong"}`}>
      <Sign shape={step.event} />
      <span>
        {isOfLinks(step) ? null : <b>{run.names[step.process]} </b>}
        {eventText(run, step)}
        {did.length > 0 && <span class="effects">{did.join("; ")}</span>}
      </span>
    </p>
  );
}

const mostRows = 64;

/** What each process knows, in the names of the source. */
export function Knows({ run, at, selected, onSelect }: At & { selected?: number | undefined; onSelect?: (process: number) => void }) {
  const from = Math.max(0, Math.min(run.n - mostRows, (selected ?? 0) - mostRows / 2));
  const shown = Array.from({ length: Math.min(mostRows, run.n) }, (_, i) => from + i);
  return (
    <section class="knows" aria-label="What each process knows">
      <h2>What each process knows{run.n > mostRows && <small> processes {run.names[from]} to {run.names[from + mostRows - 1]} of {run.n}</small>}</h2>
      <div class="rows">
        {shown.map((p) => <Row key={p} run={run} p={p} last={run.lastBefore(p, at)} acted={at > 0 && run.lastBefore(p, at) === at - 1} selected={p === selected} onSelect={onSelect} />)}
      </div>
    </section>
  );
}

interface RowProps {
  run: RunModel;
  p: number;
  last: number;
  acted: boolean;
  selected: boolean;
  onSelect: ((process: number) => void) | undefined;
}

function Row({ run, p, last, acted, selected, onSelect }: RowProps) {
  return useMemo(() => {
    const life = run.life(p, last + 1);
    return (
      <button type="button" class={`row${selected ? " selected" : ""}${acted ? " acting" : ""}`} aria-pressed={selected} onClick={() => onSelect?.(p)}>
        <span class="name"><Sign shape={life.role} />{run.names[p]}</span>
        <span class="role">{life.decision === undefined ? roleNames[life.role] : decisionText(life.decision)}</span>
        <span class="state">
          {known(life.before, life.state).map((v) => (
            <span key={v.name} class={`variable${v.changed && acted ? " changed" : ""}`}><i>{v.name}</i>{v.value === "" ? "" : ` ${v.value}`}</span>
          ))}
          {life.timers.map((t) => <span key={t.name} class="variable timer"><i>{t.name} timer</i> due {time(t.due)}</span>)}
          {life.suspects.length > 0 && <span class="variable wrong">suspects {life.suspects.map((q) => run.names[q]).join(", ")}</span>}
        </span>
      </button>
    );
  }, [run, p, last, acted, selected, onSelect]);
}

const listings = new Map<string, Promise<Listing>>();

function listingOf(engine: Engine, algorithm: string): Promise<Listing> {
  let asked = listings.get(algorithm);
  if (asked === undefined) {
    asked = engine.listing(algorithm);
    asked.catch(() => listings.delete(algorithm));
    listings.set(algorithm, asked);
  }
  return asked;
}

/** The file of the algorithm, with the lines that the step ran through. */
export function Rule({ run, at, engine }: At & { engine: Engine }) {
  const [listing, setListing] = useState<Listing | string | undefined>();
  const box = useRef<HTMLPreElement>(null);
  const algorithm = run.header.algorithm;
  useEffect(() => {
    let current = true;
    listingOf(engine, algorithm).then((l) => current && setListing(l), (error: Error) => current && setListing(error.message));
    return () => { current = false; };
  }, [engine, algorithm]);
  const lines = (at > 0 ? run.steps[at - 1]!.lines : undefined) ?? [];
  const key = lines.join(" ");
  useEffect(() => {
    const first = box.current?.querySelector<HTMLElement>(".fires");
    if (box.current && !first && at === 0 && typeof listing === "object") {
      box.current.scrollTop = box.current.querySelectorAll("code")[opening(listing.lines, run)]!.offsetTop;
    }
    if (!box.current || !first) return;
    const last = [...box.current.querySelectorAll<HTMLElement>(".fires")].at(-1)!;
    const middle = (first.offsetTop + last.offsetTop + last.offsetHeight) / 2;
    const fits = last.offsetTop + last.offsetHeight - first.offsetTop < box.current.clientHeight;
    box.current.scrollTop = fits ? middle - box.current.clientHeight / 2 : first.offsetTop - 24;
  }, [key, listing, at === 0]);
  const marked = useMemo(() => new Set(lines), [key]);
  const text = useMemo(() => typeof listing === "object" && listing.lines.map((line, i) => <Line key={i} number={i + 1} text={line} fires={marked.has(i + 1)} />), [listing, marked]);
  const lined = useMemo(() => run.steps.some((step) => step.lines !== undefined), [run]);
  return (
    <section class="rule" aria-label="The rule of the source">
      <h2>The rule{typeof listing === "object" && <small>{listing.name}</small>}</h2>
      {!lined && run.steps.length > 0 && <p class="muted">The steps of a run as long as this one do not name their lines.</p>}
      {listing === undefined ? (
        <p class="muted">Loading …</p>
      ) : typeof listing === "string" ? (
        <p class="error" role="alert">{listing}</p>
      ) : (
        <pre ref={box} tabIndex={0} role="group" aria-label="The algorithm's file">
          {text}
        </pre>
      )}
    </section>
  );
}

/** The index of the line at which a listing opens: the comment of the function of the first step. */
function opening(lines: readonly string[], run: RunModel): number {
  const fired = run.steps.find((step) => step.lines !== undefined)?.lines?.[0];
  let line = fired === undefined ? lines.findIndex((text) => /^func .*\b(start|initiate|receive)\(/i.test(text)) : fired - 1;
  while (fired !== undefined && line > 0 && !/^(func|var) /.test(lines[line]!)) line--;
  while (line > 0 && lines[line - 1]!.startsWith("//")) line--;
  return Math.max(0, line);
}

function Line({ number, text, fires }: { number: number; text: string; fires: boolean }) {
  return useMemo(() => {
    const comment = /(^|\s)\/\/.*$/.exec(text);
    const code = comment === null ? text : text.slice(0, comment.index);
    return (
      <code class={fires ? "fires" : ""} aria-current={fires ? "step" : undefined}>
        <span class="number">{number}</span>
        {code}
        {comment !== null && <span class="comment">{text.slice(comment.index)}</span>}
        {"\n"}
      </code>
    );
  }, [number, text, fires]);
}

/** Messages so far, against the bound of the source. */
export function Costs({ run, at, algorithm }: At & { algorithm?: Algorithm | undefined }) {
  const { bound, by_phase: phases } = run.result;
  const lines = useMemo(() => dashes(run.header), [run]);
  const now = run.classes(at);
  const counts = run.counts(at);
  const of = bound?.of === "election" || bound?.of === "announcement" ? bound.of : "total";
  const limit = bound === undefined || bound.of === "time" ? undefined : bound.messages;
  return (
    <section class="costs" aria-label="Costs">
      <h2>Messages so far</h2>
      <table>
        <tbody>
          {run.header.kinds.map((kind, i) => (
            <tr key={kind.name}>
              <th scope="row"><Head of={kind.class} dashes={lines[i]} />{kind.name}{kind.class === "overhead" && <small class="muted"> overhead</small>}</th>
              <td data-kind={kind.name}>{counts[i]!.toLocaleString("en")}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr><th scope="row">total{now.overhead > 0 && <small class="muted"> without overhead</small>}</th><td data-kind="total">{now.total.toLocaleString("en")}</td></tr>
        </tfoot>
      </table>
      <Curve run={run} at={at} of={of} limit={limit} />
      {limit !== undefined && limit !== null && bound !== undefined ? (
        <p class="bound">{of === "total" ? "all" : of} messages: {now[of].toLocaleString("en")} of at most {bound.formula} = {limit.toLocaleString("en")}</p>
      ) : (
        algorithm !== undefined && algorithm.bounds.length > 0 && <p class="bound">{algorithm.bounds.map((b) => `${b.case} case of ${b.of}${b.one_start ? " with one initiator" : ""}: ${b.formula}`).join("; ")}</p>
      )}
      {phases !== undefined && phases.length > 0 && <Phases counts={phases} entered={run.entered} />}
    </section>
  );
}

const [curveWidth, curveHeight] = [320, 72];

/** The count over the run, below the bound. */
function Curve({ run, at, of, limit }: At & { of: "election" | "announcement" | "total"; limit: number | null | undefined }) {
  const top = Math.max(limit ?? 0, run.classes(run.length)[of], 1);
  const y = (count: number): number => curveHeight - 2 - ((curveHeight - 6) * count) / top;
  const x = (moment: number): number => (curveWidth * moment) / Math.max(1, run.length);
  const path = useMemo(() => {
    const points = Math.min(run.length, 240);
    let text = `M0 ${y(0)}`;
    for (let k = 1; k <= points; k++) {
      const moment = Math.round((k * run.length) / points);
      text += `L${x(moment).toFixed(1)} ${y(run.classes(moment)[of]).toFixed(1)}`;
    }
    return text;
  }, [run, of, top]);
  if (run.length < 2) return null;
  const count = run.classes(at)[of];
  return (
    <svg class={`curve ${of}`} viewBox={`0 0 ${curveWidth} ${curveHeight}`} preserveAspectRatio="none" role="img" aria-label={`${count} messages${limit === undefined || limit === null ? "" : ` of at most ${limit}`}`}>
      <path class="whole" d={path} />
      <path class="area" d={`${path}V${curveHeight}H0Z`} style={{ clipPath: `inset(0 ${(100 * (1 - at / run.length)).toFixed(2)}% 0 0)` }} />
      {limit !== undefined && limit !== null && <path class="limit" d={`M0 ${y(limit)}H${curveWidth}`} />}
      <path class="now" d={`M${x(at).toFixed(1)} 0V${curveHeight}`} />
    </svg>
  );
}

function Phases({ counts, entered }: { counts: number[]; entered: number[] | undefined }) {
  const most = Math.max(1, ...counts);
  return (
    <figure class="phases">
      <figcaption>Messages in each phase{entered !== undefined && ", and below it the candidates that begin it"}</figcaption>
      <ol tabIndex={counts.length > 12 ? 0 : undefined}>
        {counts.map((count, phase) => (
          <li key={phase} title={`phase ${phase}: ${count} messages${entered === undefined ? "" : `, begun by ${entered[phase]} candidates`}`}>
            <b>{count}</b>
            <span style={{ height: `${(100 * count) / most}%` }} />
            <small>{phase}</small>
            {entered !== undefined && <i>{entered[phase]}</i>}
          </li>
        ))}
      </ol>
    </figure>
  );
}

/** All events as a list, of which only the visible part is in the page. */
export function Events({ run, at, onGo }: At & { onGo: (at: number) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const rowHeight = useMemo(() => Math.round(26 * unit()), []);
  const height = 8 * rowHeight;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const y = (at - 1) * rowHeight;
    if (y < element.scrollTop || y > element.scrollTop + height - rowHeight) element.scrollTop = Math.max(0, y - height / 2);
  }, [at, run]);
  const stretch = Math.min(1, 8_000_000 / Math.max(1, run.length * rowHeight)); // browsers bound the height of elements
  const first = Math.max(0, Math.floor(top / stretch / rowHeight) - 4);
  const shown = run.steps.slice(first, first + 18);
  return (
    <section class="events" aria-label="Events">
      <h2>Events</h2>
      <div class="scroll" ref={box} tabIndex={0} role="group" aria-label="All events" style={{ height: `${height}px` }} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <ol style={{ height: `${run.length * rowHeight * stretch}px`, paddingTop: `${first * rowHeight * stretch}px` }} start={first + 1}>
          {shown.map((step) => (
            <li key={step.step} style={{ height: `${rowHeight}px` }}>
              <button type="button" tabIndex={-1} class={step.step === at ? "current" : step.step > at ? "ahead" : ""} aria-current={step.step === at ? "step" : undefined} onClick={() => onGo(step.step)}>
                <span class="number">{step.step}</span>
                {run.header.clock && <span class="time">{time(step.time)}</span>}
                <Sign shape={step.event} />
                <b>{isOfLinks(step) ? "" : run.names[step.process]}</b>
                <span class="text">{eventText(run, step)}{effects(run, step).length > 0 && <i> · {effects(run, step).join("; ")}</i>}</span>
              </button>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}
