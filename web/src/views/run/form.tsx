// The form of a run: an algorithm, its ring or graph, the schedule, the faults, the parameters.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Algorithm, Catalogue, Run } from "../../engine";
import { formOf, quote, split, wordsOf, type Form } from "../../model/words";
import { useStateOf } from "../parts/state";

export interface RunFormProps {
  catalogue: Catalogue;
  run: Run;
  onRun: (run: Run) => void;
}

export function RunForm({ catalogue, run, onRun }: RunFormProps) {
  const key = JSON.stringify(run.run);
  const [form, setForm] = useStateOf<Form>(key, () => formOf(run.run));
  const algorithm = algorithmOf(catalogue, form.algorithm);
  const change = (by: Partial<Form>): void => setForm((was) => ({ ...was, ...by }));
  const start = (by: Partial<Form> = {}): void => onRun({ run: wordsOf(formOf(wordsOf({ ...form, ...by }))) });
  const timing = algorithm?.timing ?? "asynchronous";
  const parameters = algorithm?.parameters ?? [];
  return (
    <form
      class="runform"
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
    >
      <AlgorithmField catalogue={catalogue} value={form.algorithm} onChange={(name) => change({ algorithm: name, parameters: {}, ...(name === form.algorithm ? {} : { topology: "" }), ...(ordered(algorithmOf(catalogue, name)) ? {} : { order: "" }) })} />
      {algorithm !== undefined && <p class="about">{algorithm.about}</p>}
      <fieldset class="ring">
        <legend>Processes</legend>
        <label>Number <input type="number" min="1" max={catalogue.limits.processes} value={form.ids.trim() === "" ? form.n : String(form.ids.split(",").length)} onInput={(event) => change({ n: event.currentTarget.value, ids: "" })} /></label>
        {ordered(algorithm) && (
          <div class="orders" role="group" aria-label="Order of identifiers">
            {catalogue.orders.map((order) => (
              <button type="button" key={order} aria-pressed={form.ids === "" && (form.order || "increasing") === order} onClick={() => { change({ order, ids: "" }); start({ order, ids: "" }); }}>{order}</button>
            ))}
          </div>
        )}
        <label class="wide">Identifiers, clockwise <input value={form.ids} placeholder="by number and order, or 5,4,3,2,1" inputMode="numeric" spellcheck={false} onInput={(event) => change({ ids: event.currentTarget.value })} /></label>
        {(algorithm?.topology === "tree" || form.topology !== "") && <Text label="Tree" value={form.topology} placeholder="path" list={["path", "star", "binary", "random-tree"]} onChange={(topology) => change({ topology })} />}
      </fieldset>
      <fieldset>
        <legend>Schedule</legend>
        <Text label="Initiators" value={form.start} placeholder="all; or 3,5; or any" list={["all", "any"]} onChange={(value) => change({ start: value })} />
        {timing === "asynchronous" && (
          <label>Schedule
            <select value={form.schedule || "fifo"} onChange={(event) => change({ schedule: event.currentTarget.value === "fifo" ? "" : event.currentTarget.value })}>
              {catalogue.schedules.map((s) => <option key={s}>{s}</option>)}
            </select>
          </label>
        )}
        {timing === "timed" && <Text label="Longest delay" value={form.delay} placeholder="1" onChange={(delay) => change({ delay })} />}
        {timing === "synchronous" && <Text label="Wakes at" value={form.wake} placeholder="0,0,3,-" onChange={(wake) => change({ wake })} />}
        {timing !== "asynchronous" && <Text label="Ends at" value={form.until} placeholder="when it is quiet" onChange={(until) => change({ until })} />}
        <Text label="Seed" value={form.seed} placeholder="1" onChange={(seed) => change({ seed })} />
      </fieldset>
      {parameters.length > 0 && (
        <fieldset>
          <legend>Parameters</legend>
          {parameters.map((p) => (
            <label key={p.name} title={p.about}>{p.name}
              {p.choices !== undefined && p.choices.length > 0 ? (
                <select value={form.parameters[p.name] ?? p.default} onChange={(event) => change({ parameters: { ...form.parameters, [p.name]: event.currentTarget.value === p.default ? "" : event.currentTarget.value } })}>
                  {p.choices.map((v) => <option key={v}>{v}</option>)}
                </select>
              ) : (
                <input value={form.parameters[p.name] ?? ""} placeholder={p.default} spellcheck={false} onInput={(event) => change({ parameters: { ...form.parameters, [p.name]: event.currentTarget.value } })} />
              )}
            </label>
          ))}
        </fieldset>
      )}
      <fieldset>
        <legend>Faults and further flags</legend>
        <label class="wide">Faults, a line each
          <textarea rows={Math.max(2, form.faults.length)} value={form.faults.join("\n")} placeholder={timing === "asynchronous" ? "dead 3\nreorder" : "crash 5 at 30\npartition 1,2 | 3,4,5 from 30 until 90"} spellcheck={false} onInput={(event) => change({ faults: event.currentTarget.value.split("\n") })} />
        </label>
        <Further value={form.others} onChange={(others) => change({ others })} />
      </fieldset>
      <div class="foot"><button class="primary">Run</button></div>
    </form>
  );
}

function Further({ value, onChange }: { value: string[]; onChange: (words: string[]) => void }) {
  const [typed, setTyped] = useState("");
  const text = JSON.stringify(split(typed)) === JSON.stringify(value) ? typed : quote(value);
  return (
    <label class="wide">Further flags
      <input value={text} placeholder="--non-fifo --dead=3" spellcheck={false} onInput={(event) => { setTyped(event.currentTarget.value); onChange(split(event.currentTarget.value)); }} />
    </label>
  );
}

function Text({ label, value, placeholder, list, onChange }: { label: string; value: string; placeholder: string; list?: string[]; onChange: (value: string) => void }) {
  const id = `list-${label.replace(/\W/g, "")}`;
  return (
    <label>{label}
      <input value={value} placeholder={placeholder} spellcheck={false} list={list === undefined ? undefined : id} onInput={(event) => onChange(event.currentTarget.value)} />
      {list !== undefined && <datalist id={id}>{list.map((v) => <option key={v} value={v} />)}</datalist>}
    </label>
  );
}

/** Whether the places of processes matter to an algorithm: on a complete graph all are alike. */
function ordered(algorithm: Algorithm | undefined): boolean {
  return algorithm === undefined || !algorithm.topology.includes("complete");
}

/** The algorithm of that name, or nothing. */
export function algorithmOf(catalogue: Catalogue, name: string): Algorithm | undefined {
  return catalogue.algorithms.find((a) => a.name === name);
}

/** How far an algorithm is from what was typed: its name comes before what begins so, and that before what has the words anywhere. */
function distance(a: Algorithm, typed: string): number {
  if (a.name === typed.replaceAll(" ", "-")) return 0;
  return a.name.startsWith(typed) ? 1 : a.title.toLowerCase().startsWith(typed) ? 2 : 3;
}

/** A field for an algorithm: a list that typing searches by name, title, source and year. */
export function AlgorithmField({ catalogue, value, onChange, label = "Algorithm" }: { catalogue: Catalogue; value: string; onChange: (name: string) => void; label?: string }) {
  const [search, setSearch] = useState<string | undefined>();
  const [marked, setMarked] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const chosen = algorithmOf(catalogue, value);
  const found = useMemo(() => {
    const words = (search ?? "").toLowerCase().split(/\s+/).filter((w) => w !== "");
    const all = catalogue.algorithms.filter((a) => {
      const text = `${a.name} ${a.title} ${a.year} ${a.source} ${a.topology} ${a.timing}`.toLowerCase();
      return words.every((w) => text.includes(w));
    });
    const typed = words.join(" ");
    return typed === "" ? all : all.toSorted((a, b) => distance(a, typed) - distance(b, typed));
  }, [catalogue, search]);
  const open = search !== undefined;
  const choose = (a: Algorithm | undefined): void => {
    setSearch(undefined);
    if (a !== undefined) onChange(a.name);
  };
  useEffect(() => {
    if (open) box.current?.querySelector(".marked")?.scrollIntoView({ block: "nearest" });
  }, [marked, open]);
  return (
    <div class="algorithm" ref={box} onFocusOut={(event) => box.current?.contains(event.relatedTarget as Node | null) || setSearch(undefined)}>
      <label>
        <span>{label}</span>
        <input
          role="combobox"
          aria-expanded={open}
          aria-controls="algorithms"
          aria-autocomplete="list"
          aria-activedescendant={open && found.length > 0 ? `algorithm-${found[Math.min(marked, found.length - 1)]!.name}` : undefined}
          value={search ?? chosen?.title ?? value}
          placeholder="search by name, source or year"
          spellcheck={false}
          autoComplete="off"
          onFocus={(event) => { setSearch(""); setMarked(Math.max(0, catalogue.algorithms.findIndex((a) => a.name === value))); event.currentTarget.select(); }}
          onClick={() => setSearch((was) => was ?? "")}
          onInput={(event) => { setSearch(event.currentTarget.value); setMarked(0); }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") setMarked(Math.min(found.length - 1, marked + 1));
            else if (event.key === "ArrowUp") setMarked(Math.max(0, marked - 1));
            else if (event.key === "Enter" && open) choose(found[marked]);
            else if (event.key === "Escape") setSearch(undefined);
            else return;
            event.preventDefault();
          }}
        />
      </label>
      {open && (
        <ul id="algorithms" role="listbox" aria-label="Algorithms">
          {found.map((a, i) => (
            <li key={a.name} id={`algorithm-${a.name}`} role="option" aria-selected={a.name === value} class={i === marked ? "marked" : ""} onPointerDown={(event) => { event.preventDefault(); choose(a); }}>
              <b>{a.title}</b> <span>{a.year}</span>
              <small>{a.source} · {a.timing} {a.topology}</small>
            </li>
          ))}
          {found.length === 0 && <li class="none" role="option" aria-selected="false" aria-disabled="true">No algorithm has all these words.</li>}
        </ul>
      )}
    </div>
  );
}
