// The menu of downloads of a run.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Engine, RunAnswer } from "../../engine";
import { textOf } from "./answers";

type What = Parameters<Engine["draw"]>[0];

const downloads: { text: string; what: What["what"]; format: What["format"] }[] = [
  { text: "Space–time diagram, SVG", what: "diagram", format: "svg" },
  { text: "Space–time diagram, PNG", what: "diagram", format: "png" },
  { text: "Network, SVG", what: "network", format: "svg" },
  { text: "Network, PNG", what: "network", format: "png" },
  { text: "Network step by step, GIF", what: "network", format: "gif" },
  { text: "The run on a page, HTML", what: "diagram", format: "html" },
  { text: "The record, JSON lines", what: "diagram", format: "jsonl" },
];

/** Hands a file to the browser's downloads. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A menu that closes when the focus leaves it, and with Escape. */
export function Menu({ text, children }: { text: string; children: ComponentChildren }) {
  const box = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (box.current !== null) box.current.open = false;
  };
  return (
    <details
      class="menu"
      ref={box}
      onFocusOut={(event) => box.current?.contains(event.relatedTarget as Node | null) || event.relatedTarget === null || close()}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        close();
        box.current?.querySelector("summary")?.focus();
      }}
    >
      <summary>{text}</summary>
      <div class="sheet">{children}</div>
    </details>
  );
}

export function Export({ engine, answer }: { engine: Engine; answer: RunAnswer }) {
  const [busy, setBusy] = useState("");
  const [error, setError] = useState("");
  const get = async (d: (typeof downloads)[number]): Promise<void> => {
    setBusy(d.text);
    setError("");
    try {
      const blob = await engine.draw({ ...answer.run, what: d.what, format: d.format });
      download(blob, `${answer.header.algorithm}-${answer.header.n}${d.what === "network" ? "-network" : ""}.${d.format}`);
    } catch (failure) {
      setError(textOf(failure));
    }
    setBusy("");
  };
  const save = (): void => download(new Blob([JSON.stringify({ ringleader: "", ...answer.run }) + "\n"], { type: "application/json" }), answer.run.choices === undefined ? "run.json" : "walk.json");
  return (
    <Menu text="Export">
        {downloads.map((d) => <button type="button" key={d.text} disabled={busy !== ""} onClick={() => get(d)}>{d.text}{busy === d.text && " …"}</button>)}
        <button type="button" onClick={save}>The run, for ringleader replay</button>
        {error !== "" && <p class="error" role="alert">{error}</p>}
    </Menu>
  );
}

/** The command that does the same, to copy. */
export function Command({ call }: { call: string }) {
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    navigator.clipboard.writeText(call).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    }, () => setCopied(false));
  };
  return (
    <div class="command">
      <code tabIndex={0}><span aria-hidden="true">$ </span>{call}</code>
      <button type="button" onClick={copy} aria-label="Copy the command">{copied ? "Copied" : "Copy"}</button>
    </div>
  );
}
