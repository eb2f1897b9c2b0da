// Steps in words, as ringleader run --story has them.

import type { Decision, Step } from "../engine";
import type { RunModel } from "./run";

/** A message in words: "⟨probe ID 5, TTL 0⟩". */
export const described = (kind = "", text = ""): string => `⟨${kind}${text === "" ? "" : ` ${text}`}⟩`;

/** "3", "3 and 4", "3, 4 and 5". */
export function list(names: string[]): string {
  return names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** A time for people: long ones are shortened, and the longest is for ever. */
export function time(text: string): string {
  if (text.length <= 9) return text;
  return text === "340282366920938463463374607431768211455" ? "ever" : `${text[0]}.${text.slice(1, 3)}e${text.length - 1}`;
}

/** The event of a step: "initiates". */
export function eventText(run: RunModel, step: Step): string {
  const other = run.names[(step.from ?? 0) - 1] ?? "?";
  switch (step.event) {
    case "start": return "initiates";
    case "receive": return `receives ${described(step.kind, step.text)} from ${other}`;
    case "lost": return `${described(step.kind, step.text)} from ${other} is lost (${run.role(step.process, step.step - 1) === "crashed" ? "receiver down" : "on the link"})`;
    case "timeout": return `${(step.text ?? "").replace(/ timeout$/, "")} timer expires`;
    case "crash": return `crashes ${step.text ?? ""}`.trim();
    case "recover": return "recovers";
    case "suspect": return `suspects ${other}`;
    case "trust": return `trusts ${other} again`;
    case "command": return `is asked to ${step.text ?? ""}`;
    case "fault": return `fault: ${step.text ?? ""}`;
    case "heal": return `healed: ${step.text ?? ""}`;
  }
}

/** A decision: "follower of 5 in term 2". */
export function decisionText(decision: Decision): string {
  let text = decision.role === "leader" ? "leader" : decision.role === "follower" ? "follower" : "electing";
  if (decision.role === "follower" && decision.leader !== undefined) text += ` of ${decision.leader}`;
  if (decision.term !== undefined && String(decision.term) !== "0") text += ` in term ${decision.term}`;
  if (decision.lease !== undefined) text += ` for ${time(decision.lease)}`;
  return text;
}

/** The random choices of a step: those among the same number of values together. */
function draws(step: Step): string[] {
  const did: string[] = [];
  const drew = step.drew ?? [];
  for (let i = 0; i < drew.length; ) {
    const { among } = drew[i]!;
    const values: string[] = [];
    for (; i < drew.length && drew[i]!.among === among; i++) values.push(String(drew[i]!.value));
    did.push(`draws ${list(values)} (of 0 to ${among - 1})`);
  }
  return did;
}

/** What a step did. */
export function effects(run: RunModel, step: Step): string[] {
  if (step.broken !== undefined) return [`breaks the contract: ${step.broken}`];
  const did = draws(step);
  const sent = step.sent ?? [];
  for (let i = 0; i < sent.length; ) {
    const what = described(sent[i]!.kind, sent[i]!.text);
    const to: string[] = [];
    for (; i < sent.length && described(sent[i]!.kind, sent[i]!.text) === what; i++) to.push(run.names[sent[i]!.to] ?? "?");
    did.push(`sends ${what} to ${list(to)}`);
  }
  for (const timer of step.timers ?? []) {
    const name = timer.timer.replace(/ timeout$/, "");
    did.push(timer.after === undefined ? `cancels ${name} timer` : `sets ${name} timer ${time(timer.after) === "ever" ? "for ever" : `to ${time(timer.after)}`}`);
  }
  for (const decision of step.decided ?? []) did.push(decisionText(decision));
  return did;
}

/** Faults of links are events of no process. */
export function isOfLinks(step: Step): boolean {
  return (step.event === "fault" || step.event === "heal") && /^(partition|cut) /.test(step.text ?? "");
}

/** A step as a sentence: "5 receives ⟨election 5⟩ from 1: sends ⟨leader 5⟩ to 4". */
export function sentence(run: RunModel, step: Step): string {
  const subject = isOfLinks(step) ? "" : `${run.names[step.process]} `;
  const did = effects(run, step);
  return `${subject}${eventText(run, step)}${did.length === 0 ? "" : `: ${did.join("; ")}`}`;
}
