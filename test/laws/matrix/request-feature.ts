import type { DialectName, Format } from '../../../src/ir/items.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { ALL_KEPT, type Verdicts } from './verdict.ts';

/** A body for predicates. A missing member makes a predicate false, not an error: see `holds`. */
export type Wire = any;

/** Whether a body contains the feature. */
export type Sees = (body: Wire) => unknown;

/** One feature of requests, and what becomes of it. */
export interface RequestFeature {
  /** Its name on the page. */
  readonly title: string;
  /** A remark for readers of the page. */
  readonly note?: string;
  /** A request for this feature alone. A missing format has no field for it. */
  readonly asked: Readonly<Partial<Record<Format, JsonObject>>>;
  /** How a test sees that it arrived, in any form. */
  readonly arrives: Readonly<Record<DialectName, Sees>>;
  /** The verdict for each pair. */
  readonly verdicts: Verdicts;
}

/** Rows that belong together. */
export interface RequestChapter {
  readonly title: string;
  readonly features: readonly RequestFeature[];
}

/** A row; without verdicts the feature is kept everywhere. */
export function row(
  feature: Omit<RequestFeature, 'verdicts'> & { readonly verdicts?: Verdicts },
): RequestFeature {
  return { verdicts: ALL_KEPT, ...feature };
}

/** A predicate about members that may be missing. */
export function holds(sees: Sees, body: unknown): boolean {
  try {
    return Boolean(sees(body));
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** True when `text` stands anywhere in a body. */
export function says(text: string): Sees {
  return (body) => JSON.stringify(body).includes(text);
}

/** The same predicate for all dialects. */
export function everywhere(sees: Sees): Readonly<Record<DialectName, Sees>> {
  return { responses: sees, messages: sees, chat: sees, gemini: sees, bedrock: sees };
}

const MODEL = 'acme/large';

/** A request of the responses format. */
export function responses(input: JsonObject[] | string, more: JsonObject = {}): JsonObject {
  return { model: MODEL, input, ...more };
}

/** A request of the messages format. */
export function messages(conversation: JsonObject[], more: JsonObject = {}): JsonObject {
  return { model: MODEL, max_tokens: 4000, messages: conversation, ...more };
}

/** A request of the chat format. */
export function chat(conversation: JsonObject[], more: JsonObject = {}): JsonObject {
  return { model: MODEL, messages: conversation, ...more };
}

/** A user message. */
export function user(content: JsonObject[] | string = 'Hello'): JsonObject {
  return { role: 'user', content };
}

/** A message of the model. */
export function assistant(content: JsonObject[] | string): JsonObject {
  return { role: 'assistant', content };
}

/** Settings in each format, asked beside a plain greeting. */
export function settings(
  asked: Readonly<Partial<Record<Format, JsonObject>>>,
): Readonly<Partial<Record<Format, JsonObject>>> {
  return {
    ...(asked.responses && { responses: responses('Hello', asked.responses) }),
    ...(asked.messages && { messages: messages([user()], asked.messages) }),
    ...(asked.chat && { chat: chat([user()], asked.chat) }),
  };
}
