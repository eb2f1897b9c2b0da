// The frame of all views: the name, the links to the views, light and dark, the keys.

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useAddress, type Address } from "./address";
import type { Engine } from "./engine";
import { keys } from "./views/run/controls";
import { RunView } from "./views/run";
import { CostsView } from "./views/costs";
import { RaceView } from "./views/race";
import { VerifyView } from "./views/verify";
import { GalleryView } from "./views/gallery";
import { ProofsView } from "./views/proofs";
import { StoriesView } from "./views/stories";
import { LiveView } from "./views/live";
import { IncidentView, useDrops } from "./views/incident";

/** What a view gets. */
export interface ViewProps {
  engine: Engine;
  address: Address;
}

interface View {
  title: string;
  view: ComponentType<ViewProps>;
  about: string;
  below?: RegExp; // what may follow its name in an address
}

const views: Record<string, View> = {
  run: { title: "Run", view: RunView, about: "play one election, step by step, and be its adversary" },
  race: { title: "Race", view: RaceView, about: "two or three algorithms on the same ring" },
  costs: { title: "Costs", view: CostsView, about: "messages and time, over n", below: /^(phases|time)$/ },
  verify: { title: "Verify", view: VerifyView, about: "every schedule of a small election" },
  gallery: { title: "Gallery", view: GalleryView, about: "elections that are broken on purpose", below: /^[^/]+$/ },
  proofs: { title: "Proofs", view: ProofsView, about: "why an election is right for every n", below: /^[^/]+$/ },
  stories: { title: "Stories", view: StoriesView, about: "guided walks through elections", below: /^[^/]+(\/(\d+|handout))?$/ },
  live: { title: "Live", view: LiveView, about: "a group that runs" },
  incident: { title: "Incident", view: IncidentView, about: "why a group lost its leader, from its record" },
};

const lost: View = { title: "No such page", view: Lost, about: "" };

/** The view of an address. */
function viewOf({ view, rest }: Address): View {
  const found = Object.hasOwn(views, view) ? views[view]! : lost;
  return rest.length === 0 || found.below?.test(rest.join("/")) === true ? found : lost;
}

/** An address that is no page. */
function Lost({ address }: ViewProps) {
  return (
    <section class="view" aria-label="No such page">
      <h1>There is no such page</h1>
      <p class="lead" role="alert">The lab has no page “{[address.view, ...address.rest].join("/")}”. The address may be mistyped, or cut off. These are the pages:</p>
      <ul class="ways">
        {Object.entries(views).map(([name, v]) => <li key={name}><a href={`#/${name}`}>{v.title}</a> <span class="muted">{v.about}</span></li>)}
      </ul>
    </section>
  );
}

export function Frame({ engine }: { engine: Engine }) {
  const address = useAddress();
  const shown = viewOf(address);
  const View = shown.view;
  useDrops(engine);
  useEffect(() => {
    document.title = `${shown.title} · Ringleader`;
  }, [shown]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>To the content</a>
      <header class="frame">
        <a class="name" href="#/">
          <svg viewBox="-12 -12 24 24" aria-hidden="true">
            <circle r="8.5" />
            <path d="M0 -12.5L1.4 -9.4L4.8 -9L2.3 -6.7L3 -3.4L0 -5.1L-3 -3.4L-2.3 -6.7L-4.8 -9L-1.4 -9.4Z" />
          </svg>
          Ringleader
        </a>
        <nav aria-label="Views">
          {Object.entries(views).map(([name, v]) => (
            <a key={name} href={`#/${name}`} aria-current={v === shown ? "page" : undefined}>{v.title}</a>
          ))}
        </nav>
        <div class="settings">
          <Keys />
          <Theme />
        </div>
      </header>
      <main id="main" tabIndex={-1}><View engine={engine} address={address} /></main>
    </>
  );
}

const themes = ["system", "light", "dark"] as const;
type ThemeName = (typeof themes)[number];

/** Light, dark, or as the system has it. The choice is kept. */
export function Theme() {
  const [theme, setTheme] = useState<ThemeName>(stored);
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]!;
  const icons = { system: "M12 3A9 9 0 1 0 12 21ZM12 3A9 9 0 0 1 12 21", light: "M12 7.5A4.5 4.5 0 1 0 12 16.5A4.5 4.5 0 1 0 12 7.5M12 1.5V4M12 20V22.5M1.5 12H4M20 12H22.5M4.6 4.6L6.3 6.3M17.7 17.7L19.4 19.4M19.4 4.6L17.7 6.3M6.3 17.7L4.6 19.4", dark: "M20 14.5A8.5 8.5 0 1 1 9.5 4A7 7 0 0 0 20 14.5Z" };
  return (
    <button type="button" class="icon theme" onClick={() => setTheme(next)} aria-label={`Theme: ${theme}. Change to ${next}`} title={`Theme: ${theme}`}>
      <svg viewBox="0 0 24 24" aria-hidden="true" class={theme}><path d={icons[theme]} /></svg>
    </button>
  );
}

function stored(): ThemeName {
  try {
    return themes.find((t) => t === localStorage.getItem("theme")) ?? "system";
  } catch {
    return "system";
  }
}

/** The keys of the player, in a dialogue that the key ? opens. */
function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key !== "?" || /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName)) return;
      if (dialog.current?.open) dialog.current.close();
      else dialog.current?.showModal();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return (
    <>
      <button type="button" class="icon" onClick={() => dialog.current?.showModal()} aria-label="Keys" title="Keys (?)">?</button>
      <dialog ref={dialog} class="keys" aria-label="Keys" onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
        <h2>Keys</h2>
        <dl>{keys.map(([key, what]) => <div key={key}><dt>{key.split(" ").map((k) => <kbd key={k}>{k}</kbd>)}</dt><dd>{what}</dd></div>)}<div><dt><kbd>+</kbd><kbd>−</kbd><kbd>0</kbd></dt><dd>zoom the diagram, show all of it</dd></div><div><dt><kbd>?</kbd></dt><dd>these keys</dd></div></dl>
        <form method="dialog"><button>Close</button></form>
      </dialog>
    </>
  );
}
