// The page: its frame, and the views that the part of the address behind # selects.

import { render } from "preact";
import { engineOver, incident, overHTTP } from "./http";
import { exportedStories, overWorkers } from "./worker";
import { Frame } from "./frame";
import { recorded, RecordedRun } from "./recorded";
import { watchTheme } from "./draw/palette";

watchTheme();
const inPage = document.querySelector<HTMLMetaElement>("meta[name=engine]")?.content === "wasm";
const root = document.getElementById("lab");
const held = recorded();
if (root !== null) render(held !== undefined ? <RecordedRun of={held} /> : <Frame engine={inPage ? engineOver(overWorkers(), exportedStories) : { ...engineOver(overHTTP), incident }} />, root);
