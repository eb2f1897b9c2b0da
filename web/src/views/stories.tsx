// Guided stories: a narrated walk through runs that stops at the moments that matter, then hands over the controls.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { ViewProps } from "../frame";
import { go } from "../address";
import type { Engine, RunAnswer, Story } from "../engine";
import { usePlayback } from "../draw/hooks";
import { places, storyAddress, type Place } from "../story/model";
import { Handout } from "../story/handout";
import { usePresenter, PresenterKeys, Screen } from "../story/presenter";
import { Paragraphs, rich } from "../story/text";
import { travel } from "../story/travel";
import { Failed, Going, useAsked } from "./parts/ask";
import { runAddress } from "./run";
import { useRunAnswer } from "./run/answers";
import { Player, useRun } from "./run/player";

const asked = new WeakMap<Engine, Promise<Story[]>>();

function stories(engine: Engine): Promise<Story[]> {
  let all = asked.get(engine);
  if (all === undefined) {
    all = engine.stories();
    asked.set(engine, all);
    all.catch(() => asked.delete(engine));
  }
  return all;
}

export function StoriesView({ engine, address }: ViewProps) {
  const all = useAsked<Story[]>("stories", () => stories(engine));
  const [name, at] = address.rest;
  const story = all.answer?.find((s) => s.name === name);
  return (
    <section class="view view-stories" aria-label="Stories">
      <Failed text={all.error} />
      <Going asked={all} />
      {name === undefined ? (
        all.answer !== undefined && <Shelf all={all.answer} />
      ) : story === undefined ? (
        all.answer !== undefined && <p class="error banner" role="alert">There is no story {name}. <a href="#/stories">All stories</a></p>
      ) : at === "handout" ? (
        <Handout engine={engine} story={story} />
      ) : (
        <Told key={story.name} engine={engine} story={story} at={Number(at ?? 1)} next={all.answer?.[all.answer.indexOf(story) + 1]} />
      )}
    </section>
  );
}

function Shelf({ all }: { all: Story[] }) {
  return (
    <>
      <h1>Stories</h1>
      <p class="lead">Each walks through an election, stops at the moments that matter, and then hands over the controls.</p>
      {all.length === 0 && <p class="empty">There are no stories.</p>}
      <ul class="cards">
        {all.map((s) => (
          <li>
            <a href={storyAddress(s.name)}>
              <span class="headline">{s.title}</span>
              {s.about !== "" && <span class="about">{rich(s.about)}</span>}
              <span class="source">{s.source}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** A story at one of its stops, which count from 1. */
function Told({ engine, story, at, next }: { engine: Engine; story: Story; at: number; next: Story | undefined }) {
  const stops = useMemo(() => places(story), [story]);
  const index = Math.min(Math.max(1, Number.isInteger(at) ? at : 1), stops.length) - 1;
  const place = stops[index]!;
  const last = index === stops.length - 1;
  const to = (stop: number): void => {
    if (stop >= 0 && stop < stops.length && stop !== index) go(storyAddress(story.name, stop + 1));
  };
  const [again, setAgain] = useState(0);
  const presenter = usePresenter({
    next: () => to(index + 1),
    back: () => to(index - 1),
    first: () => to(0),
    last: () => to(stops.length - 1),
    again: () => setAgain((n) => n + 1),
  });
  const run = useRunAnswer(engine, place.of.run);
  return (
    <Screen presenter={presenter}>
      <article class="story">
        <nav class="crumbs" aria-label="Story">
          <a href="#/stories">All stories</a>
          <span>
            <a href={storyAddress(story.name, "handout")}>Handout</a>
          </span>
        </nav>
        <header>
          <h1>{story.title}</h1>
          <p class="source">{story.source}</p>
        </header>
        <div class="telling">
          <section class="narration" aria-label="Narration">
            {story.chapters.length > 1 && <p class="chapter">{place.chapter + 1}. {place.of.title}</p>}
            {story.chapters.length === 1 && <p class="chapter">{place.of.title}</p>}
            <div class="words" aria-live="polite" key={index}>
              <Paragraphs text={place.text} />
            </div>
            <Progress stops={stops} index={index} onGo={to} />
            <div class="turn">
              <button type="button" onClick={() => to(index - 1)} disabled={index === 0}>Back</button>
              {last ? (
                next === undefined ? <a class="primary" href="#/stories">All stories</a> : <a class="primary" href={storyAddress(next.name)}>Next story</a>
              ) : (
                <button type="button" class="primary" onClick={() => to(index + 1)}>Next</button>
              )}
              <a class={last ? "primary" : "quiet"} href={runAddress(place.of.run, place.step)}>Take over from here</a>
            </div>
            <PresenterKeys />
          </section>
          <div class="shown">
            <Going asked={run} />
            <Failed text={run.error} />
            {run.answer !== undefined && !run.busy && <Moving key={place.chapter} engine={engine} answer={run.answer} place={place} again={again} />}
          </div>
        </div>
      </article>
    </Screen>
  );
}

/** The run of a chapter: it plays from the stop before to this one. */
function Moving({ engine, answer, place, again }: { engine: Engine; answer: RunAnswer; place: Place; again: number }) {
  const run = useRun(answer);
  const playback = usePlayback(run.length, place.from);
  useEffect(() => travel(playback, place.from, place.step), [playback, place, again]);
  return <Player engine={engine} answer={answer} playback={playback} parts={["network", "happened", "diagram"]} />;
}

function Progress({ stops, index, onGo }: { stops: Place[]; index: number; onGo: (stop: number) => void }) {
  return (
    <ol class="stops" aria-label={`Stop ${index + 1} of ${stops.length}`}>
      {stops.map((s, i) => (
        <li class={s.stop === 0 && i > 0 ? "begins" : ""}>
          <button type="button" aria-current={i === index ? "step" : undefined} aria-label={`Stop ${i + 1}: ${s.moment}`} title={s.moment} onClick={() => onGo(i)} />
        </li>
      ))}
    </ol>
  );
}
