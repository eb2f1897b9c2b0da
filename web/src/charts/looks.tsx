// The colours and markers of things that are compared: those of ringleader compare --draw. Colour-blind readers can distinguish
// them, and each has a shape of its own.

const count = 7;

/** The colours that are in force. */
export function looks(): string[] {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.hidden = true;
  const found = Array.from({ length: count }, (_, i) => {
    probe.style.color = `var(--look-${i})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return found;
}

type Corner = [x: number, y: number];

function polygon(x: number, y: number, radius: number, corners: number, turned: number): Corner[] {
  return Array.from({ length: corners }, (_, i) => {
    const angle = turned + (2 * Math.PI * i) / corners;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

function star(x: number, y: number, outer: number, inner: number, tips: number): Corner[] {
  return Array.from({ length: 2 * tips }, (_, i) => polygon(x, y, i % 2 === 0 ? outer : inner, 2 * tips, -Math.PI / 2)[i]!);
}

function corners(look: number, x: number, y: number, r: number): Corner[] {
  switch (look % 8) {
    case 0: return polygon(x, y, r, 24, 0);
    case 1: return polygon(x, y, r * 1.25, 4, Math.PI / 4);
    case 2: return polygon(x, y, r * 1.35, 3, -Math.PI / 2);
    case 3: return polygon(x, y, r * 1.35, 4, 0);
    case 4: return polygon(x, y, r * 1.35, 3, Math.PI / 2);
    case 5: return star(x, y, r * 1.5, r * 0.62, 5);
    case 6: return polygon(x, y, r * 1.15, 6, 0);
    default: return star(x, y, r * 1.5, r * 0.5, 4);
  }
}

/** The marker of a look, on a canvas. */
export function symbol(look: number, x: number, y: number, radius: number): Path2D {
  return new Path2D(outline(look, x, y, radius));
}

function outline(look: number, x: number, y: number, radius: number): string {
  return `M${corners(look, x, y, radius).map(([cx, cy]) => `${cx.toFixed(2)} ${cy.toFixed(2)}`).join("L")}Z`;
}

/** The marker of a look, in a text. */
export function Mark({ look }: { look: number }) {
  return (
    <svg class="mark" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      <path d={outline(look, 7, 7, 4.5)} style={{ fill: `var(--look-${look % count})` }} />
    </svg>
  );
}
