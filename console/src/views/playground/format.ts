import type { Answer } from './answer.ts';
import type { Draft, FormatName } from './conversation.ts';

/** A format of requests: how a draft is written in it, and how its stream is read. */
export interface Format {
  readonly name: FormatName;
  readonly title: string;
  /** Below the base path. */
  readonly path: string;
  readonly body: (draft: Draft) => Readonly<Record<string, unknown>>;
  /** The answer after one more event of the stream. */
  readonly read: (answer: Answer, event: unknown) => Answer;
}
