import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Tenancy } from '../../../src/ports/tenancy/tenancy.ts';
import type { McpMemory } from '../../../src/ports/upstreams/mcp-memory.ts';
import { workspaceOf } from '../../kit/builders/tenancy.ts';

interface OpenMemory {
  readonly memory: McpMemory;
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;

/** Every memory of MCP servers must pass this. */
export function mcpMemoryContract(name: string, open: () => Promise<OpenMemory>): void {
  describe(name, () => {
    let opened: OpenMemory;
    beforeEach(async () => {
      opened = await open();
      for (const id of ['a', 'b']) {
        const workspace = workspaceOf({ id: `${id}-default`, accountId: id });
        await opened.tenancy.createAccount({ id, name: id, createdAtMs: 1 }, workspace);
      }
    });
    afterEach(() => opened.close());

    const claim = (id: string, atMs = 1) => opened.memory.claimApproval({ id, generationId: 'gen-1', atMs });
    const seen = (digest: string, seenAtMs = 1) => ({
      digests: { search: digest, constructor: digest },
      changedAtMs: { search: 5 },
      seenAtMs,
    });

    it('lets an approval be claimed once, also of two at the same time', async () => {
      expect(await claim('one')).toBe(true);
      expect(await claim('one')).toBe(false);
      expect((await Promise.all([claim('two'), claim('two'), claim('two')])).filter(Boolean)).toHaveLength(1);
    });

    it('forgets old claims', async () => {
      await claim('one', DAY_MS);
      await claim('two', 80 * DAY_MS);
      expect(await claim('one', 90 * DAY_MS)).toBe(false);
      expect(await claim('one', 92 * DAY_MS)).toBe(true);
    });

    it('keeps the tools of each account and server apart', async () => {
      const { memory } = opened;
      expect(await memory.seenTools('a', 'docs')).toBeUndefined();
      await memory.noteSeenTools('a', 'docs', seen('x'));
      await memory.noteSeenTools('a', 'docs', seen('y'));
      await memory.noteSeenTools('b', 'docs', seen('z'));
      expect(await memory.seenTools('a', 'docs')).toEqual(seen('y'));
      expect(await memory.seenTools('b', 'docs')).toEqual(seen('z'));
      expect(await memory.seenTools('b', 'other')).toBeUndefined();
    });

    it('keeps the servers of an account that were seen last', async () => {
      const { memory } = opened;
      await memory.noteSeenTools('b', 'server', seen('x'));
      for (let at = 0; at < 203; at++) await memory.noteSeenTools('a', `server ${at}`, seen('x', at));
      expect(await memory.seenTools('a', 'server 2')).toBeUndefined();
      expect(await memory.seenTools('a', 'server 3')).toBeDefined();
      expect(await memory.seenTools('b', 'server')).toBeDefined();
    });
  });
}
