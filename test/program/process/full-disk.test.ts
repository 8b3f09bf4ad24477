import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedProgram, startProgram, stopped } from '../../kit/started-program.ts';
import { linesOf } from '../worst-hour/log-lines.ts';
import { SmallDisk } from '../worst-hour/small-disk.ts';

const MANAGEMENT_KEY = 'management-key-of-this-test';
const API_KEY = 'api-key-of-this-test';

/** A new data directory takes 4 MiB for the reserve and half of one for the rest. */
const disk = new SmallDisk(8);
if (!disk.isThere) process.stderr.write('A full disk is not tested: mounting a small one needs root\n');
afterAll(() => disk.remove());

describe.skipIf(!disk.isThere)('a gateway whose disk is full', () => {
  const dataDir = join(disk.path, 'data');
  let program: StartedProgram;

  beforeAll(async () => {
    // Uploads are refused first, long before the disk is full: here they are to meet a full one.
    const limits = { files: { min_free_disk_bytes: 0 } };
    writeFileSync(join(disk.folder, 'signalbox.yaml'), JSON.stringify({ limits }));
    program = await startProgram(disk.folder, {
      SIGNALBOX_DATA_DIR: dataDir,
      SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
      SIGNALBOX_API_KEY: API_KEY,
    });
  });

  afterAll(() => stopped(program.child, 'SIGTERM'));

  const post = (path: string, key: string, body: object) =>
    fetch(`${program.url}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  const generate = async () => {
    const messages = [{ role: 'user', content: 'the-words-of-the-caller' }];
    const response = await post('/chat/completions', API_KEY, { model: 'simulator/standard', messages });
    return { status: response.status, text: await response.text() };
  };

  const upload = async () => {
    const body = new FormData();
    body.set('file', new File(['words '.repeat(20_000)], 'words.txt'));
    const headers = { Authorization: `Bearer ${API_KEY}` };
    const response = await fetch(`${program.url}/files`, { method: 'POST', headers, body });
    return { status: response.status, text: await response.text() };
  };

  const createKey = async (name: string) => (await post('/keys', MANAGEMENT_KEY, { name })).status;

  /** Without those of a disk that is slow because the machine is busy. */
  const about = (path: string) =>
    linesOf(program.stderr()).filter(
      (line) => line.path === path && line.waiting_ms === undefined && line.waited_ms === undefined,
    );

  /** Index of the line at which the outage under way begins. */
  const begun = async (path: string) => {
    await expect.poll(() => about(path).at(-1)).toHaveProperty('errno');
    return about(path).length - 1;
  };

  it('says what is full and where, once, and that it works again, once', async () => {
    expect((await generate()).status).toBe(200);
    // The reserve is released for work under way, and is filled too.
    await expect
      .poll(async () => {
        disk.fill();
        const [generation, key] = [await generate(), await createKey('x'.repeat(90))];
        return [generation.status, generation.text.includes('the ledger cannot be written'), key];
      })
      .toEqual([503, true, 503]);
    const ledger = { level: 'warn', path: join(dataDir, 'journal') };
    const database = { level: 'warn', path: join(dataDir, 'signalbox.sqlite') };
    // Lines before these are of the time when the reserve was released: each may have worked again for a while.
    const [ledgerLines, databaseLines] = [await begun(ledger.path), await begun(database.path)];
    for (let times = 0; times < 5; times++) expect((await generate()).status).toBe(503);
    expect(await upload()).toEqual({
      status: 503,
      text: expect.stringContaining('files cannot be stored at the moment'),
    });
    disk.free();
    await expect.poll(async () => (await generate()).status).toBe(200);
    await expect.poll(() => createKey('y')).toBe(201);
    expect((await upload()).status).toBe(200);

    await expect
      .poll(() => about(ledger.path).slice(ledgerLines))
      .toEqual([
        expect.objectContaining({
          ...ledger,
          message: 'the ledger cannot be written; no paid work is begun until it can',
          errno: 'ENOSPC',
        }),
        expect.objectContaining({
          ...ledger,
          message: 'the ledger can be written again',
          away_ms: expect.any(Number),
        }),
      ]);
    await expect
      .poll(() => about(database.path).slice(databaseLines))
      .toEqual([
        expect.objectContaining({
          ...database,
          message: 'the database cannot be written; requests that need it are refused',
          errno: 'SQLITE_FULL',
        }),
        expect.objectContaining({
          ...database,
          message: 'the database can be written again',
          away_ms: expect.any(Number),
        }),
      ]);
    expect(program.stderr()).not.toMatch(/GatewayError|"stack"/);
    expect(program.stderr()).not.toMatch(/the-words-of-the-caller|key-of-this-test/);
  }, 120_000);
});
