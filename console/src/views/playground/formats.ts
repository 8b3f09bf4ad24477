import { chat } from './chat.ts';
import type { FormatName } from './conversation.ts';
import type { Format } from './format.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

export const FORMATS: readonly Format[] = [responses, messages, chat];

export function formatNamed(name: string | null): Format {
  return FORMATS.find((format) => format.name === name) ?? responses;
}

/** Whether requests of this format can be written here: embeddings cannot. */
export function isFormat(name: string | null): name is FormatName {
  return FORMATS.some((format) => format.name === name);
}
