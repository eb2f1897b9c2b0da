// A story on paper: each stop with its text and the drawing at that moment.

import { useMemo } from "preact/hooks";
import type { Engine, RunAnswer, Story } from "../engine";
import { Network } from "../draw/network";
import { Playback } from "../model/playback";
import { RunModel } from "../model/run";
import { sentence } from "../model/story";
import { Failed, Going, useAsked } from "../views/parts/ask";
import { places, storyAddress, type Place } from "./model";
import { Paragraphs, rich } from "./text";

export function Handout({ engine, story }: { engine: Engine; story: Story }) {
  const asked = useAsked<RunAnswer[]>(story.name, (_, signal) => Promise.all(story.chapters.map((c) => engine.run(c.run, undefined, signal))));
  const runs = useMemo(() => asked.answer?.map((a) => new RunModel(a)), [asked.answer]);
  const stops = useMemo(() => places(story), [story]);
  return (
    <article class="handout">
      <nav class="crumbs" aria-label="Handout">
        <a href={storyAddress(story.name)}>To the story</a>
        <button type="button" class="primary" disabled={runs === undefined} onClick={() => print()}>Print</button>
      </nav>
      <header>
        <h1>{story.title}</h1>
        <p class="source">{story.source}</p>
        {story.about !== "" && <p>{rich(story.about)}</p>}
      </header>
      <Going asked={asked} />
      <Failed text={asked.error} />
      {runs !== undefined && stops.map((place, i) => <Sheet key={i} place={place} number={i + 1} run={runs[place.chapter]!} call={asked.answer![place.chapter]!.call} />)}
    </article>
  );
}

function Sheet({ place, number, run, call }: { place: Place; number: number; run: RunModel; call: string }) {
  const playback = useMemo(() => new Playback(run.length, place.step), [run, place]);
  const step = run.steps[place.step - 1];
  return (
    <>
      {place.stop === 0 && (
        <header class="opens">
          <h2>{place.of.title}</h2>
          <p><code>{call}</code></p>
        </header>
      )}
      <section class="sheet" aria-label={`Stop ${number}`}>
        <div class="picture">
          <Network run={run} playback={playback} variables={false} />
          <p class="caption">{step === undefined ? "Before the first step" : `Step ${step.step}${run.header.clock ? `, t = ${run.time(place.step)}` : ""}: ${sentence(run, step)}`}</p>
        </div>
        <div class="words">
          <p class="number" aria-hidden="true">{number}</p>
          <Paragraphs text={place.text} />
        </div>
      </section>
    </>
  );
}
