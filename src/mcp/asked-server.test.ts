import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../kit/json/json.ts';
import { readAskedServer } from './asked-server.ts';

const asked = (more: JsonObject) => {
  const server = readAskedServer({ type: 'mcp', server_label: 'docs', ...more });
  if (server === undefined) throw new Error('a connector');
  return server;
};

const tool = (name: string, isReadOnly = false) => ({ name, isReadOnly }) as never;

describe('readAskedServer', () => {
  it('reads address, headers and token', () => {
    const server = asked({
      server_url: 'https://a.example',
      authorization: 't',
      headers: { 'X-A': 'b', n: 1 },
    });
    expect(server).toMatchObject({ label: 'docs', url: 'https://a.example', description: undefined });
    expect(server.headers).toEqual({ 'x-a': 'b', authorization: 'Bearer t' });
  });

  it('leaves connectors to their provider', () => {
    expect(readAskedServer({ server_label: 'x', connector_id: 'connector_gmail' })).toBeUndefined();
  });

  it.each<[Json | undefined, string[] | undefined, boolean]>([
    [undefined, undefined, false],
    [null, undefined, false],
    [['a'], ['a'], false],
    [{ tool_names: ['a'] }, ['a'], false],
    [{ read_only: true }, undefined, true],
  ])('reads allowed_tools %j', (allowed_tools, names, readOnly) => {
    const { tools } = asked(allowed_tools === undefined ? {} : { allowed_tools });
    expect(tools.names && [...tools.names]).toEqual(names);
    expect(tools.readOnly).toBe(readOnly);
  });

  it.each<[Json | undefined, boolean, boolean]>([
    [undefined, true, true],
    [null, true, true],
    ['always', true, true],
    ['never', false, false],
    [{ never: { tool_names: ['read'] } }, false, true],
    [{ never: { read_only: true } }, false, true],
    [{ never: { tool_names: ['read', 'write'] }, always: { tool_names: ['write'] } }, false, true],
    [{ always: { tool_names: ['write'] } }, true, true],
  ])('reads require_approval %j', (require_approval, ofRead, ofWrite) => {
    const { needsApproval } = asked(require_approval === undefined ? {} : { require_approval });
    expect([needsApproval(tool('read', true)), needsApproval(tool('write'))]).toEqual([ofRead, ofWrite]);
  });
});
