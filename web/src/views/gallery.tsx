// The gallery: elections that are broken on purpose. Each names the assumption that does not hold, and plays a run that shows why it is
// needed.

import { useState } from "preact/hooks";
import type { ViewProps } from "../frame";
import { go, writeAddress } from "../address";
import type { CallAnswer, Catalogue, Engine, RunAnswer } from "../engine";
import { Failed, Going, useAsked } from "./parts/ask";
import { useCatalogue } from "./run/answers";
import { Command } from "./run/export";
import { Player } from "./run/player";
import { runAddress } from "./run";
import { sentence } from "./verify";

type Exhibit = Catalogue["gallery"][number];

/** The exhibits by what they are about. */
const halls: { title: string; has: (e: Exhibit) => boolean }[] = [
  { title: "Rings", has: (e) => !/^(bully|logical-ring|quorum-bully)-/.test(e.name) },
  { title: "Crashes and cuts", has: (e) => /^(bully|logical-ring)-/.test(e.name) },
  { title: "Leases of a majority", has: (e) => e.name.startsWith("quorum-bully-") },
];

export const exhibitAddress = (name: string): string => writeAddress({ view: "gallery", rest: [name] });

export function GalleryView({ engine, address }: ViewProps) {
  const catalogue = useCatalogue(engine);
  const all = catalogue.answer?.gallery ?? [];
  const name = address.rest[0];
  const exhibit = all.find((e) => e.name === name);
  return (
    <section class="view view-gallery" aria-label="Gallery">
      <Failed text={catalogue.error} />
      <Going asked={catalogue} />
      {name === undefined ? (
        <Halls all={all} />
      ) : exhibit !== undefined ? (
        <Exhibited key={name} engine={engine} exhibit={exhibit} all={all} at={Number(address.query.get("at") ?? 0)} />
      ) : (
        catalogue.answer !== undefined && <p class="error banner" role="alert">The gallery has no {name}. <a href="#/gallery">All exhibits</a></p>
      )}
    </section>
  );
}

function Halls({ all }: { all: Exhibit[] }) {
  return (
    <>
      <h1>Broken on purpose</h1>
      <p class="lead">Each of these elections lacks one assumption, or one rule. The checker finds a run that shows why it is there.</p>
      {halls.map((hall) => {
        const own = all.filter(hall.has);
        return own.length === 0 ? null : (
          <section aria-label={hall.title}>
            <h2>{hall.title}</h2>
            <ul class="cards">
              {own.map((e) => (
                <li>
                  <a href={exhibitAddress(e.name)}>
                    <span class="broken">{sentence(e.broken)}</span>
                    <span class="property">Without it: {e.property}</span>
                    <span class="name">{e.name}</span>
                  </a>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </>
  );
}

interface Violation {
  property: string;
  detail: string;
  steps: unknown[];
}

interface Verified {
  gallery?: { states?: unknown; walks?: unknown; violation?: Violation }[];
}

function Exhibited({ engine, exhibit, all, at }: { engine: Engine; exhibit: Exhibit; all: Exhibit[]; at: number }) {
  const asked = useAsked<CallAnswer & { answer?: RunAnswer }>(exhibit.name, (progress, signal) => engine.exhibit(exhibit.name, progress, signal));
  const found = (asked.answer?.result as Verified | undefined)?.gallery?.[0]?.violation;
  const index = all.indexOf(exhibit);
  const [next, before] = [all[index + 1], all[index - 1]];
  const run = asked.answer?.answer;
  return (
    <article class="exhibit">
      <nav class="crumbs" aria-label="Exhibits">
        <a href="#/gallery">All exhibits</a>
        <span>
          {before && <a href={exhibitAddress(before.name)} rel="prev">Before</a>} {next && <a href={exhibitAddress(next.name)} rel="next">Next</a>}
        </span>
      </nav>
      <header>
        <p class="overline">{exhibit.name}</p>
        <h1>{sentence(exhibit.broken)}</h1>
        <p class="lead">
          Here this does not hold. <b class="wrong">{found === undefined ? `${sentence(exhibit.property)}.` : `${sentence(found.property)}: ${found.detail}.`}</b>
        </p>
      </header>
      <Going asked={asked}> <span class="muted">The checker looks for such a run.</span></Going>
      <Failed text={asked.error} />
      {run !== undefined && <Played engine={engine} name={exhibit.name} answer={run} at={at} />}
      {asked.answer?.run !== undefined && <p><a class="primary" href={runAddress(asked.answer.run)}>Take over this run</a></p>}
      {asked.answer !== undefined && <Command call={exhibit.command === "" || exhibit.command === undefined ? `ringleader verify --gallery ${exhibit.name}` : `ringleader verify ${exhibit.command}`} />}
    </article>
  );
}

/** The counterexample. It begins at its beginning, and the address keeps the step. */
function Played({ engine, name, answer, at }: { engine: Engine; name: string; answer: RunAnswer; at: number }) {
  const [first] = useState(Number.isFinite(at) ? at : 0);
  return (
    <Player
      answer={answer}
      engine={engine}
      at={first}
      parts={["network", "controls", "happened", "rule", "diagram", "knows", "events"]}
      onRest={(step) => {
        const query = new URLSearchParams(step > 0 ? { at: String(step) } : {});
        go(writeAddress({ view: "gallery", rest: [name], query }), true);
      }}
    />
  );
}
