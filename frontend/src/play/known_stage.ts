import { Episode } from "../episode/episode";
import type { PlayMap } from "../records";
import { byId } from "../shared/elements";
import type { Theme } from "../shared/theme";
import { plural } from "../shared/words";
import type { Moment } from "../stage/drawer";
import { Stage } from "../stage/stage";

/** The picture of what an agent knows at one moment, drawn as a replay draws. */
export class KnownStage extends Stage {
  #t = 0;
  #me = 0;

  constructor(map: PlayMap, theme: () => Theme) {
    super(episodeOf(map));
    this.listen(
      () => this.redraw(theme()),
      () => {},
    );
    if (this.canvas.parentElement) new ResizeObserver(() => this.redraw(theme())).observe(this.canvas.parentElement);
    this.show(map, theme());
  }

  show(map: PlayMap, theme: Theme): void {
    this.episode = episodeOf(map);
    this.forgetKey();
    this.#t = map.t;
    this.#me = map.me;
    byId("moment").textContent = `after ${plural(map.t, "step")}`;
    this.redraw(theme);
  }

  redraw(theme: Theme): void {
    this.resize();
    this.draw(0, theme, this.#me);
    this.writeKey();
    this.describe();
  }

  override moment(_: number, theme: Theme, chosen: number | null): Moment {
    return { ...super.moment(0, theme, chosen), t: this.#t };
  }
}

/** The episode that a drawer reads: what the agent knows, as its only moment. */
const episodeOf = (map: PlayMap): Episode =>
  new Episode({
    format: 1,
    world: map.world,
    static: map.static,
    frames: [map.frame],
    style: map.style,
    plans: [],
    messages: [],
    joints: [],
    failures: [],
    goals: map.goals.map((id) => ({ id })),
    team: map.team.map(({ name, kind, aim, is_hidden }) => ({
      name,
      kind,
      spans: [],
      paces: [],
      holds: aim ? [{ start: 0, end: 1, goal: aim, role: "", cause: "", released: "" }] : [],
      ...(is_hidden ? { gone: 0 } : {}),
    })),
  });
