// Written by scripts/page_records.py from the structs that Python encodes. Do not edit.

/** An episode. */
export interface Replay {
  format: number;
  world: string;
  level: string;
  static: Record<string, unknown>;
  task: string;
  method: string;
  /** The reasoner in words: rules are called rules. */
  reasoner: string;
  seed: number;
  episode: number;
  result: EpisodeResult;
  team: Actor[];
  goals: GoalRow[];
  /** By agent in the team's order, then by number. */
  plans: PlanRow[];
  messages: SentMessage[];
  joints: JointAct[];
  /** By start. */
  failures: FailureRow[];
  /** The rule of each label that occurs, in words. */
  labels: Record<string, string>;
  /** One a step and one before the first, in the world's own form. */
  frames: Record<string, unknown>[];
  /** Ticks before each frame; None where every step is one tick. */
  ticks?: number[];
  /** Why the drawing that the world declares in `static` cannot be made; its states are shown as tables then. */
  undrawn?: string;
  /** What the world's drawing reads beside its frames: colours, shapes, words. */
  style?: Record<string, unknown>;
  /** The world's own score in each frame: the sum of its changes; empty where it never changed. */
  reward?: number[];
  /** What agents came to perceive and no longer do; empty unless the log was recorded at the level `beliefs`. */
  perceived?: PerceptionChange[];
  /** In the order of the log. */
  questions?: QuestionRow[];
  /** Of prompts and of answers as they came. */
  lines?: string[];
  /** Whether these are kept, where there are any. */
  prompts?: boolean;
  /** Empty unless `teamworld worth` measured them. */
  worths?: WorthRow[];
  /** Of a fork, where it was forked from and what was changed, in words. */
  fork?: string;
  /** None unless the log was recorded at the level `beliefs`. */
  knowledge?: KnowledgeLog;
  /** None unless the method keeps a world model and the run holds it. */
  memory?: EpisodeMemory;
}

/** How the episode went; null where there was nothing to count. */
export interface EpisodeResult {
  completion: number | null;
  done: number;
  weight: number;
  steps: number;
  horizon: number;
  reason: string;
  /** Beside completion and steps, which are told of every episode. */
  headline?: HeadlineRow[];
  /** Whether doing all goals is what the level asks. */
  has_success?: boolean;
}

/** A measure that results of the level are told in first. */
export interface HeadlineRow {
  /** In words. */
  name: string;
  value: number | null;
  unit: string;
  /** With the direction that is better. */
  definition: string;
}

/** One agent. */
export interface Actor {
  name: string;
  kind: string;
  spans: ActionSpan[];
  paces: StepRecord[];
  holds: CommitmentSpan[];
  /** The step from which it is no longer there. */
  gone?: number;
  gone_why?: string;
}

/** One action of one agent, from its first step to the one after its last. */
export interface ActionSpan {
  start: number;
  end: number;
  /** In written form. */
  action: string;
  /** How its last step left it; `running` if it was stopped, `passed` if it could not start and took no time. */
  status: "done" | "failed" | "passed" | "running";
  reason?: string;
  constraint?: string;
  blocker?: string;
  goal?: string;
  plan?: number;
  /** Which action of the plan it is, from 0. */
  place?: number;
  legal?: boolean;
}

/** How an agent fared from a step on, until the next row. */
export interface StepRecord {
  step: number;
  /** Primitive moves of one step, with blanks between them. */
  primitive?: string;
  moved?: boolean;
  /** The world changed through it. */
  effect?: boolean;
  /** The goal at which it stood in place, waiting for others. */
  ready?: string;
  blocker?: string;
}

/** A commitment of an agent to a goal. */
export interface CommitmentSpan {
  start: number;
  end: number;
  goal: string;
  role: string;
  cause: string;
  /** Why it ended. */
  released: string;
}

/** A goal and how far it got. */
export interface GoalRow {
  id: string;
  kind?: string;
  label?: string;
  thing?: string;
  weight?: number;
  quorum?: number;
  /** The share that is done, from a moment on. */
  progress?: [number, number][];
  /** The first moment at which it is done. */
  done?: number;
  lost?: number;
  /** Those who took part in the step that did it. */
  who?: string[];
}

/** A plan that an agent took up. */
export interface PlanRow {
  agent: string;
  plan: number;
  start: number;
  end: number;
  goal?: string;
  actions: string[];
  on_failure?: "abort" | "continue" | "default";
  origin: string;
  /** Why it was taken up. */
  cause: string;
  /** How it ended. */
  status: string;
  /** Why it ended. */
  ended: string;
}

/** A message. */
export interface SentMessage {
  id: number;
  step: number;
  agent: string;
  act: string;
  text: string;
  /** None: to everybody else of the team. */
  to?: string[];
  goal?: string;
  room?: number;
  /** Recipients that it did not reach. */
  lost?: string[];
}

/** A joint act that went the same way in every step from `start` on until `end`. */
export interface JointAct {
  start: number;
  end: number;
  goal: string;
  k: number;
  have: Record<string, number>;
  need: Record<string, number>;
  /** Those who took part. */
  who: string[];
  success: boolean;
  /** How many more agents the least met constraint needed. */
  short?: number;
  /** Of a failure: agents bound to the goal by commitment or plan that took no part, in the team's order. */
  absent?: string[];
}

/** A span of the episode that went wrong, by `teamworld.metrics.failures`. */
export interface FailureRow {
  start: number;
  end: number;
  label: string;
  /** Those held up or acting in vain, then those in their way. */
  agents: string[];
  goal?: string;
  text: string;
}

/** What an agent perceives in a frame and did not in the one before, and the other way round, as facts in words. */
export interface PerceptionChange {
  frame: number;
  agent: string;
  seen?: string[];
  unseen?: string[];
}

/** A question to a reasoner, or one that its protocol asks and that was not put. */
export interface QuestionRow {
  step: number;
  /** Who was asked: an agent, or a respondent without a body. */
  agent: string;
  kind: string;
  /** Who answered, in words. */
  reasoner?: string;
  /** The answer that counts, by field. */
  answer?: Record<string, unknown>;
  /** Of the answers before it. */
  flaws?: AnswerFlaw[];
  /** The answer is the one that stands in where no usable one came. */
  fallback?: boolean;
  /** Oldest first; empty where rules answered. */
  tries?: QuestionTry[];
  /** Why it was not put; empty of all that were. */
  skipped?: string;
}

/** An answer that could not be used. */
export interface AnswerFlaw {
  flaw: string;
  /** What was wrong with it, as the reasoner was told. */
  text: string;
}

/** One call of a language model or a person for a question; counts are those of its provider. */
export interface QuestionTry {
  /** How many turns of the try before come first in the prompt. */
  kept?: number;
  /** Those that follow; with `kept`, all that was sent. Both empty where prompts are left out. */
  turns?: PromptTurn[];
  /** The answer as it came, as where its lines are. */
  text?: number[];
  /** Empty where no answer came. */
  finish?: string;
  /** The model that the provider says has answered, where it is another name than was asked for. */
  served?: string;
  prompt_tokens?: number;
  cached_tokens?: number;
  /** Reasoning included. */
  output_tokens?: number;
  reasoning_tokens?: number;
  /** None where no price is known. */
  usd?: number;
  seconds?: number;
  /** It came from a cache of earlier runs, at no cost. */
  cached?: boolean;
  /** What went wrong on the way. */
  faults?: string[];
}

/** One message of a prompt. */
export interface PromptTurn {
  role: string;
  /** Where its lines are, see `viewer.shared_lines`. */
  text: number[];
}

/** What a message, all messages or an agent was worth, by forks without it; see `report.worth`. */
export interface WorthRow {
  /** Its id; None of an agent and of all messages. */
  message?: number;
  agent?: string;
  /** By measure the mean and the bounds of its interval, which are the mean where there is only one continuation. */
  values?: Record<string, [number, number, number]>;
}

/** What is true, perceived and believed, as changes by frame. */
export interface KnowledgeLog {
  /** In written form. */
  facts: string[];
  /**
   * By fact: facts with the same number are of one thing and one predicate, which has one value at a time, so that a
   * later one replaces an earlier one; -1 of predicates that had several values at a time in this episode.
   */
  about: number[];
  truth: FactChange[];
  seen: FactChange[];
  believed: BeliefChange[];
}

/** Facts that became true, or that an agent came to perceive, in a frame, and those of which that is over. */
export interface FactChange {
  frame: number;
  /** Empty of what is true. */
  agent?: string;
  /** Places in `KnowledgeLog.facts`. */
  on?: number[];
  off?: number[];
}

/** Beliefs that an agent took up or changed in a frame, and those that it dropped. */
export interface BeliefChange {
  frame: number;
  agent: string;
  /** None for beliefs about the world; an agent, for what this one is believed to know. */
  about?: string;
  held?: HeldFact[];
  dropped?: number[];
}

/** A fact that somebody believes. */
export interface HeldFact {
  fact: number;
  chance?: number;
  /** Tick at which the belief was formed. */
  since?: number;
  source?: string;
}

/** The symbolic world model before an episode and after it. */
export interface EpisodeMemory {
  /** Earlier ones of the run that it was learned from. */
  episodes: number;
  tasks?: TaskMemory[];
  /** Of earlier episodes, the newest that are kept. */
  notes?: string[];
  added?: AddedNote[];
}

/** What is known of a task before an episode and after it. */
export interface TaskMemory {
  task: string;
  before: GuideLine;
  after: GuideLine;
  /** Best first. */
  plans_before?: PlanLine[];
  plans_after?: PlanLine[];
  /** The episode's plans for it, in their order. */
  added?: AddedPlan[];
}

/** What the guidebook says of a task. */
export interface GuideLine {
  attempts: number;
  successes: number;
  /** Mean share of the work that an attempt did. */
  progress?: number;
  /** Mean steps of an attempt. */
  steps?: number;
  /** Recommended size. */
  team?: number;
  verdict: string;
}

/** What the plan library says of a plan. */
export interface PlanLine {
  /** The plan with variables in place of what was particular to it. */
  text: string;
  attempts: number;
  successes: number;
  /** Mean share of the work that an attempt did. */
  progress: number;
  /** Mean steps of an attempt. */
  steps: number;
}

/** A plan of the episode, as the world model keeps it. */
export interface AddedPlan {
  agent: string;
  goal: string;
  plan: string;
  origin: string;
  /** Tick. */
  start: number;
  end: number;
  success: boolean;
  /** Why it ended without success. */
  cause?: string;
}

/** What an agent left for later episodes. */
export interface AddedNote {
  agent: string;
  text: string;
}

/** What a page unpacks once it is there; the rest of its `Replay` stands in it as it is. */
export interface PackedReplay {
  questions: QuestionRow[];
  lines: string[];
  knowledge: KnowledgeLog | null;
  memory: EpisodeMemory | null;
}

/** Two pages side by side. */
export interface PackedPair {
  /** Whole documents. */
  pages: [string, string];
  names: [string, string];
  differences: Differences;
}

/** How two episodes of one instance differ. */
export interface Differences {
  /** The first step in which anything does; None if nothing does. */
  first?: number;
  /** Steps in which some agent acts otherwise. */
  actions?: number[];
  /** By step. */
  rows?: Difference[];
}

/** What an agent did otherwise in one of two episodes in a step. */
export interface Difference {
  step: number;
  agent: string;
  kind: "commitment" | "message" | "plan";
  /** In words, in its order; empty where it did nothing of the kind. */
  first?: string[];
  second?: string[];
}

/** The finished episodes of a folder. */
export interface Overview {
  /** Changes when something is finished. */
  version: string;
  name: string;
  /** `run`, `grid`, `comparison` or `evidence`. */
  kind: string;
  /** Episodes that there are when all are finished. */
  wanted: number;
  measures: string[];
  /** What each measure is counted in, and which side is better; empty for those that need no word. */
  units: string[];
  /** The first `MOST_LISTED`. */
  episodes: ListedEpisode[];
  /** All of them. */
  finished: number;
  /** Episodes that ended in an error. */
  failed: number;
}

/** A finished episode, as the page lists it; an array in the order of its fields. */
export type ListedEpisode = [run: string, level: string, method: string, seed: number, episode: number, reason: string, values: (number | null)[]];

/** A table as `teamworld report` prints it. */
export interface ShownTable {
  title: string;
  columns: string[];
  rows: string[][];
  caption: string;
}

/** How far a search came. */
export interface SearchResult {
  matches: Match[];
  /** The place to go on from; the number of episodes where it is over. */
  next: number;
}

/** What was searched for in one episode. */
export type Match = [place: number, hits: [number, string, string][], count: number];

/** All that a page shows. */
export interface SeatState {
  version: number;
  agent: string;
  /** World, level and method in words. */
  run: string;
  phase: "asked" | "over" | "waiting";
  /** How the run ended; empty while it goes on. */
  note: string;
  /** Number of the question that is open; 0 for none. */
  question: number;
  sheet: Sheet | null;
  /** The last one, also while nothing is asked. */
  map: PlayMap | null;
  /** Newest first. */
  past: GivenAnswer[];
}

/** A question. */
export interface Sheet {
  kind: string;
  /** What it is about, in a line. */
  title: string;
  /** The question itself. */
  ask: string;
  /** What is the case now. */
  panels: Panel[];
  /** What holds for every question of its kind. */
  rules: Panel[];
  form: FormField[];
  /** What was wrong with earlier answers. */
  complaints: string[];
}

/** A part of a prompt. */
export interface Panel {
  /** Empty for what stands before the first heading. */
  head: string;
  text: string;
}

/** A field of an answer. */
export interface FormField {
  name: string;
  /** What is to be filled in. */
  words: string;
  kind: "choice" | "flag" | "json" | "lines" | "number" | "rows" | "text";
  is_required: boolean;
  is_nullable: boolean;
  /** In characters. */
  longest: number | null;
  default: unknown;
  offers: Offer[];
  /** A choice that takes other values than its offers: an action in written form. */
  is_open: boolean;
  /** Of each row. */
  fields: FormField[];
}

/** A value to choose. */
export interface Offer {
  value: unknown;
  words: string;
  /** What is known of it, such as its steps. */
  note: string;
}

/** A moment, in the form of the world's drawer. */
export interface PlayMap {
  world: string;
  /** Steps gone. */
  t: number;
  /** Place of the person's agent in the team. */
  me: number;
  static: Record<string, unknown>;
  frame: Record<string, unknown>;
  style: Record<string, unknown>;
  team: MapAgent[];
  /** Those that the agent knows, in order: their place gives the colour. */
  goals: string[];
}

/** An agent, in the team's order. */
export interface MapAgent {
  name: string;
  kind: string;
  /** What it works on, as far as the person's agent knows. */
  aim: string | null;
  /** The person's agent does not know where it is. */
  is_hidden: boolean;
}

/** What the person answered. */
export interface GivenAnswer {
  kind: string;
  ask: string;
  values: Record<string, unknown>;
}

/** What a page sends. */
export interface AskedFork {
  /** In which the change takes place. */
  step: number;
  /** As in a file of changes: `{"message": {"agent": "agent_0", "drop": true}}`. */
  change: Record<string, Record<string, unknown>>;
}

/** What the page is sent. */
export interface PlayedFork {
  /** Name of the fork, by which the page asks for it. */
  run: string;
  folder: string;
  method: string;
  seed: number;
  episode: number;
  /** The first step in which something else happened; None if nothing did. */
  first_difference: number | null;
  /** Of the episode, and of the fork. */
  steps: [number, number];
  completion: [number | null, number | null];
}
