import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { objectsAt, textAt } from '../../kit/members.ts';
import type { Report } from '../report.ts';
import { FOREIGN_SEAL } from './losses.ts';
import { groupsOf, isOurs, isSealOfCall, PLAIN_THOUGHTS } from './reasoning-details.ts';

/**
 * The caller's messages without thoughts that another model family sealed, which the caller got from other models
 * through this gateway. Everything else stays as it came; a list in which nothing changes is returned itself.
 */
export function withoutForeignSeals(messages: Json | undefined, report: Report): Json | undefined {
  if (!Array.isArray(messages)) return messages;
  const cleaned = messages.map((message, position) =>
    isJsonObject(message) ? cleanedMessage(message, `messages[${position}]`, report) : message,
  );
  return cleaned.some((message, position) => message !== messages[position]) ? cleaned : messages;
}

function cleanedMessage(message: JsonObject, place: string, report: Report): JsonObject {
  const foreign = foreignDetails(message);
  if (foreign.size === 0) return message;
  report.dropped(`${place}.reasoning_details`, FOREIGN_SEAL);
  for (const field of PLAIN_THOUGHTS) {
    if (textAt(message, field) !== undefined) {
      report.dropped(`${place}.${field}`, 'the text of thoughts that another model family sealed');
    }
  }
  const kept = objectsAt(message, 'reasoning_details').filter((detail) => !foreign.has(detail));
  const rest = Object.entries(message).filter(([member]) => !THOUGHTS.has(member));
  return { ...Object.fromEntries(rest), ...(kept.length > 0 && { reasoning_details: kept }) };
}

const THOUGHTS: ReadonlySet<string> = new Set([...PLAIN_THOUGHTS, 'reasoning_details']);

/** Details whose seal belongs to another family. One without a format is of the family of the item it is part of. */
function foreignDetails(message: JsonObject): ReadonlySet<JsonObject> {
  const details = objectsAt(message, 'reasoning_details');
  const isCallSeal = isSealOfCall(message);
  const items = [
    ...groupsOf(details.filter((detail) => !isCallSeal(detail))),
    ...details.filter(isCallSeal).map((detail) => [detail]),
  ];
  const isForeign = (detail: JsonObject) => !isOurs(textAt(detail, 'format'));
  return new Set(items.filter((item) => item.some(isForeign)).flat());
}
