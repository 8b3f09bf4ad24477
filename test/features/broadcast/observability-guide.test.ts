import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DESTINATION_TYPES } from '../../../src/broadcast/destination-types.ts';
import { FILTER_FIELDS } from '../../../src/broadcast/filter-fields.ts';
import { FILTER_OPERATORS } from '../../../src/broadcast/filter-rules.ts';
import { CONVENTIONS } from '../../../src/broadcast/spans/conventions.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

/** What docs/guide/observability.md says, against the tables and a running gateway. */

const GUIDE = readFileSync(new URL('../../../docs/guide/observability.md', import.meta.url), 'utf8');

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway();
});

afterAll(() => gateway.close());

/** Code spans of each cell of the tables below a heading. */
function rowsBelow(heading: string): string[][][] {
  const section = GUIDE.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line.split(' | ').map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, span]) => span as string)),
    );
}

it('lists each type with its members and their defaults', () => {
  const listed = Object.fromEntries(
    rowsBelow('Types').map(([type = [], , config = []]) => [type[0], config]),
  );
  const known = Object.entries(DESTINATION_TYPES).map(([type, { members }]) => [
    type,
    Object.entries(members)
      .filter(([name]) => name !== 'headers')
      .flatMap(([name, { fallback }]) => (fallback === undefined ? [name] : [name, fallback])),
  ]);
  expect(listed).toEqual(Object.fromEntries(known));
});

it('marks the members that need not be given and have no default', () => {
  for (const [type, { members }] of Object.entries(DESTINATION_TYPES)) {
    const row = GUIDE.split('\n').find((line) => line.startsWith(`| \`${type}\``)) ?? '';
    const marked = [...row.matchAll(/`(\w+)` \(may be absent\)/g)].map(([, name]) => name);
    const optional = Object.entries(members).filter(
      ([name, { isRequired, fallback }]) => name !== 'headers' && !isRequired && fallback === undefined,
    );
    expect({ type, marked }).toEqual({ type, marked: optional.map(([name]) => name) });
  }
});

it('lists each field and each operator of rules', () => {
  const first = rowsBelow('Rules').flatMap(([cell = []]) => cell);
  expect(first.sort()).toEqual([...Object.keys(FILTER_FIELDS), ...Object.keys(FILTER_OPERATORS)].sort());
  expect(GUIDE).toContain(`(${CONVENTIONS.version})`);
});

it('has examples that the gateway takes', async () => {
  const management = managementOf(gateway);
  const calls = [
    ...GUIDE.matchAll(
      /curl -s (?:-X (\w+) )?"\$BASE_URL(\S+)" -H "Authorization[^']*'[^']*' -d '(\{.*?\})'\n/gs,
    ),
  ];
  expect(calls).toHaveLength(3);
  for (const [, method = 'POST', path = '', body = ''] of calls) {
    const { status } = await management.ask(method, path, JSON.parse(body));
    expect({ path, status }).toEqual({ path, status: method === 'POST' ? 201 : 200 });
  }
  const { body } = await management.ask('GET', '/observability/destinations');
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual([
    'Production traces',
    'Dear or failed',
  ]);
});
