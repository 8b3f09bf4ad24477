import { expect, it } from 'vitest';
import { OWN_PREFIXES } from '../config/parse/cross-checks.ts';
import { SERVER_TOOLS } from './table.ts';

it('names own tools so that no configured MCP server has a tool of the same name', () => {
  const prefixes = [...SERVER_TOOLS.keys()]
    .filter((name) => name.includes('__'))
    .map((name) => name.split('__')[0]);
  expect(new Set(prefixes)).toEqual(OWN_PREFIXES);
});
