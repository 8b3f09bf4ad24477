import type { DialectName, Format } from '../../src/ir/items.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import type { WireAnswer } from './answers/wire-answer.ts';
import { chat, messages, responses, type Sees, user } from './request-feature.ts';
import type { Verdicts } from './verdict.ts';

/** How to see that something reached the caller. */
export interface Reads {
  /** In the caller's own words for it. */
  readonly kept: Sees;
  /** In another form that still tells it. */
  readonly adapted?: Sees;
}

/** One thing that an answer may hold, and what becomes of it. */
export interface AnswerFeature {
  readonly title: string;
  readonly note?: string;
  /** The request that is answered; a greeting where nothing is said. */
  readonly asked?: Readonly<Partial<Record<Format, JsonObject>>>;
  /** The answer that holds it. A dialect that is left out has no word for it. */
  readonly answered: Readonly<Partial<Record<DialectName, WireAnswer>>>;
  /** What an upstream answers that was asked in the caller's own words, where that differs. */
  readonly relayed?: Readonly<Partial<Record<DialectName, WireAnswer>>>;
  /** How to see that it arrived. A format that is left out has no word for it, and loses it. */
  readonly reads: Readonly<Partial<Record<Format, Reads>>>;
  readonly verdicts: Verdicts;
}

/** Greetings. */
export const GREETINGS: Readonly<Record<Format, JsonObject>> = {
  responses: responses('Hello'),
  messages: messages([user()]),
  chat: chat([user()]),
};
