import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import { flatten, type SchemaNode } from '../../src/kit/json/validate.ts';

/** Paths of a schema at which only listed values are valid: enums, constants, and tags of unions. */
function closedPaths(schema: SchemaNode): string[] {
  const found = new Set<string>();
  visit(schema, '', found);
  return [...found];
}

function visit(schema: SchemaNode, path: string, found: Set<string>): void {
  const branches = flatten(schema);
  const isListed = branches.some((node) => node.enum !== undefined || node.const !== undefined);
  const isOpen = branches.some((node) => node.unlisted === true || node.not !== undefined);
  if (isListed && !isOpen) found.add(path);
  visitInside(schema, path, found);
}

/** `tag`: the member by which a union tells its branches, which are open or closed together. */
function visitInside(schema: SchemaNode, path: string, found: Set<string>, tag?: string): void {
  const own = schema.discriminator?.propertyName;
  if (own !== undefined) {
    const together = flatten(schema).flatMap((branch) => branch.properties?.[own] ?? []);
    visit({ anyOf: together }, inside(path, own), found);
  }
  for (const branch of [...(schema.anyOf ?? []), ...(schema.allOf ?? [])]) {
    visitInside(branch, path, found, own ?? tag);
  }
  const { items, properties = {}, additionalProperties } = schema;
  if (items !== undefined) visit(items, `${path}[]`, found);
  if (typeof additionalProperties === 'object') visit(additionalProperties, `${path}.*`, found);
  for (const [name, node] of Object.entries(properties)) {
    if (name !== tag) visit(node, inside(path, name), found);
  }
}

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** Reasons that hold in several formats. */
const SPEAKER = 'who speaks decides what becomes of a turn in every dialect';
const MARKS = 'marks are moved and counted';
const PLACE = 'engines of the gateway search there';

/**
 * What the gateway itself acts on, by format: the end of a path, and why an unknown value is refused. Everything else
 * goes on to upstreams of the same format. Fields for the gateway are not listed.
 */
const ACTED_ON = {
  responses: {
    'input[].role': SPEAKER,
    'cache_control.type': MARKS,
    'tools[].tools[].type':
      'tools in groups are those of callers: the gateway looks for its own outside groups',
    'tools[].user_location.type': PLACE,
    'tools[].require_approval': 'the gateway asks for approval of the calls that it makes',
    store: 'nothing is stored',
  },
  chat: {
    'messages[].role': SPEAKER,
    'messages[].tool_calls[].type': 'calls are paired with their results, and carried to every dialect',
    'cache_control.type': MARKS,
  },
  messages: {
    'messages[].role': SPEAKER,
    'cache_control.type': MARKS,
    'tools[].name': 'searches, commands and advice are run, or become functions, under this name',
    'tools[].input_schema.type': 'every dialect takes objects only',
    'tools[].user_location.type': PLACE,
    'mcp_servers[].type': 'the gateway connects to the server',
    speed: 'endpoints and prices depend on it',
  },
} as const;

describe.each(Object.entries(ACTED_ON))('values of the %s format', (name, reasons) => {
  const { requestSchema, gatewayFields } = DIALECTS[name as keyof typeof ACTED_ON].inbound;
  const closed = closedPaths(requestSchema('acme') as SchemaNode).filter(
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
