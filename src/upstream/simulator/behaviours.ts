import type { ErrorKind } from '../../ir/errors.ts';
import { lookUp } from '../../kit/collections/lookup.ts';

export interface Behaviour {
  readonly firstByteMs: number;
  /** Milliseconds between two pieces of a stream. */
  readonly pieceMs: number;
  /** Thinks aloud even when it is not asked to. */
  readonly alwaysReasons?: boolean;
  /** Calls a tool on the first turn of every request that offers one. */
  readonly alwaysCallsTools?: boolean;
  readonly refuses?: boolean;
  readonly draws?: boolean;
  /** Stops in the middle of the answer, without an end. */
  readonly cutsOff?: boolean;
  /** Answers with this error instead. */
  readonly failure?: {
    readonly kind: ErrorKind;
    readonly message: string;
    readonly retryAfterSeconds?: number;
  };
}

const PACE = { firstByteMs: 10, pieceMs: 4 };

/** Behaviours by the upstream's name of the model. Any other name behaves like `standard`. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  /** Answers in a few sentences, or as the request asks: tool calls, structured output, reasoning. */
  standard: PACE,
  /** Thinks aloud, sealed, before each answer. */
  reasoning: { ...PACE, alwaysReasons: true },
  /** Calls the first tool it is given, then answers with the result. */
  tools: { ...PACE, alwaysCallsTools: true },
  /** Declines every request. */
  refuse: { ...PACE, refuses: true },
  /** Answers with a small picture. */
  image: { ...PACE, draws: true },
  /** Gives each input of `POST /embeddings` a vector. */
  embedding: PACE,
  /** Takes three seconds to begin. */
  slow: { ...PACE, firstByteMs: 3000 },
  /** Begins at once, then takes its time: five pieces a second. */
  'slow-stream': { ...PACE, pieceMs: 200 },
  /** Breaks off in the middle of the answer. */
  cut: { ...PACE, cutsOff: true },
  'fail-429': {
    ...PACE,
    failure: { kind: 'rate-limited', message: 'Simulated rate limit', retryAfterSeconds: 7 },
  },
  'fail-500': { ...PACE, failure: { kind: 'server', message: 'Simulated server error' } },
  'fail-529': { ...PACE, failure: { kind: 'upstream-overloaded', message: 'Simulated overload' } },
};

const STANDARD: Behaviour = PACE;

export function behaviourOf(model: string): Behaviour {
  return lookUp(BEHAVIOURS, model) ?? STANDARD;
}
