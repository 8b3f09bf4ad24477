import type { ConversationUpstream } from '../../../src/dialects/dialect.ts';
import { DIALECTS } from '../../../src/dialects/dialects.ts';
import type { Event } from '../../../src/ir/events.ts';
import type { DialectName } from '../../../src/ir/items.ts';
import type { GenerationRequest } from '../../../src/ir/request.ts';
import { requestOf } from '../../kit/builders/request.ts';
import type { Answer } from './recording.ts';

/** An answer that is one: no body of an error. */
export type Given = Exclude<Answer, { readonly kind: 'error' }>;

export function dialectNamed(name: DialectName): ConversationUpstream {
  const dialect = DIALECTS[name].upstream;
  if (dialect === undefined) throw new Error(`there is no dialect ${name}`);
  return dialect;
}

/** How an answer is read, where not as it lies there. */
export interface Reading {
  readonly request?: GenerationRequest;
  readonly relay?: boolean;
  /** The bytes in the pieces in which they arrive. */
  readonly pieces?: readonly Uint8Array[];
}

/** Everything that an answer means. */
export function eventsOf(
  answer: Given,
  { request = requestOf(), relay = false, pieces }: Reading = {},
): Event[] {
  const { quirks } = answer;
  const dialect = dialectNamed(answer.dialect);
  if (answer.kind === 'body') return dialect.decodeBody(answer.body, { request, relay, quirks });
  const reader = dialect.createFrameReader(1_000_000);
  const decoder = dialect.createDecoder({ request, relay, quirks });
  const events: Event[] = [];
  for (const piece of pieces ?? [answer.bytes]) {
    for (const frame of reader.push(piece)) events.push(...decoder.decode(frame));
  }
  for (const frame of reader.end()) events.push(...decoder.decode(frame));
  return [...events, ...decoder.end()];
}
