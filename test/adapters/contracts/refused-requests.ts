import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GenerationRow } from '../../../src/ports/generations/generation-row.ts';
import {
  type RefusedRequest,
  type RefusedRequests,
  refusedGeneration,
} from '../../../src/ports/generations/refused-requests.ts';
import type { Tenancy } from '../../../src/ports/tenancy/tenancy.ts';
import { keyOf, workspaceOf } from '../../kit/builders/tenancy.ts';

/** An adapter under test with the keys beside it, and how to close it. */
export interface RefusedRequestsUnderTest {
  readonly refused: RefusedRequests;
  readonly tenancy: Tenancy;
  close(): Promise<void>;
}

const request = (id: string, refusedAtMs: number, account = 'a'): RefusedRequest => ({
  id,
  scopes: { account, workspace: 'w', key: 'k' },
  refusedAtMs,
  row: { model: "m/o'ne", refused_requests: 3 } as GenerationRow,
});

/** What every store of refused requests must do. */
export function refusedRequestsContract(name: string, open: () => Promise<RefusedRequestsUnderTest>): void {
  describe(`RefusedRequests: ${name}`, () => {
    let under: RefusedRequestsUnderTest;
    const all = [request('gen-3', 3), request('gen-1', 1), request('gen-2', 2, 'b'), request('gen-2a', 2)];

    beforeAll(async () => {
      under = await open();
      await under.refused.add([]);
      await under.refused.add(all);
    });
    afterAll(() => under.close());

    it('finds a request as a generation that cost nothing, for its account alone', async () => {
      const { refused } = under;
      const [first] = all as [RefusedRequest];
      expect(await refused.find('a', 'gen-3')).toEqual(refusedGeneration(first));
      expect(await refused.find('b', 'gen-3')).toBeUndefined();
      expect(await refused.find('a', 'gen-4')).toBeUndefined();
    });

    it('keeps what it has of a known id', async () => {
      await under.refused.add([
        { ...request('gen-3', 9), scopes: { account: 'z', workspace: 'w', key: 'k' } },
      ]);
      expect((await under.refused.find('a', 'gen-3'))?.settledAtMs).toBe(3);
    });

    it('knows the owner of a key that was deleted, until it is pruned', async () => {
      const { refused, tenancy } = under;
      const account = { id: 'a', name: 'Acme', createdAtMs: 1 };
      await tenancy.createAccount(account, workspaceOf({ id: 'w', accountId: 'a', isDefault: true }));
      const key = keyOf({ hash: 'f'.repeat(64), accountId: 'a', workspaceId: 'w' });
      await tenancy.insertKey(key);
      expect(await refused.ownerOfDeleted(key.hash)).toBeUndefined();
      await tenancy.deleteKey(key.hash);
      expect(await refused.ownerOfDeleted(key.hash)).toEqual({ accountId: 'a', workspaceId: 'w' });
      await refused.prune(Date.now() - 600_000, 100);
      expect(await refused.ownerOfDeleted(key.hash)).toBeDefined();
      await refused.prune(Date.now() + 600_000, 0);
      expect(await refused.ownerOfDeleted(key.hash)).toBeUndefined();
    });

    it('removes the oldest rows, so many at a time', async () => {
      const { refused } = under;
      await refused.add(all);
      expect(await refused.prune(3, 2)).toBe(2);
      expect(await refused.prune(3, 2)).toBe(1);
      expect(await refused.find('a', 'gen-3')).toBeDefined();
      expect(await refused.find('a', 'gen-1')).toBeUndefined();
    });
  });
}
