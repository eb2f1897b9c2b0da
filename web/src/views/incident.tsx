// An incident: the record of a group, from a file that is dropped or chosen, or from members that run. The server explains it, and its page plays in
// a frame that can do nothing else.

import { useEffect, useState } from "preact/hooks";
import { go, putRun, writeAddress } from "../address";
import type { Engine, Run } from "../engine";
import type { ViewProps } from "../frame";
import { parse } from "../http";
import { Failed, Going, useAsked } from "./parts/ask";

/** What is to be opened: files, or a place; "" is the group that the lab shows. */
interface Source {
  number: number; // tells it from the one before
  name: string;
  record: Blob | string;
}

let opened: Source | undefined;
const changed = new EventTarget();

function openRecord(name: string, record: Blob | string): void {
  opened = { number: (opened?.number ?? 0) + 1, name, record };
  changed.dispatchEvent(new Event("opened"));
}

/** Opens files. One that is a saved run is shown as such. Several are the records of several members: an archive is segments one after the other. */
async function openFiles(files: File[]): Promise<void> {
  const [only] = files;
  const run = only !== undefined && files.length === 1 && only.name.endsWith(".json") ? savedRun(await only.text()) : undefined;
  if (run !== undefined) {
    const query = new URLSearchParams();
    putRun(query, run);
    go(writeAddress({ view: "run", query }));
  } else if (files.length > 0) {
    openRecord(files.map((f) => f.name).join(", "), new Blob(files));
    go("#/incident");
  }
}

/** The run in a file that `run --save`, `verify --save` or `explain --export` has written. */
function savedRun(text: string): Run | undefined {
  try {
    const { run, choices } = parse<Partial<Run>>(text);
    if (!Array.isArray(run)) return undefined;
    return choices === undefined ? { run } : { run, choices };
  } catch {
    return undefined;
  }
}

/** Lets files be dropped on the lab, whatever it shows. */
export function useDrops(engine: Engine): void {
  useEffect(() => {
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
    const drop = (event: DragEvent): void => {
      document.body.classList.remove("dropping");
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      void openFiles([...event.dataTransfer.files]);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
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
  const page = useAsked(source && String(source.number), (_progress, signal) => open(source!.record, signal));
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
