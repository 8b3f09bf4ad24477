import type { OutputFormat } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { booleanAt, compact, objectAt, textAt } from '../../../kit/json/members.ts';
import type { Report } from '../report/report.ts';

/** Asks for JSON in the system prompt, for models that do not enforce it. */
export const JSON_INSTRUCTION = 'Answer with a single JSON object and nothing else.';

type SchemaFormat = Extract<OutputFormat, { type: 'json-schema' }>;

/** The members beside a schema, as the chat and responses formats write them. */
export function parseSchemaFormat(written: JsonObject | undefined): SchemaFormat {
  return compact({
    type: 'json-schema',
    name: textAt(written, 'name') ?? '',
    schema: objectAt(written, 'schema') ?? {},
    description: textAt(written, 'description'),
    strict: booleanAt(written, 'strict'),
  });
}

export function renderSchemaFormat({ name, schema, description, strict }: SchemaFormat): JsonObject {
  return compact({ name, description, schema, strict });
}

/**
 * The schema of a format that names its schemas, for upstreams that take the schema alone; reports the other members.
 * `field`: their path in the caller's body.
 */
export function schemaWithoutName(
  { name, schema, description, strict }: SchemaFormat,
  field: string,
  report: Report,
): JsonObject {
  if (name !== '') report.dropped(`${field}.name`, 'the upstream has no names for schemas');
  if (strict === true) {
    report.dropped(`${field}.strict`, 'the upstream has no such field: it enforces every schema');
  } else if (strict === false) {
    report.coerced(`${field}.strict`, 'the upstream enforces every schema');
  }
  if (description === undefined) return schema;
  if (schema.description !== undefined) {
    report.dropped(`${field}.description`, 'the schema has its own');
    return schema;
  }
  report.coerced(`${field}.description`, 'became the description of the schema itself');
  return { description, ...schema };
}
