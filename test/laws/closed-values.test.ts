import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import { flatten, type SchemaNode } from '../../src/kit/json/validate.ts';

/** Paths of a schema at which only listed values are valid: enums, constants, and tags of unions. */
function closedPaths(schema: SchemaNode, path = '', found = new Set<string>()): Set<string> {
  const branches = flatten(schema);
  const isListed = branches.some((node) => node.enum !== undefined || node.const !== undefined);
  const isOpen = branches.some((node) => node.unlisted === true || node.not !== undefined);
  if (isListed && !isOpen) found.add(path);
  for (const { items, properties = {}, additionalProperties } of branches) {
    if (items !== undefined) closedPaths(items, `${path}[]`, found);
    if (typeof additionalProperties === 'object') closedPaths(additionalProperties, `${path}.*`, found);
    for (const name of Object.keys(properties)) {
      const together = branches.flatMap((branch) => branch.properties?.[name] ?? []);
      closedPaths({ anyOf: together }, path === '' ? name : `${path}.${name}`, found);
    }
  }
  return found;
}

/**
 * What the gateway itself acts on, by format: the end of a path, and why an unknown value is refused. Everything else
 * goes on to upstreams of the same format. Fields for the gateway are not listed.
 */
const ACTED_ON = {
  messages: {
    'messages[].role': 'who speaks decides what becomes of a turn in every dialect',
    'cache_control.type': 'marks are moved and counted',
    'tools[].name': 'searches, commands and advice are run, or become functions, under this name',
    'tools[].input_schema.type': 'every dialect takes objects only',
    'user_location.type': 'engines of the gateway search there',
    'mcp_servers[].type': 'the gateway connects to the server',
    speed: 'endpoints and prices depend on it',
  },
} as const;

describe.each(Object.entries(ACTED_ON))('values of the %s format', (name, reasons) => {
  const { requestSchema, gatewayFields } = DIALECTS[name as keyof typeof ACTED_ON].inbound;
  const closed = [...closedPaths(requestSchema('acme') as SchemaNode)].filter(
    (path) => !gatewayFields.has(path.split(/[.[]/, 1)[0] ?? ''),
  );

  it('are refused only where the gateway acts on them', () => {
    const ends = Object.keys(reasons);
    expect(closed.filter((path) => !ends.some((end) => path === end || path.endsWith(`.${end}`)))).toEqual(
      [],
    );
    expect(ends.filter((end) => !closed.some((path) => path === end || path.endsWith(`.${end}`)))).toEqual(
      [],
    );
  });
});
