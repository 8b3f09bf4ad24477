import type { GenerationRequest } from '../../ir/request.ts';
import type { Effort } from '../../ir/settings.ts';
import type { Needs } from '../rules/needs.ts';
import { estimatePromptTokens, samplePrompt } from './prompt-sample.ts';

/** Main subject of a request. */
export type TaskType =
  | 'coding'
  | 'multimodal'
  | 'reasoning'
  | 'tool_use'
  | 'long_context'
  | 'multilingual'
  | 'general';

/** Features of a request that the classification uses. */
export interface Signals {
  /** Estimated. */
  readonly promptTokens: number;
  readonly code: readonly Mark[];
  /** Marks of a problem that needs reasoning. */
  readonly problem: readonly Mark[];
  readonly tools: number;
  readonly hasCodingTools: boolean;
  /** Kinds of input besides text. */
  readonly modalities: readonly string[];
  readonly script: string;
  readonly isReasoningWanted: boolean;
}

/** The task of a request, with the signals and points that decided. */
export interface Task {
  readonly type: TaskType;
  /** The quality score of models that matters for it. */
  readonly quality: 'general' | 'coding';
  readonly signals: Signals;
  readonly points: Readonly<Record<TaskType, number>>;
}

/** A pattern in the text. No expression spans more than a few words, so that a search takes linear time. */
interface Mark {
  readonly name: string;
  readonly points: number;
  readonly expression: RegExp;
}

const CODE_MARKS: readonly Mark[] = [
  { name: 'fence', points: 2, expression: /```/ },
  {
    name: 'declaration',
    points: 2,
    expression:
      /^[ \t]{0,16}(?:export |public |private |async |static ){0,3}(?:function|class|def|fn|func|interface|struct|impl|const|let|var) \w/m,
  },
  {
    name: 'import',
    points: 1,
    expression: /^[ \t]{0,16}(?:import |from \w{1,40} import|#include|using \w|package \w)/m,
  },
  { name: 'diff', points: 2, expression: /^(?:diff --git|@@ -\d|\+\+\+ |--- a\/)/m },
  {
    name: 'trace',
    points: 2,
    expression: /^Traceback \(most recent|^[ \t]{0,16}at \S{1,80} ?\(|\b\w{1,40}(?:Error|Exception): /m,
  },
  {
    name: 'file',
    points: 1,
    expression:
      /\b\w{1,60}\.(?:ts|tsx|js|jsx|py|rs|go|java|kt|rb|php|cs|cpp|cc|h|hpp|c|sh|sql|yaml|yml|toml|css|html)\b/,
  },
  {
    name: 'words',
    points: 1,
    expression:
      /\b(?:refactor|compile|debug|unit tests?|stack trace|regex|typescript|javascript|python|rust|golang|sql query|pull request|source code|codebase|git commit)\b/i,
  },
];

const MAX_CODE_POINTS = 4;

const PROBLEM_MARKS: readonly Mark[] = [
  {
    name: 'mathematics',
    points: 1,
    expression:
      /\b(?:prove|proof|theorem|integral|derivative|equation|probability|solve for)\b|\\frac|\\sum/i,
  },
  {
    name: 'thought',
    points: 1,
    expression: /\b(?:step by step|think carefully|reason through|explain why|trade-?offs?)\b/i,
  },
];

const CODING_TOOLS =
  /^(?:bash|shell|terminal|edit|write|read|grep|glob|apply_patch|(?:str_replace|text_editor|bash_)\w{0,40}|(?:read|write|edit|create|list|search|view)_files?|(?:run|execute)_(?:command|code|terminal_cmd))$/i;

const NAMED_TOOLS = 256;

const LATIN = 'latin';
const FIRST_LETTER = 0x41;

/** Ends of the ranges of scripts, ascending; null = no letters of these scripts. */
const SCRIPT_RANGES: readonly (readonly [end: number, script: string | null])[] = [
  [0x36f, LATIN],
  [0x3ff, 'greek'],
  [0x52f, 'cyrillic'],
  [0x58f, null],
  [0x5ff, 'hebrew'],
  [0x6ff, 'arabic'],
  [0x8ff, null],
  [0xdff, 'indic'],
  [0xe7f, 'thai'],
  [0x303f, null],
  [0x9fff, 'cjk'],
  [0xabff, null],
  [0xd7af, 'cjk'],
];

/** Share of the sampled letters from which on a script is the main one. */
const SCRIPT_SHARE = 0.3;

const LONG_PROMPT_TOKENS = 50_000;

const THOUGHTFUL: ReadonlySet<Effort> = new Set<Effort>(['medium', 'high', 'xhigh', 'max']);

/** The points of each task. The most points win; at equal points the first row. */
const TASKS: readonly {
  readonly type: TaskType;
  readonly quality: Task['quality'];
  readonly points: (signals: Signals) => number;
}[] = [
  { type: 'general', quality: 'general', points: () => 1 },
  {
    type: 'coding',
    quality: 'coding',
    points: ({ code, hasCodingTools }) =>
      Math.min(pointsOf(code), MAX_CODE_POINTS) + (hasCodingTools ? 2 : 0),
  },
  {
    type: 'multimodal',
    quality: 'general',
    points: ({ modalities }) => (modalities.length > 0 ? 3 : 0),
  },
  {
    type: 'reasoning',
    quality: 'general',
    points: ({ isReasoningWanted, problem }) => (isReasoningWanted ? 2 : 0) + pointsOf(problem),
  },
  { type: 'tool_use', quality: 'general', points: ({ tools }) => (tools > 0 ? 2 : 0) },
  {
    type: 'long_context',
    quality: 'general',
    points: ({ promptTokens }) => (promptTokens >= LONG_PROMPT_TOKENS ? 2 : 0),
  },
  { type: 'multilingual', quality: 'general', points: ({ script }) => (script === LATIN ? 0 : 2) },
];

/** Classifies a request. Deterministic, and takes bounded time. */
export function classifyTask(request: GenerationRequest, needs: Needs): Task {
  const signals = signalsOf(request, needs);
  const scored = TASKS.map(({ type, quality, points }) => ({ type, quality, points: points(signals) }));
  const best = scored.reduce((most, task) => (task.points > most.points ? task : most));
  return {
    type: best.type,
    quality: best.quality,
    signals,
    points: Object.fromEntries(scored.map(({ type, points }) => [type, points])) as Task['points'],
  };
}

function signalsOf(request: GenerationRequest, { inputModalities }: Needs): Signals {
  const text = samplePrompt(request);
  return {
    promptTokens: estimatePromptTokens(request),
    code: marksIn(text, CODE_MARKS),
    problem: marksIn(text, PROBLEM_MARKS),
    tools: request.tools.length,
    hasCodingTools: request.tools.slice(0, NAMED_TOOLS).some((tool) => CODING_TOOLS.test(nameOf(tool))),
    modalities: [...inputModalities],
    script: scriptOf(text),
    isReasoningWanted: wantsReasoning(request.reasoning),
  };
}

function nameOf(tool: GenerationRequest['tools'][number]): string {
  return tool.type === 'hosted' ? tool.kind : tool.name;
}

function marksIn(text: string, marks: readonly Mark[]): Mark[] {
  return marks.filter(({ expression }) => expression.test(text));
}

function pointsOf(marks: readonly Mark[]): number {
  return marks.reduce((sum, { points }) => sum + points, 0);
}

function scriptOf(text: string): string {
  const counts = SCRIPT_RANGES.map(() => 0);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < FIRST_LETTER) continue;
    const range = SCRIPT_RANGES.findIndex(([end]) => code <= end);
    if (range !== -1) counts[range] = (counts[range] ?? 0) + 1;
  }
  const letters = SCRIPT_RANGES.reduce(
    (sum, [, script], range) => (script === null ? sum : sum + (counts[range] ?? 0)),
    0,
  );
  const main = SCRIPT_RANGES.find(
    ([, script], range) =>
      script !== null && script !== LATIN && (counts[range] ?? 0) > letters * SCRIPT_SHARE,
  );
  return main?.[1] ?? LATIN;
}

function wantsReasoning(reasoning: GenerationRequest['reasoning']): boolean {
  if (reasoning === undefined || reasoning.enabled === false) return false;
  if (reasoning.effort !== undefined) return THOUGHTFUL.has(reasoning.effort);
  return reasoning.enabled === true || reasoning.adaptive === true || reasoning.budgetTokens !== undefined;
}
