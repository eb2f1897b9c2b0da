// The network: processes and links, and the messages that move along them. Processes are elements; messages are on a canvas.

import { useMemo, useRef, useState } from "preact/hooks";
import type { Offer } from "../engine";
import { blocked } from "../model/cuts";
import type { Playback } from "../model/playback";
import type { Role, RunModel } from "../model/run";
import { brief, isBrief, known, values } from "../model/state";
import { travellers, type Traveller } from "../model/travel";
import { Geometry } from "./geometry";
import { cleared, unit, useDrawing, useMoment, useSize, useTheme } from "./hooks";
import { dashes } from "./kinds";
import { ending, Labels } from "./labels";
import { names, type Named } from "./names";
import { palette, type Palette } from "./palette";
import { heads, Mark, path2d } from "./symbols";

export interface NetworkProps {
  run: RunModel;
  playback: Playback;
  selected?: number | undefined; // position
  onSelect?: (process: number) => void;
  /** Messages that can be chosen, at the end of a walk. */
  offers?: Offer[] | undefined;
  onChoose?: (offer: Offer) => void;
  /** The process at a position of a ring was dragged to another position. */
  onMove?: ((from: number, to: number) => void) | undefined;
  /** Whether variables are beside the processes, where there is room. */
  variables?: boolean;
}

export function Network(props: NetworkProps) {
  const { run, playback } = props;
  const [box, width, height] = useSize<HTMLDivElement>();
  const { at } = useMoment(playback);
  const wanted = (props.variables ?? true) && run.n <= 12 && width >= 420;
  const geometry = useMemo(() => {
    const margin = wanted ? { x: Math.min(122 * unit(), width / 4), y: 84 * unit() } : { x: 44 * unit(), y: 44 * unit() };
    const usual = new Geometry(run, width, height, margin, unit());
    return usual.beside <= margin.x || (run.header.topology === "tree" && width < 420) ? usual : new Geometry(run, width, height, { ...margin, x: Math.max(margin.x, Math.min(usual.beside, width / 3)) }, unit());
  }, [run, width, height, wanted]);
  const told = wanted && geometry.apart >= 95 * geometry.unit;
  const named = useMemo(() => names(geometry, told), [geometry, told]);
  return (
    <div class="network" ref={box}>
      {width > 0 && (
        <>
          <Links geometry={geometry} at={at} />
          <Messages geometry={geometry} named={named} playback={playback} width={width} height={height} />
          <Processes {...props} geometry={geometry} at={at} named={named} width={width} height={height} />
        </>
      )}
    </div>
  );
}

function Links({ geometry, at }: { geometry: Geometry; at: number }) {
  const { run } = geometry;
  const cut = blocked(run, at);
  const faults = run.faults(at).map((l) => l.text).join("; ");
  return useMemo(() => {
    const crowd = !geometry.ring && run.header.topology !== "tree" && run.n > 8;
    const severed = cut && geometry.path((p, q) => cut(p, q) || cut(q, p));
    return (
      <svg class="links" aria-hidden="true">
        <path class={crowd ? "crowd" : ""} d={geometry.path(cut && ((p, q) => !cut(p, q) && !cut(q, p)))} style={crowd ? { strokeWidth: `${Math.max(0.25, 8 / run.n)}px` } : {}} />
        <path d={geometry.ways} />
        {severed && <path class="severed" d={severed} />}
      </svg>
    );
  }, [geometry, faults]);
}

function Messages({ geometry, named, playback, width, height }: { geometry: Geometry; named: Named[]; playback: Playback; width: number; height: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const kinds = useMemo(() => dashes(geometry.run.header), [geometry]);
  useDrawing(
    playback,
    () => {
      const context = cleared(canvas.current, width, height);
      if (context !== null) drawMessages(context, geometry, named, travellers(geometry.run, playback.x), kinds, palette());
    },
    [geometry, named, playback, theme, width, height],
  );
  return <canvas class="messages" ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} aria-hidden="true" />;
}

function drawMessages(context: CanvasRenderingContext2D, geometry: Geometry, named: Named[], all: Traveller[], kinds: number[][], colours: Palette): void {
  const { run } = geometry;
  const scale = (all.length > 150 || geometry.radius < 9 * geometry.unit ? 0.75 : 1) * geometry.unit;
  const labelled = geometry.radius >= 9 * geometry.unit && all.length <= geometry.reach / 5 / geometry.unit;
  context.lineJoin = "round";
  const labels = new Labels(labelled ? [...geometry.places.map(({ x, y }) => ({ x, y, width: 1.9 * geometry.radius, height: 1.9 * geometry.radius })), ...named.flatMap((n) => n.box ?? [])] : []);
  for (const one of all) {
    const kind = run.kind[one.message]!;
    const of = run.header.kinds[kind]!.class;
    const head = heads[of];
    const { x, y, angle } = geometry.spot(one);
    context.save();
    context.translate(x, y);
    context.rotate(angle);
    context.scale(scale, scale);
    context.strokeStyle = colours[of];
    if (all.length <= 150) {
      context.setLineDash(kinds[kind]!);
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(-8, 0);
      context.lineTo(-22, 0);
      context.stroke();
      context.setLineDash([]);
    }
    context.translate(4, 0);
    const shape = path2d(head.path);
    if (head.fill || of === "announcement") {
      context.fillStyle = head.fill ? colours[of] : colours.paper;
      context.fill(shape);
    }
    if (head.width > 0) {
      context.lineWidth = head.width;
      context.stroke(shape);
    }
    if (one.lost) {
      context.strokeStyle = colours.wrong;
      context.lineWidth = 2.5;
      context.stroke(path2d("M-14 -8L4 8M-14 8L4 -8"));
    }
    context.restore();
    if (labelled && (run.text[one.message] !== "" || all.length <= 8)) label(context, geometry, labels, one.message, x, y, angle, colours);
  }
}

function label(context: CanvasRenderingContext2D, geometry: Geometry, labels: Labels, message: number, x: number, y: number, angle: number, colours: Palette): void {
  const { run } = geometry;
  const text = values(run.text[message]!) || run.header.kinds[run.kind[message]!]!.name;
  const short = /^\d+$/.test(text) ? ending(text, 14) : text.length > 14 ? `${text.slice(0, 13)}…` : text;
  const side = geometry.ring ? Math.atan2(y - geometry.middle.y, x - geometry.middle.x) : angle + Math.PI / 2;
  const inside = geometry.ring && (!geometry.named || Math.hypot(x - geometry.middle.x, y - geometry.middle.y) < geometry.reach - 1); // names are outside
  const inwards = inside ? -1 : 1;
  context.font = `600 ${12 * geometry.unit}px system-ui, sans-serif`;
  const width = context.measureText(short).width;
  const away = 13 * geometry.unit + (geometry.named ? 0 : geometry.radius) + (Math.abs(Math.cos(side)) * width) / 2;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 4;
  context.strokeStyle = colours.paper;
  context.fillStyle = colours[run.header.kinds[run.kind[message]!]!.class];
  const beside = (by: number) => ({ x: x + by * away * Math.cos(side), y: y + by * away * Math.sin(side), width, height: 13 * geometry.unit });
  const place = geometry.ring ? labels.place(beside(inwards)) : labels.place(beside(1), beside(-1));
  if (place === undefined) return;
  context.strokeText(short, place.x, place.y);
  context.fillText(short, place.x, place.y);
}

export const roleNames: Record<Role, string> = { asleep: "has not started", undecided: "undecided", follower: "follower", leader: "leader", crashed: "crashed" };

interface ProcessesProps extends NetworkProps {
  geometry: Geometry;
  at: number;
  named: Named[];
  width: number;
  height: number;
}

interface Drag {
  process: number;
  x: number;
  y: number;
  moved: boolean;
}

/** What can be done to processes. It stays the same object, so that a process is rendered again only if its look changes. */
interface Hands {
  drag: Drag | undefined;
  setDrag: (drag: Drag | undefined) => void;
  props: ProcessesProps;
}

function pointer(event: PointerEvent): { x: number; y: number } {
  const box = (event.currentTarget as Element).closest("svg")!.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function pressed({ props: { run, onMove, onSelect } }: Hands, event: KeyboardEvent, p: number): void {
  const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (by !== 0) {
    const next = (p + by + run.n) % run.n;
    event.preventDefault();
    if (event.altKey && onMove) onMove(p, next);
    else {
      onSelect?.(next);
      ((event.currentTarget as Element).parentElement?.querySelector(`[data-process="${next}"]`) as SVGElement | null)?.focus();
    }
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    onSelect?.(p);
  }
}

function Processes(props: ProcessesProps) {
  const { run, playback, geometry, at, named, selected, offers, onChoose, width, height } = props;
  const [drag, setDrag] = useState<Drag | undefined>();
  const hands = useRef<Hands>({ drag, setDrag, props }).current;
  Object.assign(hands, { drag, props });
  const acting = at > 0 ? run.steps[at - 1]!.process : -1;
  return (
    <svg class="processes" viewBox={`0 0 ${width} ${height}`} role="group" aria-label="Processes">
      {geometry.places.map((_, p) => (
        <Process
          key={p}
          geometry={geometry}
          named={named[p]!}
          p={p}
          role={run.role(p, at)}
          acts={p === acting}
          selected={p === selected}
          reached={p === (selected ?? 0)}
          dragged={drag?.process === p && drag.moved ? drag : undefined}
          hands={hands}
        />
      ))}
      {geometry.places.map((_, p) => named[p]!.told && <Variables key={p} geometry={geometry} named={named[p]!} p={p} last={run.lastBefore(p, at)} acted={p === acting} />)}
      {offers !== undefined && at === run.length && <Choices geometry={geometry} playback={playback} offers={offers} onChoose={onChoose} />}
    </svg>
  );
}

interface ProcessProps {
  geometry: Geometry;
  named: Named;
  p: number;
  role: Role;
  acts: boolean;
  selected: boolean;
  reached: boolean; // by the tabulator key
  dragged: Drag | undefined;
  hands: Hands;
}

function Process({ geometry, named, p, role, acts, selected, reached, dragged, hands }: ProcessProps) {
  return useMemo(() => {
    const place = geometry.places[p]!;
    const { x, y } = dragged ?? place;
    const name = geometry.run.names[p]!;
    return (
      <g
        data-process={p}
        class={`process ${role}${acts ? " acting" : ""}${selected ? " selected" : ""}${dragged === undefined ? "" : " dragged"}`}
        transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}
        role="button"
        tabIndex={reached ? 0 : -1}
        aria-label={`Process ${name}: ${roleNames[role]}`}
        aria-pressed={selected}
        onClick={() => hands.drag?.moved || hands.props.onSelect?.(p)}
        onKeyDown={(event) => pressed(hands, event, p)}
        onPointerDown={(event) => {
          if (!hands.props.onMove || !geometry.ring) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          hands.setDrag({ process: p, ...pointer(event), moved: false });
        }}
        onPointerMove={(event) => {
          if (hands.drag === undefined) return;
          const now = pointer(event);
          if (hands.drag.moved || Math.hypot(now.x - place.x, now.y - place.y) > geometry.radius + 6) hands.setDrag({ process: p, ...now, moved: true });
        }}
        onPointerUp={() => {
          const { drag } = hands;
          if (drag?.moved) {
            const to = geometry.position(drag.x, drag.y);
            if (to !== p) hands.props.onMove?.(p, to);
          }
          hands.setDrag(undefined);
        }}
        onPointerCancel={() => hands.setDrag(undefined)}
      >
        <Body role={role} radius={geometry.radius} />
        <Name name={name} named={named} role={role} geometry={geometry} />
      </g>
    );
  }, [geometry, named, p, role, acts, selected, reached, dragged, hands]);
}

function Body({ role, radius: r }: { role: Role; radius: number }) {
  const square = role === "undecided" || role === "asleep";
  const side = r * 0.92;
  return (
    <>
      {square ? <rect class="halo" x={-side - 6} y={-side - 6} width={2 * side + 12} height={2 * side + 12} rx={side * 0.3 + 5} /> : <circle class="halo" r={r + 6} />}
      {square ? <rect class="body" x={-side} y={-side} width={2 * side} height={2 * side} rx={side * 0.3} /> : <circle class="body" r={r} />}
      {role === "leader" && <Mark shape="leader" x={r >= 11 ? r * 0.85 : 0} y={r >= 11 ? -r * 0.95 : 0} scale={r >= 11 ? Math.max(0.7, r / 20) : Math.max(0.7, r / 9)} />}
      {role === "crashed" && <Mark shape="crash" x={r >= 11 ? r * 0.85 : 0} y={r >= 11 ? -r * 0.85 : 0} scale={r >= 11 ? Math.max(0.6, r / 26) : r / 9} />}
    </>
  );
}

function Name({ name, named, role, geometry }: { name: string; named: Named; role: Role; geometry: Geometry }) {
  const { radius: r, unit: u } = geometry;
  if (geometry.holds(name)) return <text class={`name${role === "leader" ? " on-star" : ""}`} dy="0.36em" style={{ fontSize: `${Math.min(17 * u, Math.max(12 * u, r * 0.72))}px` }}>{name}</text>;
  if (geometry.run.n > 100 && role !== "leader") return null;
  const { text, side, away, anchor } = named;
  return <text class="name outside" x={away * Math.cos(side)} y={away * Math.sin(side)} dy="0.36em" style={{ textAnchor: anchor }}>{text}</text>;
}

const most = 3; // variables beside a process

function Variables({ geometry, named: { side, anchor }, p, last, acted }: { geometry: Geometry; named: Named; p: number; last: number; acted: boolean }) {
  return useMemo(() => {
    const { run } = geometry;
    const life = run.life(p, last + 1);
    const all = known(life.before, life.state).filter((v) => run.varying.has(v.name));
    const shown = [...all.filter((v) => v.changed), ...all.filter((v) => !v.changed && isBrief(v))].slice(0, most);
    const from = geometry.radius + 12 * geometry.unit;
    const line = 15 * geometry.unit;
    const place = geometry.places[p]!;
    const [x, y] = [place.x + from * Math.cos(side), place.y + from * Math.sin(side)];
    const above = Math.sin(side) < -0.5;
    const past = geometry.holds(run.names[p]!) ? 0 : above ? -line : Math.sin(side) > 0.5 ? line : (line * shown.length + line) / 2; // past the name
    const top = y + past + (above ? -line * (shown.length - 1) : Math.sin(side) > 0.5 ? 4 : (-line * (shown.length - 1)) / 2);
    return (
      <g class="variables" aria-hidden="true">
        {shown.map((v, i) => (
          <text key={v.name} class={v.changed && acted ? "changed" : ""} x={x.toFixed(1)} y={(top + line * i).toFixed(1)} dy="0.36em" text-anchor={anchor}>
            {brief(v)}
          </text>
        ))}
      </g>
    );
  }, [geometry, side, anchor, p, last, acted]);
}

/** Rings around the messages that can be delivered next; the list of choices has the same by keyboard. */
function Choices({ geometry, playback, offers, onChoose }: { geometry: Geometry; playback: Playback; offers: Offer[]; onChoose: ((offer: Offer) => void) | undefined }) {
  const by = new Map(offers.flatMap((o) => (o.message === undefined ? [] : [[o.message - 1, o] as const])));
  return (
    <g class="choices" aria-hidden="true">
      {travellers(geometry.run, playback.length).map((one) => {
        const offer = by.get(one.message);
        if (offer === undefined) return null;
        const { x, y, angle } = geometry.spot(one);
        return (
          <circle key={one.message} data-message={one.message + 1} cx={(x - 3 * Math.cos(angle)).toFixed(1)} cy={(y - 3 * Math.sin(angle)).toFixed(1)} r={12 * geometry.unit} onClick={() => onChoose?.(offer)}>
            <title>{offer.text}</title>
          </circle>
        );
      })}
    </g>
  );
}
