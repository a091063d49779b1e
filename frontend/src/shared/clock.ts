import { clamp } from "./numbers";

const STEPS_PER_SECOND = 4; // at speed 1
const LONGEST = 250; // milliseconds between two frames that count: a page in the background does not leap

/** Where on the axis of steps a page is, and whether it plays. Listeners are called at most once a frame of the screen. */
export class Clock {
  position = 0;
  playing = false;
  speed = 1;
  #frame = 0;
  #before: number | null = null;
  readonly #listeners: (() => void)[] = [];

  constructor(readonly steps: number) {}

  /** The moment that is shown. */
  get step(): number {
    return Math.floor(this.position);
  }

  listen(call: () => void): void {
    this.#listeners.push(call);
  }

  /** Go to a moment and stop there. */
  go(step: number): void {
    this.playing = false;
    this.position = clamp(Math.round(step), 0, this.steps);
    this.want();
  }

  /** Go so many steps on, or back if there are fewer than 0. */
  move(by: number): void {
    this.go(by < 0 ? Math.ceil(this.position) + by : this.step + by);
  }

  /** Play on, from the start if the end is reached; or pause. */
  toggle(): void {
    this.playing = !this.playing;
    if (this.playing && this.position >= this.steps) this.position = 0;
    this.#before = null;
    this.want();
  }

  /** Call the listeners in the next frame. */
  want(): void {
    this.#frame ||= requestAnimationFrame((time) => this.#tick(time));
  }

  #tick(time: number): void {
    this.#frame = 0;
    if (this.playing) {
      const passed = this.#before === null ? 0 : Math.min(time - this.#before, LONGEST);
      this.#before = time;
      this.position = Math.min(this.steps, this.position + (passed / 1000) * STEPS_PER_SECOND * this.speed);
      this.playing = this.position < this.steps;
      if (this.playing) this.want();
    }
    for (const call of this.#listeners) call();
  }
}

/** Let the keys of a page move a clock; `clock` says which, since another page may lead. */
export function listenToKeys(clock: () => Clock): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const focus = event.target instanceof Element ? event.target : document.body;
    const isTyping = focus.matches("select, textarea, input:not([type=range])");
    if (isTyping || (event.key === " " && focus.matches("button, summary"))) return;
    const far = event.shiftKey ? 10 : 1;
    const act = {
      " ": () => clock().toggle(),
      ArrowLeft: () => clock().move(-far),
      ArrowRight: () => clock().move(far),
      Home: () => clock().go(0),
      End: () => clock().go(clock().steps),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** The step that the address names; null if it names none. */
export function stepOfAddress(): number | null {
  const found = /^#t=(\d{1,9})$/.exec(location.hash);
  return found ? Number(found[1]) : null;
}

/** Let the address name the step of a clock that stands still: browsers limit how often it may change. */
export class AddressWriter {
  #waiting: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly clock: Clock) {}

  write(): void {
    clearTimeout(this.#waiting);
    if (!this.clock.playing) this.#waiting = setTimeout(() => this.#replace(), 200);
  }

  #replace(): void {
    const wanted = `#t=${this.clock.step}`;
    if (location.hash === wanted || (this.clock.step === 0 && !location.hash)) return;
    try {
      history.replaceState(null, "", wanted);
    } catch {
      // some previews of mails forbid it; the page works without
    }
  }
}
