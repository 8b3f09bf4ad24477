import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { booleanAt, objectAt, stringAt } from '../../kit/json/members.ts';
import type { SecretRemover } from './remote-server.ts';

/** A tool as its server describes it. */
export interface RemoteTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, always of an object. */
  readonly inputSchema: JsonObject;
  readonly annotations: JsonObject | undefined;
  /** The server says that the tool changes nothing. */
  readonly isReadOnly: boolean;
  /** Digest of name, description and schema: differs if the server changes any of them. */
  readonly digest: string;
  /** Characters of name, description and schema. */
  readonly characters: number;
}

const MAX_NAME_CHARACTERS = 128;
const MAX_DESCRIPTION_CHARACTERS = 16_384;
const MAX_SCHEMA_CHARACTERS = 65_536;

/** Reads an entry of a tool list; undefined = no model could be offered it. */
export function readTool(value: JsonObject, withoutSecrets: SecretRemover): RemoteTool | undefined {
  const name = stringAt(value, 'name') ?? '';
  if (name === '' || name.length > MAX_NAME_CHARACTERS || withoutSecrets(name) !== name) return undefined;
  const given = JSON.stringify(value.inputSchema ?? {});
  if (given.length > MAX_SCHEMA_CHARACTERS) return undefined;
  const inputSchema = schemaOfObject(cleared(value.inputSchema ?? {}, withoutSecrets));
  if (inputSchema === undefined) return undefined;
  const description = withoutSecrets.bounded(
    stringAt(value, 'description') ?? '',
    MAX_DESCRIPTION_CHARACTERS,
  );
  const annotations = objectAt(value, 'annotations');
  const isReadOnly = booleanAt(annotations, 'readOnlyHint') === true;
  return {
    name,
    description,
    inputSchema,
    annotations: isReadOnly ? { readOnlyHint: true } : undefined,
    isReadOnly,
    digest: digestOf([name, description, given, isReadOnly]),
    characters: name.length + description.length + given.length,
  };
}

/** A value whose strings and names of members hold no secret. */
function cleared(value: Json, withoutSecrets: SecretRemover): Json {
  if (typeof value === 'string') return withoutSecrets(value);
  if (Array.isArray(value)) return value.map((each) => cleared(each, withoutSecrets));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    withoutSecrets(name),
    cleared(member ?? null, withoutSecrets),
  ]);
  return Object.fromEntries(members) as JsonObject;
}

/**
 * The schema with the members that models need; undefined = it describes no object. Upstreams refuse a request for one
 * malformed schema.
 */
function schemaOfObject(schema: Json): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (schema.type !== undefined && schema.type !== 'object') return undefined;
  const { properties, required, ...rest } = schema;
  const known = isJsonObject(properties) ? properties : {};
  const described = Object.entries(known).filter(([, member]) => isJsonObject(member));
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(described),
    ...(names.length > 0 && { required: names }),
  };
}

function digestOf(parts: readonly (string | boolean)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
