// The group as a drawing: members on a circle, the links between them, and the lease of a leader as a ring that runs down.

import { useEffect, useRef } from "preact/hooks";
import { Mark, type Shape } from "../draw/symbols";
import { inState, type Group, type Member, type State } from "./group";

export interface Chosen {
  ids: ReadonlySet<string>;
  toggle: (id: string) => void;
}

interface Place {
  x: number;
  y: number;
}

/** Where members are: on a circle, from the top, clockwise. */
function placesOf(members: Member[]): Map<string, Place> {
  const n = members.length;
  const radius = n === 1 ? 0 : 100;
  return new Map(members.map((m, i) => [m.id, { x: radius * Math.sin((2 * Math.PI * i) / n), y: -radius * Math.cos((2 * Math.PI * i) / n) }]));
}

const isAlive = (m: Member): boolean => m.condition === "running" || m.condition === "paused";

export function Drawing({ group, state, chosen, onLink }: { group: Group; state: State; chosen: Chosen; onLink: (a: string, b: string, isCut: boolean) => void }) {
  const svg = useRef<SVGSVGElement>(null);
  useLeases(group, svg);
  const { members } = state;
  const places = placesOf(members);
  const size = members.length === 1 ? 26 : Math.max(4.5, Math.min(21, (200 / members.length) * Math.PI * 0.3));
  const summary = members.map((m) => `${m.id} ${inState(m)}`).join(", ");
  return (
    <svg ref={svg} class={members.length === 1 ? "live-drawing single" : "live-drawing"} viewBox="-150 -150 300 300" role={state.acts ? "group" : "img"} aria-label={`The group: ${summary}`}>
      <Links state={state} places={places} size={size} onLink={onLink} />
      {members.map((m) => {
        const { x, y } = places.get(m.id)!;
        const pressed = chosen.ids.has(m.id);
        const offered = state.acts
          ? {
              role: "button" as const,
              tabIndex: 0,
              "aria-pressed": pressed,
              "aria-label": `${m.id}, ${inState(m)}: a side of a cut`,
              onClick: () => chosen.toggle(m.id),
              onKeyDown: (e: KeyboardEvent) => {
                if (e.key !== "Enter" && e.key !== " ") return;
                e.preventDefault();
                chosen.toggle(m.id);
              },
            }
          : {};
        return (
          <g key={m.id} class={`live-member ${m.condition} ${m.role ?? ""} ${pressed ? "chosen" : ""}`} data-member={m.id} transform={`translate(${x.toFixed(2)} ${y.toFixed(2)})`} {...offered}>
            <title>{`${m.id}: ${inState(m)}`}</title>
            {m.lease !== undefined && <circle class="lease-way" r={size + 5} />}
            <circle class="body" r={size} />
            {m.id.length <= 8 ? <text class="id" style={{ fontSize: `${size * Math.min(0.8, 2.8 / m.id.length)}px` }}>{m.id}</text> : <text class="id outside" y={size + 13}>{m.id}</text>}
            <circle class="lease-ring" data-ring={m.id} r={size + 5} pathLength={100} transform="rotate(-90)" />
            {(m.condition !== "running" || m.role === "leader") && <Mark shape={shapeOf(m)} x={size * 0.86} y={-size * 0.86} scale={Math.max(0.45, Math.min(1, size / 18))} />}
          </g>
        );
      })}
    </svg>
  );
}

/** The symbol of a member. */
export function shapeOf(m: Member): Shape {
  switch (m.condition) {
    case "ended":
      return "crashed";
    case "paused":
      return "paused";
    case "running":
      return m.role === "leader" ? "leader" : m.leader !== undefined ? "follower" : "undecided";
    default:
      return "suspect";
  }
}

function Links({ state, places, size, onLink }: { state: State; places: Map<string, Place>; size: number; onLink: (a: string, b: string, isCut: boolean) => void }) {
  const { members } = state;
  const cut = new Set((state.cut ?? []).map(([a, b]) => `${a} ${b}`));
  const misses = new Set(members.flatMap((m) => (m.misses ?? []).map((other) => `${m.id} ${other}`)));
  let whole = "";
  let faint = "";
  let missed = "";
  const severed: { a: Member; b: Member }[] = [];
  const pairs: { a: Member; b: Member; line: string; isCut: boolean }[] = [];
  members.forEach((a, i) => {
    for (const b of members.slice(i + 1)) {
      const [p, q] = [places.get(a.id)!, places.get(b.id)!];
      const line = `M${p.x.toFixed(1)} ${p.y.toFixed(1)}L${q.x.toFixed(1)} ${q.y.toFixed(1)}`;
      const isCut = cut.has(`${a.id} ${b.id}`) || cut.has(`${b.id} ${a.id}`);
      pairs.push({ a, b, line, isCut });
      if (isCut) severed.push({ a, b });
      else if (misses.has(`${a.id} ${b.id}`) || misses.has(`${b.id} ${a.id}`)) missed += line;
      else if (isAlive(a) && isAlive(b)) whole += line;
      else faint += line;
    }
  });
  return (
    <g class={members.length > 8 ? "live-links crowd" : "live-links"}>
      <path class="faint" d={faint} />
      <path class="missed" d={missed} />
      <path class="whole" d={whole} />
      {severed.map(({ a, b }) => {
        const [p, q] = [places.get(a.id)!, places.get(b.id)!];
        const [x, y] = [(p.x + q.x) / 2, (p.y + q.y) / 2];
        const at = (from: Place, part: number): string => `${(from.x + (x - from.x) * part).toFixed(1)} ${(from.y + (y - from.y) * part).toFixed(1)}`;
        return (
          <g key={`${a.id} ${b.id}`} class="severed">
            <path d={`M${at(p, 0)}L${at(p, 0.86)}M${at(q, 0)}L${at(q, 0.86)}`} />
            <path class="mark" d="M-3.5 -3.5L3.5 3.5M3.5 -3.5L-3.5 3.5" transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`} />
          </g>
        );
      })}
      {members.map((m) => {
        const to = m.leader !== undefined && m.leader !== m.id && m.condition === "running" ? places.get(m.leader) : undefined;
        return to && <path key={m.id} class="follows" d={arrow(places.get(m.id)!, to, size + 8)} />;
      })}
      {members.flatMap((leader) =>
        (leader.grants ?? []).map(({ by }) => {
          const from = by === leader.id ? undefined : places.get(by);
          return from && <path key={`${by} ${leader.id}`} class="grant" data-by={by} data-to={leader.id} pathLength={100} d={between(places.get(leader.id)!, size + 8, from, size)} />;
        }),
      )}
      {state.acts &&
        members.length <= 8 &&
        pairs.map(({ a, b, line, isCut }) => (
          <path key={line} class="hit" d={line} onClick={() => onLink(a.id, b.id, isCut)}>
            <title>{isCut ? "heal" : `cut ${a.id} | ${b.id}`}</title>
          </path>
        ))}
    </g>
  );
}

/** An arrow from a follower to its leader, which ends before the ring of the leader. */
function arrow(from: Place, to: Place, room: number): string {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const [dx, dy] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const [x, y] = [to.x - dx * room, to.y - dy * room];
  const head = (side: number): string => `${(x - 7 * dx + side * 3.5 * dy).toFixed(1)} ${(y - 7 * dy - side * 3.5 * dx).toFixed(1)}`;
  return `M${from.x.toFixed(1)} ${from.y.toFixed(1)}L${x.toFixed(1)} ${y.toFixed(1)}M${head(1)}L${x.toFixed(1)} ${y.toFixed(1)}L${head(-1)}`;
}

/** A line between two members, from the room around the one to that around the other. */
function between(a: Place, roomA: number, b: Place, roomB: number): string {
  const length = Math.hypot(b.x - a.x, b.y - a.y);
  const at = (part: number): string => `${(a.x + (b.x - a.x) * part).toFixed(1)} ${(a.y + (b.y - a.y) * part).toFixed(1)}`;
  return `M${at(roomA / length)}L${at(1 - roomB / length)}`;
}

/** How often leases are drawn where no motion is wanted, in ms. */
const still = 500;

/** Draws the rings of leases as they run down, and writes their rests: with each frame while one is shown, and then no more. */
function useLeases(group: Group, svg: { current: SVGSVGElement | null }): void {
  useEffect(() => {
    const motion = matchMedia("(prefers-reduced-motion: reduce)");
    let frame = 0;
    let drawn = -Infinity;
    const draw = (): void => {
      frame = 0;
      let some = false;
      drawn = performance.now();
      for (const ring of svg.current?.querySelectorAll<SVGCircleElement>("[data-ring]") ?? []) {
        const lease = group.lease(ring.dataset["ring"] ?? "");
        some ||= lease !== undefined;
        const part = lease === undefined ? "0" : Math.min(100, (100 * lease.left) / lease.of).toFixed(1);
        if (ring.dataset["part"] === part) continue;
        ring.dataset["part"] = part;
        ring.style.strokeDasharray = `${part} 100`;
        ring.dataset["state"] = lease === undefined ? "" : lease.left < lease.of / 2 ? "low" : "runs";
      }
      for (const line of svg.current?.querySelectorAll<SVGPathElement>("[data-by]") ?? []) {
        const grant = group.grant(line.dataset["by"] ?? "", line.dataset["to"] ?? "");
        line.style.strokeDasharray = `${grant === undefined ? 0 : ((100 * grant.left) / grant.of).toFixed(1)} 200`;
      }
      const inTens = ({ left }: { left: number }): string => `${(Math.ceil(left / 10) * 10).toFixed(0)} ms`;
      for (const text of document.querySelectorAll<HTMLElement>("[data-lease]")) {
        const id = text.dataset["lease"] ?? "";
        const lease = group.lease(id);
        const grants = (group.state?.members ?? []).flatMap((to) => {
          const grant = to.id === id ? undefined : group.grant(id, to.id);
          return grant === undefined ? [] : [`vote for ${to.id}: ${inTens(grant)}`];
        });
        const said = [...(lease === undefined ? [] : [`lease ${inTens(lease)}`]), ...grants].join(", ");
        if (text.textContent !== said) text.textContent = said;
      }
      if (some && !motion.matches && group.problem === "") ask();
    };
    const ask = (): void => {
      if (frame !== 0 || (motion.matches && performance.now() - drawn < still)) return;
      frame = requestAnimationFrame(draw);
    };
    const stop = [group.hearLeases(ask), group.hear(() => { drawn = -Infinity; ask(); })];
    ask();
    return () => {
      for (const each of stop) each();
      cancelAnimationFrame(frame);
    };
  }, [group]);
}
