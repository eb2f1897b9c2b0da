// The colours of the style sheet, for drawing on a canvas.

const names = ["paper", "raised", "ink", "muted", "grid", "axis", "election", "announcement", "overhead", "star", "alive", "pale", "shade", "band", "edge", "wrong", "accent"] as const;

export type Palette = Record<(typeof names)[number], string>;

let cached: Palette | undefined;
const hearers = new Set<() => void>();

function forget(): void {
  cached = undefined;
  for (const hearer of [...hearers]) hearer();
}

/** The colours that are in force. */
export function palette(): Palette {
  if (cached === undefined) {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.hidden = true;
    const found: Partial<Palette> = {};
    for (const name of names) {
      probe.style.color = `var(--${name})`;
      found[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    cached = found as Palette;
  }
  return cached;
}

/** Calls back when light turns to dark, until the returned function is called. */
export function hearTheme(hearer: () => void): () => void {
  hearers.add(hearer);
  return () => hearers.delete(hearer);
}

/** Listens for changes of the theme, once for the page. */
export function watchTheme(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", forget);
  new MutationObserver(forget).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}
