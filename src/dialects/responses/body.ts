import type { Event, Finish } from '../../ir/events.ts';
import type { Item } from '../../ir/items.ts';
import type { Result } from '../../ir/result.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectsAt } from '../../kit/json/members.ts';
import type { DecodeContext, ReplyContext } from '../dialect.ts';
import { ResponsesDecoder } from './decode.ts';
import { failedSnapshot, finishedSnapshot } from './encode-body.ts';

import { patchOutputItem, refusalText, renderOutputItem, showsRefusal } from './encode-content.ts';
import { ItemIds } from './ids.ts';
import { parseItem } from './parse-content.ts';

/** Events of a whole answer that came in one piece. */
export function decodeBody(body: JsonObject, context: DecodeContext): Event[] {
  const events = new ResponsesDecoder({ ...context, relay: false }).whole(body);
  if (!context.relay) return events;
  return [{ type: 'relay', dialect: 'responses', frame: { data: '' }, value: body, events, whole: true }];
}

/** The non-streaming answer. */
export function encodeBody(result: Result, context: ReplyContext): JsonObject {
  const finish: Finish = result.finish ?? { type: 'finish', reason: 'stop' };
  const { usage, settled, relayed } = result;
  const output = relayed === undefined ? outputOf(result, finish, context) : relayedOutput(relayed, context);
  if (context.keepItem !== undefined) output.forEach(context.keepItem);
  if (result.failure !== undefined)
    return failedSnapshot(context, result.failure, { output, usage, settled });
  return finishedSnapshot(context, finish, { output, usage, settled, upstream: relayed });
}

function outputOf(result: Result, finish: Finish, context: ReplyContext): JsonObject[] {
  const ids = new ItemIds(context.generationId);
  const items =
    showsRefusal(result.items) || finish.reason !== 'refusal'
      ? result.items
      : [...result.items, refusalOf(finish)];
  return items.flatMap((item, position) => {
    const status = 'status' in item ? item.status : undefined;
    const rendered = renderOutputItem(
      item,
      ids.idFor(item, position),
      status === undefined || status === 'in_progress' ? 'completed' : status,
      context.request,
    );
    return rendered === undefined ? [] : [rendered];
  });
}

function refusalOf(finish: Finish): Item {
  return {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'refusal', refusal: refusalText(finish) }],
    status: 'completed',
  };
}

function relayedOutput(body: JsonObject, context: ReplyContext): JsonObject[] {
  const ids = new ItemIds(context.generationId);
  return objectsAt(body, 'output').map((item, position) =>
    patchOutputItem(item, ids.idFor(parseItem(item), position), 'completed', context.request),
  );
}
