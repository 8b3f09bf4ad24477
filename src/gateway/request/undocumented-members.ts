import type { TSchema } from 'typebox';
import { DIALECTS } from '../../dialects/dialects.ts';
import type { UndocumentedMember } from '../../ir/request.ts';
import { unlistedMembers } from '../../kit/json/unlisted-members.ts';
import type { GenerationInput } from './generation-input.ts';
import type { GatewaySettings } from './settings.ts';

/** More than a report lists: the rest is only counted, up to here. */
const MOST = 1000;

/** Schemas by format and vendor: building one takes longer than walking a body. */
const schemas = new Map<string, TSchema>();

/**
 * The members of a body, below the top level, that its format does not document, and values at any level that it does
 * not know.
 */
export function undocumentedMembers(
  { format, body }: Pick<GenerationInput, 'format' | 'body'>,
  { vendor }: Pick<GatewaySettings, 'vendor'>,
): readonly UndocumentedMember[] {
  const { requestSchema, gatewayFields } = DIALECTS[format].inbound;
  const key = `${format} ${vendor}`;
  const schema = schemas.get(key) ?? requestSchema(vendor);
  schemas.set(key, schema);
  return unlistedMembers(schema, body, MOST)
    .filter(({ path, name, isValue }) => isValue === true || path !== name)
    .map((member) => ({ ...member, isForGateway: gatewayFields.has(topLevelOf(member.path)) }));
}

/** The field of a body that a path begins with. */
function topLevelOf(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? path;
}
