// The steps of an answer leave out what is known already: their numbers, what a message is that was sent before, and a state that is the
// last one of its process. So answers of long runs come sooner.

import type { RunAnswer, Sent, Step } from "../engine";

/** Adds to the steps of an answer what they leave out. */
export function whole(answer: RunAnswer): RunAnswer {
  const states = [...answer.states];
  const sent: { by: Step; as: Sent }[] = []; // by number - 1
  answer.steps.forEach((step: Step & { same?: 1 }, i) => {
    step.step = i + 1;
    if (step.same === 1) step.state = states[step.process] ?? "";
    else if (step.state !== undefined) states[step.process] = step.state;
    const message = step.message === undefined ? undefined : sent[step.message - 1];
    if (message !== undefined) {
      step.from = message.by.process + 1;
      step.kind = message.as.kind;
      if (message.as.text !== undefined) step.text = message.as.text;
    }
    for (const as of step.sent ?? []) sent.push({ by: step, as });
  });
  return answer;
}
