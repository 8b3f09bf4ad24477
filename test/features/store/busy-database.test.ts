import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

let gateway: TestGateway;
let other: Database.Database;

beforeAll(async () => {
  gateway = await openTestGateway();
  other = new Database(join(gateway.dataDir, 'signalbox.sqlite'));
  other.exec('begin immediate');
});

afterAll(async () => {
  if (other.inTransaction) other.exec('rollback');
  other.close();
  await gateway.close();
});

it('a database that another process writes to delays only writers, which get Retry-After', async () => {
  const { ask } = managementOf(gateway);
  const began = performance.now();
  let isDone = false;
  const made = gateway
    .fetch('/keys', {
      method: 'POST',
      body: JSON.stringify({ name: 'late' }),
      headers: { 'content-type': 'application/json' },
      key: gateway.managementKey,
    })
    .finally(() => {
      isDone = true;
    });
  let healthy = 0;
  while (performance.now() - began < 500) {
    expect((await fetch(`${gateway.origin}/healthz`)).status).toBe(200);
    expect((await ask('GET', '/keys')).status).toBe(200);
    healthy += 1;
  }
  expect(isDone).toBe(false);
  expect(healthy).toBeGreaterThan(3);
  const refused = await made;
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await refused.json()).toMatchObject({
    error: { code: 503, message: 'Service temporarily unavailable: another program has locked the database' },
  });
  expect(gateway.logged('the database cannot be written; requests that need it are refused')).toHaveLength(1);
  other.exec('rollback');
  expect((await ask('POST', '/keys', { name: 'in time' })).status).toBe(201);
});
