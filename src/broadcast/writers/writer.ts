import type { FilterFacts } from '../filter-fields.ts';
import type { SentParts } from '../spans/generation-spans.ts';
import type { Send } from './send.ts';

export interface WriterDependencies {
  readonly send: Send;
  readonly sent: SentParts;
  /** Version of the gateway. */
  readonly version: string;
  readonly now: () => number;
  /** Called with the number of spans that a destination took with the rest of a request and did not keep. */
  readonly onRejected: (spans: number) => void;
}

/**
 * Writes generations, of which there is at least one, to a destination. Rejects with a FollowerWaits if they are to be
 * written again later, with a FollowerRefuses if the destination will never take them together.
 */
export type Write = (generations: readonly FilterFacts[], signal: AbortSignal) => Promise<void>;
