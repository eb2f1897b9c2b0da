// A run beside a narration: the network above its space–time diagram.

import { useMemo } from "preact/hooks";
import type { RunAnswer } from "../engine";
import { Network } from "../draw/network";
import { SpaceTime } from "../draw/spacetime";
import type { Playback } from "../model/playback";
import { RunModel } from "../model/run";

export function useModel(answer: RunAnswer | undefined): RunModel | undefined {
  return useMemo(() => (answer === undefined ? undefined : new RunModel(answer)), [answer]);
}

export function Scene({ run, playback }: { run: RunModel; playback: Playback }) {
  return (
    <div class="scene">
      <Network run={run} playback={playback} />
      <SpaceTime run={run} playback={playback} />
    </div>
  );
}
