import { DIALECTS } from '../../../src/dialects/dialects.ts';
import type { Event } from '../../../src/ir/events.ts';
import { fold } from '../../../src/ir/folding/fold.ts';
import type { Format, Item } from '../../../src/ir/items.ts';
import type { GenerationRequest } from '../../../src/ir/request.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { requestOf } from '../../kit/builders/request.ts';
import { replyTo, settleAll } from '../../kit/fixtures/chat/chat-fixture.ts';
import type { Given } from './decode.ts';

/** A request in a format, with the tools that an answer calls. */
export function requestFor(format: Format, items: readonly Item[]): GenerationRequest {
  const calls = items.filter((item) => item.type === 'tool-call');
  return requestOf({ format, tools: calls.map(({ kind, name }) => ({ type: kind, name })) });
}

/** What a caller of a format gets, settled, as the stream or the body that it would be. */
export function givenTo(
  format: Format,
  events: readonly Event[],
  kind: Given['kind'],
  request: GenerationRequest,
): Given {
  const inbound = DIALECTS[format].inbound;
  const settled = settleAll(events);
  if (kind === 'body') {
    const body = inbound.encodeBody(fold(settled), replyTo(request));
    return { kind, dialect: format, body: JSON.parse(JSON.stringify(body)) as JsonObject };
  }
  const encoder = inbound.createEncoder(replyTo(request));
  const text = settled.map((event) => encoder.encode([event])).join('');
  return { kind, dialect: format, bytes: Buffer.from(text) };
}
