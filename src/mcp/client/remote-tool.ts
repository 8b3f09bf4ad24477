import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { booleanAt, objectAt, stringAt } from '../../kit/json/members.ts';
import { cleared, type SecretRemover } from '../../kit/secrets/secret-remover.ts';

/** A tool as its server describes it. */
export interface RemoteTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, always of an object. */
  readonly inputSchema: JsonObject;
  /** JSON Schema of structured results; undefined = the server declares none, or one that is too long. */
  readonly outputSchema: JsonObject | undefined;
  /** `title`, `icons`, `execution` and `annotations` as the server gives them; they tell models nothing. */
  readonly presentation: JsonObject;
  /** The server runs it only as a task, which the gateway does not offer. */
  readonly isTask: boolean;
  /** The server says that the tool changes nothing. */
  readonly isReadOnly: boolean;
  /** Digest of name, description and schemas: differs if the server changes any of them. */
  readonly digest: string;
  /** Characters of name, description and schemas. */
  readonly characters: number;
}

const MAX_NAME_CHARACTERS = 128;
const MAX_DESCRIPTION_CHARACTERS = 16_384;
const MAX_SCHEMA_CHARACTERS = 65_536;

/** Members that are only shown, and most characters of each. */
const PRESENTED = ['title', 'icons', 'execution', 'annotations'] as const;
const MAX_PRESENTED_CHARACTERS = 8192;

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
  const outputSchema = outputSchemaOf(value, withoutSecrets);
  const output = outputSchema === undefined ? '' : JSON.stringify(outputSchema);
  const presentation = presentationOf(value, withoutSecrets);
  const isReadOnly = booleanAt(objectAt(value, 'annotations'), 'readOnlyHint') === true;
  return {
    name,
    description,
    inputSchema,
    outputSchema,
    presentation,
    isTask: stringAt(objectAt(value, 'execution'), 'taskSupport') === 'required',
    isReadOnly,
    digest: digestOf([name, description, given, isReadOnly, ...(output === '' ? [] : [output])]),
    characters:
      name.length + description.length + given.length + output.length + JSON.stringify(presentation).length,
  };
}

function presentationOf(value: JsonObject, withoutSecrets: SecretRemover): JsonObject {
  return Object.fromEntries(
    PRESENTED.flatMap((name) => {
      const member = value[name];
      const isShown = member !== undefined && JSON.stringify(member).length <= MAX_PRESENTED_CHARACTERS;
      return isShown ? [[name, cleared(member, withoutSecrets)]] : [];
    }),
  );
}

function outputSchemaOf(value: JsonObject, withoutSecrets: SecretRemover): JsonObject | undefined {
  const schema = objectAt(value, 'outputSchema');
  if (schema?.type !== 'object' || JSON.stringify(schema).length > MAX_SCHEMA_CHARACTERS) return undefined;
  return cleared(schema, withoutSecrets) as JsonObject;
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
