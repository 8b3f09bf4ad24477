import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signalbox } from '../../kit/program.ts';
import { type StartedProgram, startProgram, stopped } from '../../kit/started-program.ts';
import { linesOf } from '../worst-hour/log-lines.ts';
import { run } from '../worst-hour/small-disk.ts';

/**
 * A file system on a loop device, frozen with fsfreeze: writes to it last until it is thawed. That needs root and a
 * kernel with loop devices; elsewhere the tests are left out.
 */
class FreezableDisk {
  readonly folder = mkdtempSync(join(tmpdir(), 'signalbox-frozen-'));
  readonly path = join(this.folder, 'disk');
  readonly isThere: boolean;

  constructor() {
    const image = join(this.folder, 'image');
    mkdirSync(this.path);
    this.isThere =
      process.getuid?.() === 0 &&
      run('truncate', '-s', '64M', image) &&
      run('mkfs.ext4', '-q', image) &&
      run('mount', '-o', 'loop', image, this.path) &&
      this.freeze() &&
      this.thaw();
  }

  freeze(): boolean {
    return run('fsfreeze', '-f', this.path);
  }

  thaw(): boolean {
    return run('fsfreeze', '-u', this.path);
  }

  remove(): void {
    this.thaw();
    run('umount', this.path);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const MANAGEMENT_KEY = 'management-key-of-this-test';
const API_KEY = 'api-key-of-this-test';
const SCRAPE_TOKEN = 'scrape-token-of-this-test';

const disk = new FreezableDisk();
afterAll(() => disk.remove());

describe.skipIf(!disk.isThere)('a gateway whose disk is frozen', () => {
  const dataDir = join(disk.path, 'data');
  const config = join(disk.folder, 'signalbox.yaml');
  const env = {
    SIGNALBOX_CONFIG: config,
    SIGNALBOX_DATA_DIR: dataDir,
    SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
    SIGNALBOX_API_KEY: API_KEY,
  };
  let program: StartedProgram;

  beforeAll(async () => {
    writeFileSync(config, `drain_ms: 500\nmetrics: { token: ${SCRAPE_TOKEN} }\n`);
    program = await startProgram(disk.folder, env);
  });

  afterAll(async () => {
    disk.thaw();
    await stopped(program.child, 'SIGTERM');
  });

  const get = (path: string, headers = {}) =>
    fetch(new URL(path, program.url), { headers, signal: AbortSignal.timeout(5_000) });

  const generate = () =>
    fetch(`${program.url}/chat/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${API_KEY}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'simulator/standard', messages: [{ role: 'user', content: 'Hi' }] }),
    });

  const ledgerPart = async () => {
    const body = (await (await get('/readyz')).json()) as { parts: { ledger: { reason?: string } } };
    return body.parts.ledger;
  };

  it('answers probes, says what it waits for, refuses in time, and goes on', async () => {
    expect((await generate()).status).toBe(200);
    disk.freeze();
    const waiting = generate();
    await expect
      .poll(ledgerPart)
      .toMatchObject({ reason: expect.stringContaining('the ledger waits for its disk') });
    expect((await get('/healthz')).status).toBe(200);
    await expect.poll(async () => (await get('/readyz')).status).toBe(503);
    const refused = await generate();
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const metrics = await (await get('/metrics', { Authorization: `Bearer ${SCRAPE_TOKEN}` })).text();
    expect(Number(/^signalbox_journal_disk_waiting_seconds (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(1);
    // The key was never used before.
    expect((await get('/metrics', { Authorization: `Bearer ${MANAGEMENT_KEY}` })).status).toBe(200);
    const { out } = signalbox(disk.folder, ['doctor', '--data-dir', dataDir]);
    expect(out).toContain('the ledger waits for its disk');
    expect((await get('/healthz')).status).toBe(200);
    disk.thaw();
    // It waited for ten seconds at most, or was answered after the thaw.
    expect([200, 503]).toContain((await waiting).status);
    await expect.poll(async () => (await get('/readyz')).status).toBe(200);
    expect((await generate()).status).toBe(200);
    await expect.poll(() => program.stderr()).toContain('answers again');
    expect(program.stderr()).toContain('the ledger waits for its disk');
  });

  it('is not stopped by a read of the database either', async () => {
    disk.freeze();
    const reading = get('/api/v1/keys', { Authorization: `Bearer ${MANAGEMENT_KEY}` }).catch(() => undefined);
    await delay(300);
    expect((await get('/healthz')).status).toBe(200);
    disk.thaw();
    expect((await reading)?.status).toBe(200);
  });

  it('says what it waits for when it is stopped, and ends by force', async () => {
    disk.freeze();
    const before = program.stderr().length;
    const ended = stopped(program.child, 'SIGTERM');
    const lines = () => linesOf(program.stderr().slice(before));
    await expect
      .poll(lines)
      .toContainEqual(
        expect.objectContaining({ level: 'warn', message: expect.stringMatching(/^stopping waits for /) }),
      );
    await expect.poll(lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: expect.stringMatching(/^stopped by force: .* did not close in time; the next start settles/),
        data_dir: dataDir,
      }),
    );
    // The system keeps a process that waits for a frozen file system.
    disk.thaw();
    await ended;
    expect(program.child.signalCode).toBe('SIGKILL');
    program = await startProgram(disk.folder, env);
    expect((await generate()).status).toBe(200);
  }, 90_000);
});
