import type { Answer } from './answer.ts';
import { chat } from './chat.ts';
import type { Draft, FormatName } from './conversation.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

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

export const FORMATS: readonly Format[] = [responses, messages, chat];

export function formatNamed(name: string | null): Format {
  return FORMATS.find((format) => format.name === name) ?? responses;
}

/** Whether requests of this format can be written here: embeddings cannot. */
export function isFormat(name: string | null): name is FormatName {
  return FORMATS.some((format) => format.name === name);
}
