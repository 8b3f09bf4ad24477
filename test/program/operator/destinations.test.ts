import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { run } from '../../../src/cli/run.ts';
import { storedTarget } from '../../../src/manage/destinations/destination-secrets.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

/** What commands of the operator make of destinations, whose secrets are encrypted like credentials. */

const SECRET = 'canary-of-a-destination-WXYZ';
const OTHER_KEY = Buffer.alloc(32, 2).toString('base64');

let temporary: ReturnType<typeof temporaryDirectory>;
let gateway: TestGateway;

beforeEach(async () => {
  temporary = temporaryDirectory();
  gateway = await openTestGateway();
  await managementOf(gateway).data(201, 'POST', '/observability/destinations', {
    type: 'webhook',
    name: 'Hook',
    config: { url: 'https://hooks.example.com/a', headers: { authorization: SECRET } },
  });
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await gateway.close();
  temporary.remove();
});

async function command(dataDir: string, ...words: string[]) {
  let out = '';
  const output = { out: (text: string) => (out += text), err: (text: string) => (out += text) };
  const code = await run([...words, '--config', gateway.configFile, '--data-dir', dataDir], output as never);
  return { code, out };
}

it('are in a backup, and work where it is restored', async () => {
  const backup = join(temporary.path, 'backup');
  const restored = join(temporary.path, 'restored');
  expect((await command(gateway.dataDir, 'backup', backup)).code).toBe(0);
  expect((await command(restored, 'restore', backup)).code).toBe(0);
  const installation = await openInstallation({ dataDir: restored, keyPrefix: 'sk-' });
  const [destination, ...others] = await installation.destinationStore.listAll();
  expect(others).toEqual([]);
  expect(destination && storedTarget(installation.vault, destination)).toMatchObject({
    url: 'https://hooks.example.com/a',
    headers: { authorization: SECRET },
  });
  await installation.close();
});

it('need their encryption key, which the start and doctor say', async () => {
  await gateway.drain(0);
  const dataDir = join(temporary.path, 'copy');
  cpSync(gateway.dataDir, dataDir, {
    recursive: true,
    filter: (source) => !/\/(lock|control\.sock)$/.test(source),
  });
  await expect(openInstallation({ dataDir, keyPrefix: 'sk-', encryptionKey: OTHER_KEY })).rejects.toThrow(
    'stored credentials are encrypted under the key',
  );
  vi.stubEnv('SIGNALBOX_ENCRYPTION_KEY', OTHER_KEY);
  const { code, out } = await command(dataDir, 'doctor');
  expect(code).toBe(1);
  expect(out).toMatch(/encrypted under the key [0-9a-f]{16}, and the one in SIGNALBOX_ENCRYPTION_KEY/);
});
