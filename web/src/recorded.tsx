// A page of one run, as `ringleader run --draw run.html` writes it: it has the answer in itself, and nothing else is asked.

import { useAddress } from "./address";
import { Failure, type Engine, type Listing, type RunAnswer } from "./engine";
import { Theme } from "./frame";
import { parse } from "./http";
import { whole } from "./model/whole";
import { PlayedRun } from "./views/run";

export interface Recorded {
  answer: RunAnswer;
  listing: Listing | undefined; // of the run's algorithm, if the program has its text
}

/** The run that the page has in itself, if any. */
export function recorded(): Recorded | undefined {
  const held = <T,>(id: string): T | undefined => {
    const text = document.getElementById(id)?.textContent;
    return text ? parse<T>(text) : undefined;
  };
  const answer = held<RunAnswer>("answer");
  return answer && { answer: whole(answer), listing: held<Listing>("listing") };
}

/** The engine of such a page. It has the text of the algorithm. */
function engineOf({ listing }: Recorded): Engine {
  const none = (): Promise<never> => Promise.reject(new Failure("This page has one run; ringleader lab has all others."));
  return {
    catalogue: none, run: none, call: none, exhibit: none, search: none, models: none, induction: none, stories: none, draw: none, chart: none, act: none,
    listing: () => (listing === undefined ? none() : Promise.resolve(listing)),
  };
}

export function RecordedRun({ of }: { of: Recorded }) {
  const at = Number(useAddress().query.get("at") ?? 0); // #/run?at=12 begins there
  return (
    <>
      <header class="frame">
        <span class="name">Ringleader</span>
        <div class="settings"><Theme /></div>
      </header>
      <main id="main" tabIndex={-1}>
        <div class="runview">
          <div class="shown">
            <PlayedRun answer={of.answer} engine={engineOf(of)} at={Number.isInteger(at) ? at : 0} />
          </div>
        </div>
      </main>
    </>
  );
}
