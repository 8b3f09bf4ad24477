import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { openFakeS3 } from '../../kit/fakes/fake-s3.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { doctorReport } from '../../program/operator/doctor-report.ts';

const storage = await openFakeS3();
const postgres = await postgresForTests();
const temporary = temporaryDirectory();
afterAll(async () => {
  await storage.close();
  temporary.remove();
});

const CONFIGURATION: JsonObject = {
  storage: {
    s3: {
      endpoint: storage.origin,
      region: storage.signingKey.region,
      bucket: storage.bucket,
      prefix: 'signalbox/',
      access_key_id: storage.signingKey.accessKeyId,
      secret_access_key: storage.signingKey.secretAccessKey,
    },
  },
};

const open: TestGateway[] = [];
afterEach(async () => {
  for (const gateway of open.splice(0)) await gateway.close();
  storage.objects.clear();
});

async function gatewayWith(env: Record<string, string> = {}, config = CONFIGURATION): Promise<TestGateway> {
  const gateway = await openTestGateway(config, { env });
  open.push(gateway);
  return gateway;
}

const TEXT = 'The lighthouse keeper is called Ada.';

function upload(gateway: TestGateway): Promise<Response> {
  const form = new FormData();
  form.append('file', new Blob([TEXT], { type: 'text/plain' }), 'keeper.txt');
  return gateway.fetch('/files', { method: 'POST', body: form });
}

async function uploadedId(gateway: TestGateway): Promise<string> {
  const response = await upload(gateway);
  expect(response.status).toBe(200);
  return ((await response.json()) as { id: string }).id;
}

/** Names the file in a request and gives its status. */
async function asked(gateway: TestGateway, id: string): Promise<number> {
  const response = await gateway.post('/chat/completions', {
    model: 'simulator/standard',
    messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }],
  });
  await response.text();
  return response.status;
}

describe('files in a bucket', () => {
  it('are stored there and not in the directory, and removed there', async () => {
    const gateway = await gatewayWith();
    const id = await uploadedId(gateway);
    expect([...storage.objects.keys()]).toEqual([`signalbox/files/${id}`]);
    expect(String(storage.objects.get(`signalbox/files/${id}`)?.bytes)).toBe(TEXT);
    expect(readdirSync(join(gateway.dataDir, 'files'))).toEqual([]);
    expect(await asked(gateway, id)).toBe(200);
    expect((await gateway.fetch(`/files/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(storage.objects.size).toBe(0);
  });

  it('get 503 while the bucket is away, and no secret is in the log', async () => {
    const gateway = await gatewayWith();
    const id = await uploadedId(gateway);
    storage.trouble('denied', 1000);
    try {
      const refused = await upload(gateway);
      expect(refused.status).toBe(503);
      expect(await refused.json()).toMatchObject({
        error: { code: 503, message: 'Service temporarily unavailable: the storage of files refuses access' },
      });
      expect(await asked(gateway, id)).toBe(503);
    } finally {
      storage.trouble('denied', 0);
    }
    expect(await asked(gateway, id)).toBe(200);
    expect(gateway.logText()).not.toContain('canary');
    expect(
      gateway.logText().match(/the bucket cannot be used; .*"status":403,"errno":"AccessDenied"/g),
    ).toHaveLength(1);
    expect(gateway.logText().match(/the bucket can be used again.*"away_ms"/g)).toHaveLength(1);
  });

  it('are examined by doctor', async () => {
    const gateway = await gatewayWith();
    await uploadedId(gateway);
    await gateway.drain(1_000);
    const look = async () => (await doctorReport(gateway.configFile, gateway.dataDir)).of('files');
    expect(await look()).toMatchObject([{ verdict: 'ok' }]);
    storage.trouble('denied', 1000);
    expect(await look()).toMatchObject([
      { verdict: 'problem', what: expect.stringContaining('403 AccessDenied') },
    ]);
    storage.trouble('denied', 0);
  });

  it('are examined by doctor in the bucket of the running gateway, whose configuration it does not have', async () => {
    const gateway = await gatewayWith();
    await uploadedId(gateway);
    const file = join(temporary.path, 'none.yaml');
    writeFileSync(file, '{}');
    const look = async () => (await doctorReport(file, gateway.dataDir)).of('files');
    expect(await look()).toMatchObject([
      { verdict: 'ok', what: expect.stringContaining(`the bucket ${storage.bucket} can be read`) },
    ]);
    storage.trouble('denied', 1000);
    expect(await look()).toMatchObject([
      { verdict: 'problem', what: expect.stringContaining('403 AccessDenied') },
    ]);
    storage.trouble('denied', 0);
  });

  if (postgres !== undefined) {
    it('are read at another gateway than they were uploaded to', async () => {
      const env = { DATABASE_URL: await postgres.createDatabase() };
      const [one, other] = [await gatewayWith(env), await gatewayWith(env)];
      const id = await uploadedId(one);
      expect(await asked(other, id)).toBe(200);
      expect((await other.fetch(`/files/${id}`, { method: 'DELETE' })).status).toBe(200);
      expect(await asked(one, id)).toBe(404);
    });
  }
});

describe('content in a bucket', () => {
  it('is kept there and found again', async () => {
    const gateway = await gatewayWith();
    const workspaces = await gateway.fetch('/workspaces', { key: gateway.managementKey });
    const { data } = (await workspaces.json()) as { data: { id: string }[] };
    const changed = await gateway.fetch(`/workspaces/${data[0]?.id}`, {
      method: 'PATCH',
      key: gateway.managementKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ is_observability_io_logging_enabled: true }),
    });
    expect(changed.status).toBe(200);
    const answered = await gateway.post('/chat/completions', {
      model: 'simulator/standard',
      messages: [{ role: 'user', content: TEXT }],
    });
    const { id } = (await answered.json()) as { id: string };
    const find = async () => {
      const response = await gateway.fetch(`/generation/content?id=${id}`, { key: gateway.managementKey });
      return response.status === 200 ? JSON.stringify(await response.json()) : '';
    };
    await expect.poll(find).toContain(TEXT);
    await expect
      .poll(() => [...storage.objects.keys()].filter((key) => key.includes(`/${id}.json.gz`)))
      .toHaveLength(1);
    expect(existsSync(join(gateway.dataDir, 'content'))).toBe(false);
  });
});
