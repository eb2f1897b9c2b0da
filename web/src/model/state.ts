// The state text of a process, "ID 5, Members [1 2], Given {Holder 4, Won}", as variables in the names of the source. Variables at
// zero are not in the text.

export interface Variable {
  name: string;
  value: string; // "" of a flag that is up
}

/** The variables of a state text. */
export function variables(text: string): Variable[] {
  const found: Variable[] = [];
  let depth = 0;
  let from = 0;
  const take = (to: number): void => {
    const part = text.slice(from, to).trim();
    if (part === "") return;
    const named = /^([\p{L}_][\p{L}\p{N}_]*)(?:[ =](.*))?$/su.exec(part);
    found.push(named === null ? { name: "", value: part } : { name: named[1]!, value: named[2] ?? "" });
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === "{" || c === "[" || c === "(") depth++;
    else if (c === "}" || c === "]" || c === ")") depth--;
    else if (c === "," && depth === 0) {
      take(i);
      from = i + 1;
    }
  }
  take(text.length);
  return found;
}

const structured = (value: string): boolean => /^[{[]/.test(value);

/** A text without the names of its variables: "64, 4"; nothing of one with structures, which no drawing has room for. */
export function values(text: string): string {
  const all = variables(text);
  return all.some((v) => structured(v.value)) ? "" : all.map((v) => (v.value === "" ? v.name : v.value)).join(", ");
}

/** A variable in a few letters: "Round 3", "Replies […]". */
export function brief({ name, value }: Variable): string {
  if (value === "") return name;
  if (value.length <= mostLetters) return `${name} ${value}`;
  return structured(value) ? `${name} ${value[0]}…${value.at(-1)}` : `${name} ${value.slice(0, mostLetters - 1)}…`;
}

/** Whether a variable is short enough to be seen in full. */
export const isBrief = (v: Variable): boolean => v.value.length <= mostLetters;

const mostLetters = 12; // of a value

/** A variable, and whether the last step of its process changed it. */
export interface Known extends Variable {
  changed: boolean;
}

/** The variables after a step, beside those before it: changed ones are marked, and one that became zero remains, as "0". */
export function known(before: string, after: string): Known[] {
  const was = variables(before);
  const old = new Map(was.map((v) => [v.name, v.value]));
  const now = variables(after).map((v) => ({ ...v, changed: before !== "" && old.get(v.name) !== v.value }));
  const names = new Set(now.map((v) => v.name));
  const gone = was.filter((v) => !names.has(v.name)).map((v) => ({ name: v.name, value: v.value === "" ? "no" : "0", changed: true }));
  return [...now, ...gone];
}
