// What is shown where no group is live: how to see one.

import { useState } from "preact/hooks";

const ways: { text: string; line: string }[] = [
  { text: "five processes of this machine, to kill, pause and cut off by clicking", line: "ringleader demo --lab" },
  { text: "a group of yours that runs, only to look at", line: "ringleader lab --members 1=http://127.0.0.1:8001,2=http://127.0.0.1:8002,3=http://127.0.0.1:8003" },
];

export function Absent() {
  return (
    <section class="live-absent">
      <h1>A live group</h1>
      <p>
        This page shows a running group: which member leads and in which term, how its lease runs down, and which times had no leader. No group is shown here now. One of these
        commands opens the page on one:
      </p>
      <ul>{ways.map((way) => <Way key={way.line} {...way} />)}</ul>
    </section>
  );
}

function Way({ text, line }: { text: string; line: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <li>
      <p>{text}</p>
      <pre tabIndex={0}><code>{line}</code></pre>
      <button type="button" aria-label={`copy: ${line}`} onClick={() => void navigator.clipboard.writeText(line).then(() => setCopied(true), () => setCopied(false))}>{copied ? "copied" : "copy"}</button>
    </li>
  );
}
