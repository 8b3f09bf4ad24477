import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

/** Quotas of the gateways under test. */
export const QUOTAS_OF_TESTS = {
  limits: {
    files: {
      per_key: { max_bytes: 1000, max_files: 5 },
      per_workspace: { max_bytes: 1500 },
      per_account: { max_bytes: 2000 },
    },
  },
};

/** Quotas of stored files over HTTP, with one gateway or several that share their database. */
export function fileQuotas(open: () => Promise<readonly TestGateway[]>): void {
  describe('quotas of stored files', () => {
    let gateways: readonly TestGateway[];
    let first: TestGateway;

    const upload = async (key: string, size: number, gateway = first) => {
      const body = new FormData();
      body.append('file', new Blob(['x'.repeat(size)]), 'a.txt');
      const response = await gateway.fetch('/files', { method: 'POST', key, body });
      return { status: response.status, body: (await response.json()) as any };
    };
    const account = async (name: string) => {
      const made = await managementOf(first).command('accounts.create', { name });
      const manage = (method: string, path: string, body?: object) =>
        managementOf(first).ask(method, path, body as never, made.management_key);
      const keyOf = async (workspaceId?: string): Promise<string> =>
        (await manage('POST', '/keys', { name: 'k', ...(workspaceId && { workspace_id: workspaceId }) })).body
          .key;
      const workspace = async (slug: string): Promise<string> =>
        (await manage('POST', '/workspaces', { name: slug, slug })).body.data.id;
      return { keyOf, workspace };
    };
    const statuses = (all: readonly { readonly status: number }[]) =>
      all.map(({ status }) => status).toSorted((a, b) => a - b);

    beforeAll(async () => {
      gateways = await open();
      first = gateways[0] as TestGateway;
    });
    afterAll(() => Promise.all(gateways.map((gateway) => gateway.close())));

    it('say which one is used up, its size and its use, and count again what is deleted', async () => {
      const { keyOf } = await account('one');
      const key = await keyOf();
      const { body: stored } = await upload(key, 600);
      const { status, body } = await upload(key, 401);
      expect(status).toBe(413);
      expect(body.error).toMatchObject({
        code: 413,
        message: expect.stringMatching(/quota of the key.*limits\.files\.per_key.*Delete files/),
        metadata: { quota: { scope: 'key', unit: 'bytes', limit: 1000 } },
      });
      expect((await upload(key, 400)).status).toBe(200);
      const full = await upload(key, 1);
      expect(full.body.error.metadata.quota).toEqual({
        scope: 'key',
        unit: 'bytes',
        limit: 1000,
        used: 1000,
      });
      await first.fetch(`/files/${stored.id}`, { method: 'DELETE', key });
      expect((await upload(key, 600)).status).toBe(200);
    });

    it('count files, those of a workspace and those of an account', async () => {
      const { keyOf, workspace } = await account('two');
      const [key, second] = [await keyOf(), await keyOf()];
      for (let at = 0; at < 5; at++) expect((await upload(key, 1)).status).toBe(200);
      expect((await upload(key, 1)).body.error.metadata.quota).toMatchObject({ scope: 'key', unit: 'files' });
      expect((await upload(second, 900)).status).toBe(200);
      const third = await keyOf();
      const inWorkspace = await upload(third, 700);
      expect(inWorkspace.body.error.metadata.quota).toMatchObject({ scope: 'workspace', limit: 1500 });
      const elsewhere = await keyOf(await workspace('team'));
      expect((await upload(elsewhere, 1000)).status).toBe(200);
      const inAccount = await upload(third, 200);
      expect(inAccount.body.error.metadata.quota).toMatchObject({ scope: 'account', limit: 2000 });
    });

    it('are not passed by uploads that race, whichever gateway they come to', async () => {
      const { keyOf } = await account('three');
      const keys = await Promise.all([1, 2, 3].map(() => keyOf()));
      const all = await Promise.all(
        Array.from({ length: 24 }, (_, at) =>
          upload(keys[at % 3] ?? '', 250, gateways[at % gateways.length] ?? first),
        ),
      );
      expect(statuses(all).every((status) => status === 200 || status === 413)).toBe(true);
      const { data } = (await (await first.fetch('/files', { key: keys[0] ?? '' })).json()) as any;
      const bytes = data.reduce((sum: number, { size_bytes }: any) => sum + size_bytes, 0);
      expect(bytes).toBe(250 * all.filter(({ status }) => status === 200).length);
      expect(bytes).toBeLessThanOrEqual(1500);
      expect(bytes).toBeGreaterThan(0);
    });

    it('hold for the files tool, which says so to the model', async () => {
      const { keyOf } = await account('four');
      const key = await keyOf();
      await upload(key, 990);
      const given = { operation: 'write', filename: 'b.txt', content: 'x'.repeat(11) };
      const params = { name: 'files', arguments: given };
      const reply = await first.fetch('/mcp', {
        method: 'POST',
        key,
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
        headers: { 'content-type': 'application/json' },
      });
      const { result } = (await reply.json()) as any;
      expect(result).toMatchObject({ isError: true });
      expect(result.content[0].text).toContain('no room in the quota of the key');
    });
  });
}
