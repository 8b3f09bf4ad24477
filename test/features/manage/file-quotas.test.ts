import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fileQuotas, QUOTAS_OF_TESTS } from '../../adapters/contracts/file-quotas.ts';
import { openTestGateway } from '../../kit/gateway-harness.ts';

fileQuotas(async () => [await openTestGateway(QUOTAS_OF_TESTS)]);

it('files are refused first while the disk is nearly full', async () => {
  const files = { min_free_disk_bytes: Number.MAX_SAFE_INTEGER };
  const gateway = await openTestGateway({ limits: { files } });
  const body = new FormData();
  body.append('file', new Blob(['hello']), 'a.txt');
  const refused = await gateway.fetch('/files', { method: 'POST', body });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  expect(((await refused.json()) as any).error.message).toMatch(/free space.*min_free_disk_bytes/);
  expect(readdirSync(join(gateway.dataDir, 'files'))).toEqual([]);
  const question = { model: 'simulator/standard', input: 'hello' };
  expect((await gateway.post('/responses', question)).status).toBe(200);
  await gateway.close();
});
