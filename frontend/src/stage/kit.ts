/** What the page gives to the scripts that draw worlds, as `teamworld`; they are run after it, and before it begins. */
export { knowledgeLayers, sightings } from "../episode/knowledge";
export { fit } from "../shared/canvas";
export { inkOn, mix } from "../shared/colours";
export { between, clamp, ease } from "../shared/numbers";
export { plural, say } from "../shared/words";
export { drawers } from "./drawer";
