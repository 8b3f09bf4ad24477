/** What the upstream does with one call. */
export interface Work {
  readonly input: number;
  /** Part of `input`. */
  readonly cached: number;
  /** Part of `input` that is written to a cache, where the dialect counts that. */
  readonly written: number;
  /** Words of the answer, each a delta of a stream and a token. */
  readonly visible: number;
  /** Tokens of thoughts that are not shown. */
  readonly hidden: number;
  /** Searches that the upstream runs by itself; only dialects that can report them do. */
  readonly searches: number;
  /** The upstream runs them only if the request has it search. */
  readonly searchesOnlyIfAsked?: true;
  /** Tokens of a picture that the upstream draws, if the request has it draw. */
  readonly drawn: number;
  /** The upstream runs code in a container, if the request has it run code. */
  readonly runsCode: boolean;
  /** Calls of the tool that the request offers, which asks another model; 0 if the request has none. */
  readonly tasks: number;
  readonly how: WorkEnd;
}

/**
 * How a call goes. `answer`: to its end. `slow`: the same, but its first byte takes `SLOW_MS`. `refuse`: the model
 * declines. `empty`: it thinks and says nothing. `silent`: it works and never sends a byte. `late`: a server in front
 * of it gives it up, with 504. `reset`: the connection breaks before a byte. `stall`, `break`: the answer stops, or
 * its connection breaks, after its last word and before its usage. `end`: the same, and it ends as if it were whole.
 * `foreign`: something comes that is no answer. `fail`: instead of its usage the answer says that it failed; in the
 * responses format it says both.
 */
export type WorkEnd =
  | 'answer'
  | 'slow'
  | 'refuse'
  | 'empty'
  | 'silent'
  | 'late'
  | 'reset'
  | 'stall'
  | 'break'
  | 'end'
  | 'foreign'
  | 'fail';

/**
 * How the service of pages goes. `read`: it reads them. `more`: it reads and reports two more than it was asked for.
 * `refuse`: it does nothing, with 500. The others did the work: `late`: a server in front of it gives it up, with 504.
 * `nonsense`: it answers without pages. `break`: the connection breaks. `silent`: it never answers.
 */
export type ReadingEnd = 'read' | 'more' | 'refuse' | 'late' | 'nonsense' | 'break' | 'silent';

/** USD for each unit: what the configuration of a test says too. */
export const BILLED_PRICES = {
  prompt: 3e-6,
  cached: 3e-7,
  written: 3.75e-6,
  completion: 1.5e-5,
  search: 0.01,
  drawn: 4e-5,
  drawnInput: 1e-5,
  container: 0.03,
  page: 0.002,
} as const;

/** Milliseconds before the first byte of an answer that is slow. */
export const SLOW_MS = 400;

/** Input tokens of a picture: what it was described by. */
export const DRAWN_INPUT = 60;

/** Pages that the service reports beyond those that it was asked for, if it reports more. */
export const PAGES_BEYOND = 2;

/** The same as the price list of an endpoint. */
export const BILLED_PRICING = {
  prompt: '0.000003',
  completion: '0.000015',
  input_cache_read: '0.0000003',
  input_cache_write: '0.00000375',
  web_search: '0.01',
  image_generation: '0.00004',
  image_generation_input: '0.00001',
  code_execution: '0.03',
} as const;

/** Dialects of upstreams, each with the slug of its provider. */
export const BILLED_DIALECTS = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
  gemini: 'google-gemini',
  bedrock: 'aws-bedrock',
} as const;

export type BilledDialect = keyof typeof BILLED_DIALECTS;

/** What models are asked by the tools that ask them: how the upstream knows their calls. */
export const TASK = 'Do this task';

/** The work as far as the dialect reports it and the tools of the request allow it. */
export interface Done extends Work {
  /** The tool that the answer calls `tasks` times. */
  readonly tool: string;
}

/** Tokens of output. */
export function outputOf({ visible, hidden, how }: Work): number {
  return hidden + (how === 'refuse' || how === 'empty' ? 0 : visible);
}

/** What a call costs. A call that is lost with its connection, before a byte of the answer, costs nothing. */
export function billOf(work: Work): number {
  const { input, cached, written, searches, drawn, runsCode, how } = work;
  if (how === 'reset') return 0;
  const prices = BILLED_PRICES;
  return (
    (input - cached - written) * prices.prompt +
    cached * prices.cached +
    written * prices.written +
    outputOf(work) * prices.completion +
    searches * prices.search +
    (drawn > 0 ? drawn * prices.drawn + DRAWN_INPUT * prices.drawnInput : 0) +
    (runsCode ? prices.container : 0)
  );
}
