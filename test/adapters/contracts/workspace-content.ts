import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

/** A workspace is a boundary for content: what plain keys and management keys read of another one, over HTTP. */
export function contentOfWorkspaces(open: () => Promise<TestGateway>): void {
  describe('content of another workspace of the same account', () => {
    let gateway: TestGateway;
    let manage: Management;
    /** A plain key of each of two workspaces that keep prompts and answers. */
    let own: string;
    let other: string;

    const keyIn = async (slug: string) => {
      const { id } = await manage.data(201, 'POST', '/workspaces', {
        name: slug,
        slug,
        is_observability_io_logging_enabled: true,
      });
      return (await manage.ask('POST', '/keys', { name: slug, workspace_id: id })).body.key as string;
    };
    const json = { 'content-type': 'application/json' };
    const post = (path: string, body: object, key: string) =>
      gateway.fetch(path, { method: 'POST', key, body: JSON.stringify(body), headers: json });
    const statusOf = async (path: string, key: string, method = 'GET') =>
      (await gateway.fetch(path, { method, key })).status;

    beforeAll(async () => {
      gateway = await open();
      manage = managementOf(gateway);
      [own, other] = [await keyIn('own'), await keyIn('other')];
    });
    afterAll(() => gateway.close());

    it('prompts and answers are a 404, metadata is the account’s', async () => {
      const answer = await post('/responses', { model: 'simulator/standard', input: 'a secret' }, own);
      const id = answer.headers.get('x-generation-id');
      await answer.text();
      await expect.poll(() => statusOf(`/generation/content?id=${id}`, own)).toBe(200);
      await expect.poll(() => statusOf(`/generation/content?id=${id}`, gateway.managementKey)).toBe(200);
      expect(await statusOf(`/generation?id=${id}`, other)).toBe(200);
      for (const key of [other, gateway.apiKey]) {
        expect(await statusOf(`/generation/content?id=${id}`, key)).toBe(404);
      }
    });

    it('files are not found, named, read by the files tool or deleted', async () => {
      const form = new FormData();
      form.append('file', new Blob(['a secret']), 'a.txt');
      const uploaded = await gateway.fetch('/files', { method: 'POST', key: own, body: form });
      const { id } = (await uploaded.json()) as any;
      const call = async (key: string, operation: object) => {
        const params = { name: 'files', arguments: operation };
        const reply = await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, key);
        const { result } = (await reply.json()) as any;
        return { isError: result.isError, text: result.content[0].text as string };
      };
      const made = JSON.parse(
        (await call(own, { operation: 'write', filename: 'b.txt', content: 'made here' })).text,
      );
      const madeId = made.result.file_id as string;
      for (const key of [other, gateway.apiKey]) {
        for (const file of [id, madeId]) {
          expect(await statusOf(`/files/${file}`, key)).toBe(404);
          expect(await statusOf(`/files/${file}/content`, key)).toBe(404);
          expect(await statusOf(`/files/${file}`, key, 'DELETE')).toBe(404);
          const input = [{ role: 'user', content: [{ type: 'input_file', file_id: file }] }];
          expect((await post('/responses', { model: 'simulator/standard', input }, key)).status).toBe(404);
          expect(await call(key, { operation: 'read', file_id: file })).toMatchObject({
            isError: true,
            text: expect.stringContaining('not found'),
          });
        }
        expect((await (await gateway.fetch('/files', { key })).json()) as any).toMatchObject({ data: [] });
        expect((await call(key, { operation: 'list' })).text).not.toContain(id);
      }
      expect(await statusOf(`/files/${id}`, own)).toBe(200);
      expect(await statusOf(`/files/${madeId}/content`, own)).toBe(200);
    });

    it('an upload is not given out to MCP clients, not even of its own workspace', async () => {
      const form = new FormData();
      form.append('file', new Blob(['a secret']), 'a.txt');
      const { id } = (await (
        await gateway.fetch('/files', { method: 'POST', key: own, body: form })
      ).json()) as any;
      expect(await statusOf(`/files/${id}/content`, own)).toBe(400);
      for (const operation of [
        { operation: 'read', file_id: id },
        { operation: 'edit', file_id: id, old: 'a', new: 'the' },
      ]) {
        const params = { name: 'files', arguments: operation };
        const reply = await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, own);
        const text = await reply.text();
        expect(JSON.parse(text).result).toMatchObject({ isError: true });
        expect(text).toContain('the content of uploaded files cannot be downloaded');
        expect(text).not.toContain('a secret');
      }
    });

    it('answers of the cache and output items are not those of another key', async () => {
      const asked = { model: 'simulator/standard', input: 'cached' };
      const cached = async (key: string) => {
        const reply = await gateway.fetch('/responses', {
          method: 'POST',
          key,
          body: JSON.stringify(asked),
          headers: { ...json, 'x-signalbox-cache': 'true' },
        });
        await reply.text();
        return reply.headers.get('x-signalbox-cache-status');
      };
      await cached(own);
      await expect.poll(() => cached(own)).toBe('HIT');
      expect(await cached(other)).toBe('MISS');
      const answer = await post('/responses', { ...asked, input: 'not asked by the other key' }, own);
      const [item] = ((await answer.json()) as any).output;
      const input = [
        { type: 'item_reference', id: item.id },
        { role: 'user', content: 'And?' },
      ];
      expect((await post('/responses', { ...asked, input }, other)).status).toBe(400);
      expect((await post('/responses', { ...asked, input }, own)).status).toBe(200);
    });
  });
}
