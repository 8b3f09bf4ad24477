import type { Endpoint } from '../catalog/catalog.ts';
import type { Format } from '../ir/items.ts';
import { NO_ENTRIES, type TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { numberAt } from '../kit/json/members.ts';
import type { FittedRequest } from './fit-reasoning.ts';

/** The members that hold the output limit, by format. The chat format has two names for it. */
const LIMIT_MEMBERS: Readonly<Record<Format, readonly [string, ...string[]]>> = {
  responses: ['max_output_tokens'],
  messages: ['max_tokens'],
  chat: ['max_tokens', 'max_completion_tokens'],
};

/**
 * Asks for no more output than is paid for: `most` tokens; undefined = no limit binds. A request that names no limit gets
 * one by it.
 */
export function fitOutput(
  request: GenerationRequest,
  most: number | undefined,
  { supportedParameters }: Pick<Endpoint, 'supportedParameters'>,
): FittedRequest {
  const { maxOutputTokens: asked, format } = request;
  if (most === undefined || (asked !== undefined && asked <= most)) return { request, report: NO_ENTRIES };
  const given = LIMIT_MEMBERS[format].filter((member) => numberAt(request.body, member) !== undefined);
  const members = given.length > 0 ? given : [newMember(format, supportedParameters)];
  const limits: JsonObject = Object.fromEntries(members.map((member) => [member, most]));
  const entry: TranslationEntry = {
    field: members[0] ?? '',
    action: 'coerced',
    detail: `${asked === undefined ? 'set' : 'lowered'} to ${most}, what the limits of the key still pay for`,
  };
  return {
    request: { ...request, maxOutputTokens: most, body: { ...request.body, ...limits } },
    report: [entry],
  };
}

/** Newer models refuse the older name. */
function newMember(format: Format, taken: ReadonlySet<string> | undefined): string {
  const [usual, newer] = LIMIT_MEMBERS[format];
  const takesOnlyNewer = newer !== undefined && taken?.has(newer) === true && !taken.has(usual);
  return takesOnlyNewer ? newer : usual;
}
