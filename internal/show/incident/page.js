"use strict";
// The page of an incident: an overview of all leads, and one change of the leader that plays. Its data are in the element "data".
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.getElementById("incident");
  const playTime = 12000; // how long a change plays, in milliseconds

  /** Makes an element with properties and children. */
  const make = (tag, properties, ...children) => {
    const e = Object.assign(document.createElement(tag), properties);
    e.append(...children.filter((c) => c !== null));
    return e;
  };
  const lasts = (ms) => (ms < 10 ? ms.toFixed(1) + " ms" : ms < 1000 ? Math.round(ms) + " ms" : (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + " s");
  const since = (ms) => Math.abs(ms) < 0.05 ? "0 ms" : (ms < 0 ? "−" : "+") + lasts(Math.abs(ms));
  const clock = (text) => new Date(text).toISOString().slice(11, 23);
  const leads = (id, term) => (id === null ? "none" : "member " + id + (term ? " in term " + term : ""));

  const changes = data.groups.flatMap((group) => group.changes.map((change) => ({ group, change })));
  let at = Math.max(0, changes.findIndex((c) => c.change.number === data.chosen));
  let stop = () => {};

  const place = make("div", { className: "place" });
  const marks = new Map(); // by number of a change
  const select = make("select", { ariaLabel: "change of the leader" }, ...changes.map(({ change: c }, i) =>
    make("option", { value: i }, `${c.number}. ${clock(c.ended)}  ${leads(c.from, 0)} → ${leads(c.to, 0)}: ${c.cause}`)));
  const go = (i) => {
    if (i < 0 || i >= changes.length) return;
    stop();
    at = i;
    select.value = i;
    for (const [number, mark] of marks) mark.setAttribute("aria-current", String(number === changes[at].change.number));
    show(changes[at]);
  };
  select.onchange = () => go(Number(select.value));

  /** The leads of all members of a group, and the times without a leader. */
  function overview(group) {
    const whole = Math.max(1, group.to - group.from);
    const percent = (ms) => Math.min(100, Math.max(0, (100 * (ms - group.from)) / whole));
    const bar = (tag, from, to, title) => {
      const e = make(tag, { title });
      e.style.left = percent(from) + "%";
      e.style.width = Math.max(0, percent(to) - percent(from)) + "%";
      return e;
    };
    const time = (text) => Date.parse(text);
    const rows = group.members.map((id) => {
      const track = make("div", { className: "track" });
      group.changes.forEach((c, i) => {
        const begun = c.begun ? time(c.begun) : time(c.ended);
        const next = i + 1 < group.changes.length ? time(group.changes[i + 1].ended) : group.to;
        if (c.to === id) track.append(bar("i", begun, next, `member ${id} leads in term ${c.term}`));
        if (c.from === id && i === 0) track.append(bar("i", group.from, time(c.ended), `member ${id} leads`));
        track.append(bar("b", time(c.ended), c.begun ? begun : c.to === null ? next : begun, nobody(c)));
      });
      return make("div", { className: "row" }, make("span", {}, "member " + id), track);
    });
    const track = make("div", { className: "track marks" }, ...group.changes.map((c) => {
      const mark = make("button", { type: "button", title: `${c.cause} (${c.certainty})`, ariaLabel: `change ${c.number}: ${c.cause}` }, String(c.number));
      mark.style.left = `clamp(12px, ${percent(time(c.ended))}%, 100% - 12px)`;
      mark.onclick = () => go(changes.findIndex((x) => x.change === c));
      marks.set(c.number, mark);
      return mark;
    }));
    const times = make("div", { className: "times muted" }, make("span", {}, clock(group.from).slice(0, 8)), make("span", {}, clock(group.to).slice(0, 8) + " UTC"));
    return make("div", { className: "overview" }, ...rows, make("div", { className: "row" }, make("span", { className: "muted" }, "changes"), track), times);
  }

  /** Moves marks that would lie on each other into further rows. If four rows do not hold them, all become narrow and lose their numbers. */
  function spread(track) {
    track.classList.remove("many");
    const ends = []; // of the last mark of each row
    const rows = [...track.children].map((mark) => {
      const left = mark.offsetLeft - mark.offsetWidth / 2;
      const free = ends.findIndex((end) => end <= left);
      const row = free < 0 ? ends.length : free;
      ends[row] = left + mark.offsetWidth + 2;
      return row;
    });
    const many = ends.length > 4;
    track.classList.toggle("many", many);
    track.style.height = 2 + 28 * (many ? 1 : Math.max(1, ends.length)) + "px";
    [...track.children].forEach((mark, i) => (mark.style.top = 4 + 28 * (many ? 0 : rows[i]) + "px"));
  }

  /** How long nobody led. */
  function nobody(c) {
    return `no leader for ${c.at_most ? "at most " : ""}${lasts(1000 * c.nobody)}`;
  }

  /** What is told of a change, beside its picture. */
  function told(c) {
    const list = make("dl", {});
    const part = (name, texts) => {
      if (texts && texts.length > 0) list.append(make("dt", {}, name), ...texts.map((t) => make("dd", {}, t)));
    };
    part("evidence", c.evidence);
    part("the time without a leader", c.bounded_by);
    part("what would have prevented it", c.prevent ? [c.prevent] : []);
    part("what is missing", c.missing);
    return make("section", {},
      make("h2", {}, `${c.number}. ${c.cause} `, make("span", { className: "muted" }, c.certainty === "unknown" ? "its cause is not known" : c.certainty)),
      make("p", {}, c.text),
      make("p", { className: "muted" }, `${clock(c.ended)} UTC: ${leads(c.from, c.from_term)} → ${leads(c.to, c.term)}`),
      make("p", { className: c.nobody > 0 ? "fault" : "muted" }, nobody(c)), list);
  }

  /** The picture of a change, and what plays it. */
  function player(c) {
    if (!c.wide) return make("p", { className: "muted" }, "This page has pictures of the last 100 changes only: ringleader explain --change " + c.number + " draws this one.");
    const cover = { wide: make("div", { className: "later" }), narrow: make("div", { className: "later" }) };
    const picture = make("div", { className: "picture" }, ...["wide", "narrow"].map((name) => {
      const holder = make("div", { className: name });
      holder.innerHTML = c[name].svg; // made by the program, which escapes all texts
      holder.append(cover[name]);
      return holder;
    }));
    const slider = make("input", { type: "range", min: 0, max: c.lasts, step: "any", ariaLabel: "time" });
    const moment = make("output", {});
    const play = make("button", { type: "button" });
    const items = c.events.map((e) => make("li", {}, make("span", {}, since(e.at - c.zero)), make("span", {}, e.text)));
    const list = make("ol", { className: "happens", tabIndex: 0, ariaLabel: "what happens" }, ...items);
    let now = c.lasts, before = 0, frame = 0;

    const draw = (follow) => {
      let last = -1;
      c.events.forEach((e, i) => {
        items[i].className = e.at > now ? "later" : "";
        if (e.at <= now) last = i;
      });
      if (last >= 0 && now < c.lasts) items[last].className = "now";
      if (follow && last >= 0) list.scrollTop = items[last].offsetTop - list.clientHeight / 2;
      for (const name of ["wide", "narrow"]) {
        const { begin, end } = c[name];
        cover[name].style.left = 100 * (begin + ((end - begin) * now) / c.lasts) + "%";
        cover[name].style.display = now >= c.lasts ? "none" : "block";
      }
      slider.value = now;
      moment.textContent = since(now - c.zero);
    };
    const pause = () => {
      cancelAnimationFrame(frame);
      frame = 0;
      play.textContent = "▶";
      play.ariaLabel = "play";
    };
    const step = (time) => {
      now = Math.min(c.lasts, now + ((time - before) * c.lasts) / playTime);
      before = time;
      draw(true);
      if (now >= c.lasts) pause();
      else frame = requestAnimationFrame(step);
    };
    const jump = (to) => {
      pause();
      now = Math.min(c.lasts, Math.max(0, to));
      draw(true);
    };
    play.onclick = () => {
      if (frame) return pause();
      if (now >= c.lasts) now = 0;
      play.textContent = "⏸";
      play.ariaLabel = "pause";
      before = performance.now();
      frame = requestAnimationFrame(step);
    };
    slider.oninput = () => jump(Number(slider.value));
    items.forEach((item, i) => (item.onclick = () => jump(c.events[i].at)));
    const back = make("button", { type: "button", ariaLabel: "one event back", title: "one event back" }, "|◀");
    const on = make("button", { type: "button", ariaLabel: "one event on", title: "one event on" }, "▶|");
    back.onclick = () => jump(c.events.map((e) => e.at).filter((t) => t < now).at(-1) ?? 0);
    on.onclick = () => jump(c.events.find((e) => e.at > (now >= c.lasts ? -1 : now))?.at ?? c.lasts);
    stop = pause;
    pause();
    draw(false);
    const key = ["thick bar: leads", "dashed: rest of a lease", "shaded: no leader", "×: a record ends", "solid line: asks for a vote", "dashed line: a vote"];
    return make("div", {}, picture, make("div", { className: "controls" }, back, play, on, slider, moment),
      make("div", { className: "key muted" }, ...key.map((k) => make("span", {}, k))), list);
  }

  /** What the story does not have, since it could not be read. */
  function damaged(damages) {
    if (damages.length === 0) return [];
    return [make("details", { className: "damages" },
      make("summary", {}, damages.length === 1 ? "A part of the records could not be read" : damages.length + " parts of the records could not be read"),
      make("ul", {}, ...damages.map((d) => make("li", {}, d))))];
  }

  function show({ change }) {
    place.replaceChildren(make("div", { className: "change" }, player(change), told(change)));
  }

  const earlier = make("button", { type: "button", ariaLabel: "change before", title: "change before" }, "‹");
  const later = make("button", { type: "button", ariaLabel: "next change", title: "next change" }, "›");
  earlier.onclick = () => go(at - 1);
  later.onclick = () => go(at + 1);
  root.replaceChildren(...data.groups.flatMap((group) => [
    make("h1", {}, `Changes of the leader of “${group.name}”`),
    make("p", { className: "muted" }, `${new Date(group.from).toISOString().slice(0, 10)}. ${group.recorded.length === 1 ? "Record of member" : "Records of members"} ${group.recorded.join(", ")}` +
      (group.missing && group.missing.length ? `; none of ${group.missing.join(", ")}` : "") + (group.clocks && group.clocks.length ? `. Clocks: ${group.clocks.join("; ")}` : "")),
    ...(group.violations || []).map((v) => make("p", { className: "fault" }, `${clock(v.time)} ${v.sure ? "A rule was broken" : "A rule may have been broken"}: ${v.what}${v.step ? ". " + v.step : ""}`)),
    overview(group),
  ]), ...damaged(data.damages || []), make("div", { className: "choose" }, earlier, select, later), place);
  const fit = () => document.querySelectorAll(".marks").forEach(spread);
  addEventListener("resize", fit);
  fit();
  document.addEventListener("keydown", (e) => {
    if (e.target.matches("input, select, button, summary")) return;
    if (e.key === "ArrowLeft") go(at - 1);
    if (e.key === "ArrowRight") go(at + 1);
    if (e.key === " ") {
      e.preventDefault();
      document.querySelector(".controls button:nth-child(2)")?.click();
    }
  });
  if (parent !== self) {
    addEventListener("dragover", (e) => { // the lab, around this page, opens what is dropped
      e.preventDefault();
      parent.postMessage("dragged", "*");
    });
    addEventListener("drop", (e) => e.preventDefault());
  }
  go(at);
})();
