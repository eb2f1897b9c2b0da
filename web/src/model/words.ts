// The words of a run, as a form has them: flags with a field of their own, and the rest as it is typed in a shell.

export interface Form {
  algorithm: string;
  ids: string; // "" if n and order determine them
  n: string;
  order: string;
  start: string;
  topology: string;
  schedule: string;
  delay: string;
  wake: string;
  until: string;
  seed: string;
  faults: string[];
  parameters: Record<string, string>;
  others: string[]; // further words
}

const flags = new Set(["all", "leader-dead", "non-fifo", "anonymous", "wardens", "allow-duplicate-ids", "lazy", "check"]);
const fields = ["ids", "n", "order", "start", "topology", "schedule", "delay", "wake", "until", "seed"] as const;

/** The fields of a run's words. */
export function formOf(words: string[]): Form {
  const form: Form = { algorithm: "", ids: "", n: "", order: "", start: "", topology: "", schedule: "", delay: "", wake: "", until: "", seed: "", faults: [], parameters: {}, others: [] };
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const match = /^--?([a-z-]+)(?:=(.*))?$/s.exec(word);
    if (match === null) {
      if (form.algorithm === "") form.algorithm = word;
      else form.others.push(word);
      continue;
    }
    const name = match[1]!;
    let value = match[2];
    if (value === undefined && !flags.has(name) && i + 1 < words.length) value = words[++i];
    const field = fields.find((f) => f === name);
    if (field !== undefined) form[field] = value ?? "";
    else if (name === "fault") form.faults.push(value ?? "");
    else if (name === "param") for (const one of (value ?? "").split(",")) form.parameters[one.split("=", 1)[0]!] = one.slice(one.indexOf("=") + 1);
    else form.others.push(`--${name}=${value ?? "true"}`);
  }
  return form;
}

/** The words of a form. */
export function wordsOf(form: Form): string[] {
  const words = [form.algorithm];
  for (const field of fields) {
    const value = form[field].trim();
    if (value === "" || (form.ids.trim() !== "" && (field === "n" || field === "order"))) continue;
    words.push(`--${field}=${field === "ids" ? value.split(/[\s,;→>]+/).filter((id) => id !== "").join(",") : value}`);
  }
  for (const [name, value] of Object.entries(form.parameters)) if (value !== "") words.push(`--param=${name}=${value}`);
  for (const line of form.faults) if (line.trim() !== "") words.push(`--fault=${line.trim()}`);
  return [...words, ...form.others];
}

/** A line of a shell, as words. */
export function split(line: string): string[] {
  const words: string[] = [];
  for (const match of line.matchAll(/(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)|([^\s"'\\]+))(\s*)/gs)) {
    const part = match[1]?.replace(/\\(.)/gs, "$1") ?? match[2] ?? match[3] ?? match[4] ?? "";
    if (words.length === 0) words.push("");
    words[words.length - 1] += part;
    if (match[5] !== "") words.push("");
  }
  if (words.at(-1) === "") words.pop();
  return words;
}

/** Words as a line of a shell. */
export function quote(words: string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}

/** A list with the element at a place moved to another place. */
export function moved<T>(all: readonly T[], from: number, to: number): T[] {
  const rest = all.filter((_, i) => i !== from);
  return [...rest.slice(0, to), all[from]!, ...rest.slice(to)];
}
