// An incident: the record of a group, from a file that is dropped or chosen, or from members that run. The server explains it, and its page plays in
// a frame that can do nothing else.

import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { go, putRun, writeAddress } from "../address";
import { Failure, type Engine, type Run } from "../engine";
import type { ViewProps } from "../frame";
import { parse } from "../http";
import { Failed, Going, useAsked } from "./parts/ask";

/** What is to be opened: files, or a place; "" is the group that the lab shows. A failure tells why files cannot be opened. */
interface Source {
  number: number; // tells it from the one before
  name: string;
  record: Blob | string | Failure;
}

let opened: Source | undefined;
const changed = new EventTarget();

function openRecord(name: string, record: Source["record"]): void {
  opened = { number: (opened?.number ?? 0) + 1, name, record };
  changed.dispatchEvent(new Event("opened"));
}

const longest = 1_000_000; // characters of an address that each browser takes

/** Opens files. One that is a saved run is shown as such. Several are the records of several members: an archive is segments one after the other. */
async function openFiles(files: File[]): Promise<void> {
  if (files.length === 0) return;
  const name = files.map((f) => f.name).join(", ");
  try {
    const runs = await Promise.all(files.map(savedRun));
    const run = runs.find((r) => r !== undefined);
    if (run !== undefined && files.length > 1) throw new Failure(`${files[runs.indexOf(run)]!.name} is a saved run, and opens alone. Several files at once are the records of several members.`);
    if (run === undefined) {
      openRecord(name, new Blob(files));
    } else {
      go(addressOf(name, run));
      return;
    }
  } catch (error) {
    openRecord(name, error instanceof Failure ? error : new Failure(String(error)));
  }
  go("#/incident");
}

function addressOf(name: string, run: Run): string {
  const query = new URLSearchParams();
  putRun(query, run);
  const address = writeAddress({ view: "run", query });
  if (address.length > longest) throw new Failure(`${name} is too long for the address of a page. In a shell, ringleader replay repeats it.`);
  return address;
}

/** The run in a file that `run --save`, `verify --save` or `explain --export` has written, whatever its name. A file that is no JSON has none. */
async function savedRun(file: File): Promise<Run | undefined> {
  const read = (part: Blob): Promise<string> =>
    part.text().catch(() => {
      throw new Failure(`${file.name} cannot be read. If it is a directory, type its path below instead.`);
    });
  if (!/^\s*\{/.test(await read(file.slice(0, 64)))) return undefined;
  if (file.size <= 16 * longest) { // events are shorter in an address than in a file
    const run = runOf(await read(file));
    if (run !== undefined) return run;
  }
  throw new Failure(`${file.name} is neither a record nor a saved run. ringleader record writes the first, and --save of run and verify the second.`);
}

function runOf(text: string): Run | undefined {
  try {
    const { run, choices } = parse<Partial<Run>>(text);
    if (!Array.isArray(run) || !run.every((word) => typeof word === "string")) return undefined;
    if (choices === undefined) return { run };
    return Array.isArray(choices) ? { run, choices } : undefined;
  } catch {
    return undefined;
  }
}

/** Lets files be dropped on the lab, whatever it shows. */
export function useDrops(engine: Engine): void {
  useLayoutEffect(() => { // a file may come with the first drawing
    if (engine.incident === undefined) return;
    const over = (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      document.body.classList.add("dropping");
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) document.body.classList.remove("dropping");
    };
    // A drag that begins above the frame of an incident is not heard here, and the frame tells of it.
    const told = (event: MessageEvent): void => {
      if (event.data === "dragged") document.body.classList.add("dropping");
    };
    const moved = (): void => document.body.classList.remove("dropping"); // no pointer moves during a drag, so that one has left unheard
    const drop = (event: DragEvent): void => {
      document.body.classList.remove("dropping");
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      void openFiles([...event.dataTransfer.files]);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    addEventListener("message", told);
    addEventListener("pointermove", moved);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
      removeEventListener("message", told);
      removeEventListener("pointermove", moved);
    };
  }, [engine]);
}

export function IncidentView({ engine }: ViewProps) {
  return (
    <section class="view view-incident" aria-label="Incident">
      <h1>Why the leader changed</h1>
      {engine.incident === undefined ? (
        <p class="lead">This site has no server, and a record is read by one. Start <code>ringleader lab</code>, which opens records, or write the page of one: <code>ringleader explain incident.rec --draw incident.html</code>.</p>
      ) : (
        <Opener engine={engine} open={engine.incident} />
      )}
    </section>
  );
}

function Opener({ engine, open }: { engine: Engine; open: NonNullable<Engine["incident"]> }) {
  const [source, setSource] = useState(opened);
  const [place, setPlace] = useState("");
  const [live, setLive] = useState(false);
  useEffect(() => {
    const shown = (): void => setSource(opened);
    changed.addEventListener("opened", shown);
    shown();
    return () => changed.removeEventListener("opened", shown);
  }, []);
  useEffect(() => void engine.catalogue().then((c) => setLive(c.live), () => setLive(false)), [engine]);
  const page = useAsked(source && String(source.number), async (_progress, signal) => {
    const { record } = source!;
    if (record instanceof Failure) throw record;
    return open(record, signal);
  });
  return (
    <>
      <p class="lead">Drop the record of a group here. Members write one, and <code class="whole">ringleader record --out incident.rec DIR…</code> gathers those of all members into a file. A saved run opens, too, such as one of <code class="whole">ringleader explain --export run.json</code>.</p>
      <form class="bar opener" onSubmit={(event) => { event.preventDefault(); if (place.trim() !== "") openRecord(place.trim(), place.trim()); }}>
        <label class="choose"><input type="file" multiple onChange={(event) => { void openFiles([...(event.currentTarget.files ?? [])]); event.currentTarget.value = ""; }} /><span>Choose a file</span></label>
        {live && <button type="button" onClick={() => openRecord("the group of the lab", "")}>The last minutes of the group that the lab shows</button>}
        <label class="field place"><span class="name">or a running member, or its directory</span><input type="text" placeholder="https://10.0.0.1:8443 or data/1" value={place} onInput={(event) => setPlace(event.currentTarget.value)} /></label>
        <button type="submit" disabled={place.trim() === ""}>Open</button>
      </form>
      <Failed text={page.error} />
      <Going asked={page} />
      {page.answer !== undefined && <iframe class="incident" sandbox="allow-scripts" src={page.answer} title={`The incident of ${source?.name ?? "a record"}`} />}
    </>
  );
}
