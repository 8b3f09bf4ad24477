import type { GenerationRequest } from '../../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import { define, objectAt } from '../../../kit/json/members.ts';
import type { Report } from './report.ts';

/** Reports undocumented request fields that are in the rendered body. Runs last, so that losses are listed first. */
export function reportPassedOn(request: GenerationRequest, rendered: JsonObject, report: Report): void {
  for (const field of request.unknownFields) {
    // Entries beyond the limit are only counted, without a search in the list.
    if (report.isFull || isIn(rendered, field, request.body)) report.passedOn(field, PASSED_ON);
  }
}

/**
 * The rendered body with the fields of the caller's that no format documents, if the upstream speaks the caller's
 * format: fields of the request, and members of settings that are sent. Reports what became of each. `isForGateway`:
 * fields that never go upstream.
 */
export function withUnknownFields(
  request: GenerationRequest,
  dialect: string,
  rendered: JsonObject,
  isForGateway: (field: string) => boolean,
  report: Report,
): JsonObject {
  if (request.format !== dialect || request.unknownFields.length === 0) return rendered;
  const body = { ...rendered };
  for (const field of request.unknownFields) {
    if (isForGateway(field)) continue;
    if (addUnknown(body, request.body, field)) report.passedOn(field, PASSED_ON);
    else report.dropped(field, MADE_HERE);
  }
  return body;
}

/** Report detail of what the gateway writes itself although the upstream speaks the caller's format. */
export const MADE_HERE = 'the gateway writes this part of the request itself, with what it knows';

/** Adds one undocumented field of the caller's; false if what it belongs to is not sent. */
function addUnknown(body: JsonObject, given: JsonObject, field: string): boolean {
  if (Object.hasOwn(given, field)) {
    if (!Object.hasOwn(body, field)) define(body, field, given[field] ?? null);
    return true;
  }
  const [, parent = '', index, member = ''] = NESTED.exec(field) ?? [];
  const [from, to] = [objectAt(given, parent), objectAt(body, parent)];
  if (index !== undefined || from === undefined || to === undefined) return false;
  const settings = { ...to };
  define(settings, member, from[member] ?? null);
  define(body, parent, settings);
  return true;
}

/** The caller's body with every undocumented field replaced by what `change` returns; the same if nothing changes. */
export function mapUnknownFields(
  { body, unknownFields }: Pick<GenerationRequest, 'body' | 'unknownFields'>,
  change: (value: Json, field: string) => Json,
): JsonObject {
  let mapped = body;
  for (const field of unknownFields) {
    const [, parent = '', index, member = ''] = NESTED.exec(field) ?? [];
    const own = Object.hasOwn(body, field);
    const inside = own || index !== undefined ? undefined : objectAt(mapped, parent);
    const value = own ? body[field] : inside?.[member];
    if (value === undefined) continue;
    const changed = change(value, field);
    if (changed === value) continue;
    mapped = { ...mapped };
    if (inside === undefined) define(mapped, field, changed);
    else define(mapped, parent, { ...inside, [member]: changed });
  }
  return mapped;
}

export const PASSED_ON = 'not a known field: the upstream got it as it is';

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
