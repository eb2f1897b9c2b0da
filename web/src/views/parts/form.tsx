// Fields of forms. A field is a label with its control, so that a press on the text is one on the control; and a button that explains it,
// which keyboards and fingers reach, too.

import { cloneElement, type ComponentChildren, type VNode } from "preact";
import { useId, useState } from "preact/hooks";

export function Field({ label, children, hint }: { label: string; children: VNode<any>; hint?: string }) {
  const id = useId();
  const [button, text] = useHelp(label, hint);
  return (
    <div class="field" title={hint}>
      <span class="name"><label for={id}>{label}</label>{button}</span>
      {cloneElement(children, { id })}
      {text}
    </div>
  );
}

/** A button that shows and hides an explanation, and the explanation. */
function useHelp(label: string, hint: string | undefined): [button: ComponentChildren, text: ComponentChildren] {
  const [open, setOpen] = useState(false);
  const id = useId();
  if (hint === undefined) return [null, null];
  return [
    <button type="button" class="help" aria-label={`What is “${label}”?`} aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>?</button>,
    <p class="explained" id={id} hidden={!open}>{hint}</p>,
  ];
}

export function Choose({ label, value, from, onChange, hint }: { label: string; value: string; from: (string | [string, string])[]; onChange: (value: string) => void; hint?: string }) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      <select value={value} onChange={(e) => onChange(e.currentTarget.value)}>
        {from.map((option) => {
          const [word, text] = typeof option === "string" ? [option, option] : option;
          return <option value={word}>{text}</option>;
        })}
      </select>
    </Field>
  );
}

export function Whole({ label, value, least, most, onChange, hint }: { label: string; value: number; least: number; most: number; onChange: (value: number) => void; hint?: string }) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      <input
        type="number"
        inputMode="numeric"
        value={value}
        min={least}
        max={most}
        onChange={(e) => {
          const given = Math.round(e.currentTarget.valueAsNumber);
          const value = Number.isFinite(given) ? Math.min(most, Math.max(least, given)) : least;
          e.currentTarget.value = String(value);
          onChange(value);
        }}
      />
    </Field>
  );
}

export function Check({ label, value, onChange, hint }: { label: string; value: boolean; onChange: (value: boolean) => void; hint?: string }) {
  const [button, text] = useHelp(label, hint);
  return (
    <div class="checked" title={hint}>
      <span class="name">
        <label class="check">
          <input type="checkbox" checked={value} onChange={(e) => onChange(e.currentTarget.checked)} />
          <span>{label}</span>
        </label>
        {button}
      </span>
      {text}
    </div>
  );
}

/** One of a few words, each with an address. */
export function Tabs({ label, tabs, current }: { label: string; tabs: { name: string; title: string; href: string }[]; current: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a href={tab.href} aria-current={tab.name === current ? "true" : undefined}>{tab.title}</a>
      ))}
    </nav>
  );
}

/** A list of words: each can be taken away, and more can be added. */
export function Chips({ label, words, from, most, mark, onChange }: { label: string; words: string[]; from: string[]; most: number; mark?: (index: number) => ComponentChildren; onChange: (words: string[]) => void }) {
  const [typed, setTyped] = useState("");
  const id = `chips-${label.replace(/\W+/g, "-")}`;
  const add = (word: string): void => {
    const clean = word.trim();
    if (clean === "" || words.length >= most) return;
    setTyped("");
    if (!words.includes(clean)) onChange([...words, clean]);
  };
  return (
    <div class="chips" role="group" aria-label={label}>
      {words.map((word, i) => (
        <span class="chip">
          {mark?.(i)}
          {word}
          <button type="button" aria-label={`Leave out ${word}`} onClick={() => onChange(words.filter((w) => w !== word))}>×</button>
        </span>
      ))}
      {words.length < most && (
        <form
          class="add"
          onSubmit={(e) => {
            e.preventDefault();
            add(typed);
          }}
        >
          <input
            list={id}
            value={typed}
            placeholder="add an algorithm"
            aria-label="Add an algorithm"
            onInput={(e) => {
              const value = e.currentTarget.value;
              if (from.includes(value) && (e as InputEvent).inputType !== "insertText") add(value);
              else setTyped(value);
            }}
          />
          <datalist id={id}>{from.filter((word) => !words.includes(word)).map((word) => <option value={word} />)}</datalist>
          <button type="submit" disabled={typed.trim() === ""}>Add</button>
        </form>
      )}
    </div>
  );
}
