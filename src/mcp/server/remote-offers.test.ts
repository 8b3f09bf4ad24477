import { describe, expect, it } from 'vitest';
import type { Caller } from '../../ports/tenancy/caller.ts';
import { McpProblem } from '../client/mcp-problem.ts';
import type { GrantedServers } from '../granted-servers.ts';
import { RemoteOffers } from './remote-offers.ts';

const CALLER = { key: { hash: 'key' } } as Caller;
const { signal } = new AbortController();

/** Servers with one tool `t` each, those in `down` without a list. */
function bench(...labels: string[]) {
  const down = new Set<string>();
  const asked: string[] = [];
  const lines: string[] = [];
  const granted = {
    grantedTo: () => labels.map((label) => ({ label, tools: { readOnly: false } })),
    remoteFor: async ({ label }: { label: string }) => ({
      label,
      url: label,
      headers: {},
      isConfigured: true,
    }),
    tools: async ({ label }: { label: string }) => {
      asked.push(label);
      if (down.has(label)) throw new McpProblem('timeout', 'no answer');
      return { tools: [{ name: 't', description: '', inputSchema: {} }], taskTools: [] };
    },
  } as unknown as GrantedServers;
  const log = {
    warn: (line: string) => void lines.push(line),
    info: (line: string) => void lines.push(line),
  };
  return { down, asked, lines, offers: new RemoteOffers(granted, log) };
}

describe('tools of configured servers', () => {
  it('log the beginning and the end of an outage once', async () => {
    const { down, lines, offers } = bench('a', 'b');
    const names = async () => (await offers.of(CALLER, signal)).map(({ name }) => name);
    expect(await names()).toEqual(['a__t', 'b__t']);
    down.add('a');
    for (let time = 0; time < 3; time++) expect(await names()).toEqual(['b__t']);
    down.clear();
    for (let time = 0; time < 3; time++) expect(await names()).toEqual(['a__t', 'b__t']);
    expect(lines).toEqual([
      'an MCP server gave no list of its tools',
      'an MCP server gives the list of its tools again',
    ]);
  });

  it('are found by asking the server of the label alone', async () => {
    const { asked, offers } = bench('a', 'b', 'a_b');
    expect((await offers.named('b__t', CALLER, signal))?.name).toBe('b__t');
    expect(asked).toEqual(['b']);
    expect((await offers.named('a_b__t', CALLER, signal))?.name).toBe('a_b__t');
    expect(asked).toEqual(['b', 'a_b']);
    expect(await offers.named('c__t', CALLER, signal)).toBeUndefined();
  });
});
