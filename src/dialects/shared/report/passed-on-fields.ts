import type { GenerationRequest } from '../../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import type { Report } from './report.ts';

/** Reports undocumented request fields that are in the rendered body. Runs last, so that losses are listed first. */
export function reportPassedOn(request: GenerationRequest, rendered: JsonObject, report: Report): void {
  for (const field of request.unknownFields) {
    // Entries beyond the limit are only counted, without a search in the list.
    if (report.isFull || isIn(rendered, field, request.body)) report.passedOn(field, PASSED_ON);
  }
}

export const PASSED_ON = 'not a known field: the upstream got it as it is';

/** Report detail of a documented field with an unknown value. */
export const VALUE_PASSED_ON = 'not a known value: the upstream got it as it is';

/** A member of an object or of an element of a list: `thinking.depth`, `messages[2].mood`. */
const NESTED = /^(\w+)(?:\[(\d+)\])?\.(.+)$/s;

function isIn(rendered: JsonObject, field: string, given: JsonObject): boolean {
  if (Object.hasOwn(rendered, field)) return true;
  const [, parent, index, member] = NESTED.exec(field) ?? [];
  if (parent === undefined || member === undefined) return false;
  const sent = rendered[parent];
  if (index === undefined) return has(sent, member);
  if (!Array.isArray(sent)) return false;
  // Elements may have moved: any with the caller's value counts.
  const original = (given[parent] as Json[] | undefined)?.[Number(index)];
  if (!has(original, member)) return false;
  return sent.some((element) => has(element, member) && element[member] === original[member]);
}

function has(value: Json | undefined, member: string): value is JsonObject {
  return isJsonObject(value) && Object.hasOwn(value, member);
}
