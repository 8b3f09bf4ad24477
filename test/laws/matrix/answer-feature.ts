import type { DialectName, Format } from '../../../src/ir/items.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import type { WireAnswer } from './answers/wire-answer.ts';
import { chat, messages, responses, type Sees, user } from './request-feature.ts';
import type { Verdicts } from './verdict.ts';

/** How a test sees that the feature reached the caller. */
export interface Reads {
  /** In the field that the caller's format has for it. */
  readonly kept: Sees;
  /** In another form with the same information. */
  readonly adapted?: Sees;
}

/** One feature of answers, and what becomes of it. */
export interface AnswerFeature {
  readonly title: string;
  readonly note?: string;
  /** The request that is answered; absent = a greeting. */
  readonly asked?: Readonly<Partial<Record<Format, JsonObject>>>;
  /** The answer with the feature. A missing dialect has no field for it. */
  readonly answered: Readonly<Partial<Record<DialectName, WireAnswer>>>;
  /** The upstream's answer to a relayed request, if it differs. */
  readonly relayed?: Readonly<Partial<Record<DialectName, WireAnswer>>>;
  /** How a test sees that it arrived. A missing format has no field for it and loses it. */
  readonly reads: Readonly<Partial<Record<Format, Reads>>>;
  readonly verdicts: Verdicts;
}

/** Greetings. */
export const GREETINGS: Readonly<Record<Format, JsonObject>> = {
  responses: responses('Hello'),
  messages: messages([user()]),
  chat: chat([user()]),
};
