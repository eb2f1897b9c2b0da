// The symbols of the drawings of ringleader run --draw.

export type Shape = "start" | "receive" | "timeout" | "crash" | "recover" | "suspect" | "trust" | "command" | "leader" | "follower" | "undecided" | "lost" | "fault" | "heal" | "asleep" | "crashed" | "paused";

export type MessageClass = "election" | "announcement" | "overhead";

interface Look {
  path: string;
  fill: "ink" | "muted" | "star" | "paper" | "none" | "alive";
  line: number; // width of the stroke; 0: none
  inside?: string; // strokes on top
}

function star(reach: number, inner: number): string {
  let path = "";
  for (let i = 0; i < 10; i++) {
    const radius = i % 2 === 0 ? reach : inner;
    const angle = (Math.PI * i) / 5 - Math.PI / 2;
    path += `${i === 0 ? "M" : "L"}${(radius * Math.cos(angle)).toFixed(2)} ${(radius * Math.sin(angle)).toFixed(2)}`;
  }
  return `${path}Z`;
}

const circle = (r: number): string => `M${r} 0A${r} ${r} 0 1 1 ${-r} 0A${r} ${r} 0 1 1 ${r} 0Z`;
const cross = (r: number): string => `M${-r} ${-r}L${r} ${r}M${r} ${-r}L${-r} ${r}`;
const diamond = "M0 -8.5L8.5 0L0 8.5L-8.5 0Z";

/** Symbols around the origin, about 16 wide. */
export const symbols: Record<Shape, Look> = {
  start: { path: circle(4.5), fill: "ink", line: 0 },
  receive: { path: circle(2.6), fill: "muted", line: 0 },
  timeout: { path: circle(6.5), fill: "paper", line: 1.6, inside: "M0 -4L0 0L3 0" },
  crash: { path: cross(6), fill: "none", line: 3 },
  crashed: { path: cross(6), fill: "none", line: 3 },
  recover: { path: "M-4 -6.5L7 0L-4 6.5Z", fill: "ink", line: 0 },
  suspect: { path: diamond, fill: "paper", line: 1.6, inside: "M-2.2 -1.8Q-2.2 -4.4 0 -4.4Q2.2 -4.4 2.2 -2.2Q2.2 -0.5 0 0.2L0 1.6M0 3L0 4.6" },
  trust: { path: diamond, fill: "paper", line: 1.6, inside: "M-3 0L-1 2.5L3 -2.5" },
  command: { path: "M-6 -6H6V6H-6Z", fill: "paper", line: 1.6, inside: "M-2.5 -3L1.5 0L-2.5 3" },
  leader: { path: star(9.5, 4), fill: "star", line: 1.2 },
  follower: { path: circle(4.5), fill: "paper", line: 1.6 },
  undecided: { path: "M-4.5 -4.5H4.5V4.5H-4.5Z", fill: "paper", line: 1.6 },
  asleep: { path: "M-4.5 -4.5H4.5V4.5H-4.5Z", fill: "none", line: 1 },
  paused: { path: "M-5 -6.5H-1.5V6.5H-5ZM1.5 -6.5H5V6.5H1.5Z", fill: "ink", line: 0 },
  lost: { path: cross(4), fill: "none", line: 1.6 },
  fault: { path: "M0 -7L7 5.5H-7Z", fill: "paper", line: 1.6, inside: "M0 -3V1.5M0 3.2V4.2" },
  heal: { path: circle(6), fill: "paper", line: 1.6, inside: "M-3 0L-1 2.5L3 -2.5" },
};

/** The heads of messages, pointing to the right, with the tip at the origin. */
export const heads: Record<MessageClass, { path: string; fill: boolean; width: number }> = {
  election: { path: "M-12 -5.5L0 0L-12 5.5Z", fill: true, width: 0 },
  announcement: { path: "M-12 -6L-1 0L-12 6Z", fill: false, width: 2.2 },
  overhead: { path: "M-9 -5L0 0L-9 5", fill: false, width: 2 },
};

/** A symbol in an SVG. */
export function Mark({ shape, x = 0, y = 0, scale = 1 }: { shape: Shape; x?: number; y?: number; scale?: number }) {
  const look = symbols[shape];
  return (
    <g class={`symbol ${shape}`} transform={`translate(${x} ${y}) scale(${scale})`}>
      <path d={look.path} fill={look.fill === "none" ? "none" : `var(--${look.fill})`} stroke={look.line === 0 ? "none" : "var(--ink)"} stroke-width={look.line} />
      {look.inside !== undefined && <path d={look.inside} fill="none" stroke="var(--ink)" stroke-width="1.6" />}
    </g>
  );
}

/** A symbol in a line of text. */
export function Sign({ shape }: { shape: Shape }) {
  return (
    <svg class="sign" viewBox="-11 -11 22 22" aria-hidden="true">
      <Mark shape={shape} />
    </svg>
  );
}

/** The head of a message in a line of text, with the dashes of its kind. */
export function Head({ of, dashes }: { of: MessageClass; dashes?: number[] | undefined }) {
  const head = heads[of];
  return (
    <svg class="sign" viewBox={dashes === undefined ? "-17 -11 22 22" : "-30 -11 34 22"} style={dashes === undefined ? {} : { width: "1.9em" }} aria-hidden="true">
      {dashes !== undefined && <path d="M-29 0H-11" stroke={`var(--${of})`} stroke-width="2.6" stroke-dasharray={dashes.join(" ")} />}
      <path d={head.path} fill={head.fill ? `var(--${of})` : of === "announcement" ? "var(--paper)" : "none"} stroke={`var(--${of})`} stroke-width={head.width} />
    </svg>
  );
}

const paths = new Map<string, Path2D>();

/** A path for canvases; each is made once. */
export function path2d(path: string): Path2D {
  let made = paths.get(path);
  if (made === undefined) paths.set(path, (made = new Path2D(path)));
  return made;
}
