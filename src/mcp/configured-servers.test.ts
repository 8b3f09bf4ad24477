import { describe, expect, it } from 'vitest';
import { callerOf } from '../../test/kit/builders/tenancy.ts';
import { authorizationOf, configuredServersOf, isGranted, isSelected } from './configured-servers.ts';

const HASH = 'a'.repeat(64);

function serverOf(more: object = {}) {
  const docs = { url: 'https://mcp.example.com/mcp', headers: {}, read_only: false, ...more };
  const server = configuredServersOf({ tools: { mcp_servers: { docs } } } as never).get('docs');
  if (server === undefined) throw new Error('no server');
  return server;
}

describe('isGranted', () => {
  const caller = callerOf({ hash: HASH });
  it.each([
    ['nothing is said', {}, true],
    ['the key', { keys: [HASH] }, true],
    ['another key', { keys: ['b'.repeat(64)] }, false],
    ['the id of the workspace', { workspaces: [caller.workspace.id] }, true],
    ['the slug of the workspace', { workspaces: [caller.workspace.slug] }, true],
    ['another workspace', { workspaces: ['other'] }, false],
    ['another workspace, but the key', { workspaces: ['other'], keys: [HASH] }, true],
  ])('%s', (_name, more, granted) => {
    expect(isGranted(serverOf(more), caller, caller.accountId)).toBe(granted);
  });

  it.each([
    ['nothing is said', {}, false],
    ['all accounts', { all_accounts: true }, true],
    ['the key', { keys: [HASH] }, true],
    ['the id of the workspace', { workspaces: [caller.workspace.id] }, true],
  ])('to another account than the first: %s', (_name, more, granted) => {
    expect(isGranted(serverOf(more), caller, 'first')).toBe(granted);
    expect(isGranted(serverOf(more), caller, undefined)).toBe(granted);
  });

  it('takes a slug for the first account only', () => {
    const server = serverOf({ workspaces: [caller.workspace.slug] });
    expect(isGranted(server, caller, 'another account')).toBe(false);
  });
});

describe('authorizationOf', () => {
  it.each([
    ['token', { authorization: 'Bearer token' }],
    ['Basic abc', { authorization: 'Basic abc' }],
    ['', {}],
    [null, {}],
  ])('of %j', (token, headers) => {
    expect(authorizationOf(token)).toEqual(headers);
  });
});

describe('isSelected', () => {
  const tool = { name: 'search', isReadOnly: true } as never;
  it('needs every selection', () => {
    const all = { names: undefined, readOnly: false };
    expect(isSelected(tool, all, { names: new Set(['search']), readOnly: true })).toBe(true);
    expect(isSelected(tool, all, { names: new Set(['other']), readOnly: false })).toBe(false);
    expect(isSelected({ name: 'search', isReadOnly: false } as never, { ...all, readOnly: true })).toBe(
      false,
    );
  });
});
