import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM, signalbox } from '../../kit/program.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { type StartedProgram, startProgram, stopped } from '../../kit/started-program.ts';
import { linesOf } from '../worst-hour/log-lines.ts';

const MANAGEMENT_KEY = 'management-key-of-this-test';
const API_KEY = 'api-key-of-this-test';

const server = await postgresForTests();

describe.skipIf(server === undefined)('a gateway whose database is lost', () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-lost-'));
  const dataDir = join(folder, 'data');
  let env: Record<string, string>;
  let program: StartedProgram;

  beforeAll(async () => {
    env = {
      DATABASE_URL: (await server?.createDatabase()) ?? '',
      SIGNALBOX_DATA_DIR: dataDir,
      SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
      SIGNALBOX_API_KEY: API_KEY,
    };
    program = await startProgram(folder, env);
  });

  afterAll(async () => {
    await stopped(program.child, 'SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  it('says which database and why to the operator, and only that there is none to callers', async () => {
    const limited = await limitedKey(program.url);
    expect((await generate(program.url)).status).toBe(200);
    expect((await generate(program.url, limited)).status).toBe(200);
    await server?.stop();
    await expect.poll(async () => (await generate(program.url, limited)).status).toBe(503);
    const refused = await generate(program.url, limited);
    // No limit covers it: it is booked when the database is back.
    expect((await generate(program.url)).status).toBe(200);
    expect(refused.message).toBe(
      'Service temporarily unavailable: the database does not answer; the ledger goes on by itself once it does',
    );
    const listed = await fetch(`${program.url}/keys`, {
      headers: { Authorization: `Bearer ${MANAGEMENT_KEY}` },
    });
    expect(listed.status).toBe(503);
    const text = await listed.text();
    expect(text).toContain('"Service temporarily unavailable: the database does not answer"');
    const command = signalbox(folder, ['keys', 'list', '--data-dir', dataDir]);
    expect(command.code).toBe(1);
    expect(command.err).toMatch(
      /^signalbox: Service temporarily unavailable: the database does not answer \(test_1 at \S+:5432: (?:E[A-Z]+|57P0\d)\)\n$/,
    );
    const place = /at (\S+):5432/.exec(command.err)?.[1] ?? '-';
    expect(text + refused.message).not.toContain(place);

    await server?.start();
    await expect.poll(async () => (await generate(program.url, limited)).status).toBe(200);
    const lines = linesOf(program.stderr()).filter(({ host }) => host !== undefined);
    expect(lines.find(({ store }) => store === 'postgres')).toMatchObject({
      level: 'warn',
      message: expect.stringContaining('the shared memory of limits and routing does not answer'),
      host: `${place}:5432`,
    });
    expect(lines.filter(({ store }) => store === undefined)).toEqual([
      expect.objectContaining({
        level: 'warn',
        message: 'the database does not answer; what needs it is refused or waits until it does',
        host: `${place}:5432`,
        // Of the system, or of a database that is shutting down.
        errno: expect.stringMatching(/^(?:E[A-Z]+|57P0\d)$/),
      }),
      expect.objectContaining({
        level: 'warn',
        message: 'the database answers again',
        host: `${place}:5432`,
        away_ms: expect.any(Number),
      }),
    ]);
    expect(program.stderr()).not.toMatch(/"stack"|the-words-of-the-caller|key-of-this-test/);
  }, 120_000);

  it('says that its clock is wrong, and by how much', async () => {
    const ahead = 'data:text/javascript,const+now=Date.now;Date.now=()=>now()+300_000'.replace('+', '%20');
    const skewed = await startProgram(folder, {
      ...env,
      SIGNALBOX_DATA_DIR: join(folder, 'skewed'),
      NODE_OPTIONS: `--import=${ahead}`,
    });
    try {
      const lines = linesOf(skewed.stderr()).filter(({ mend }) => mend !== undefined);
      expect(lines.map(({ message }) => message)).toEqual([
        expect.stringMatching(/^the clock of this gateway is more than a minute off that of the database/),
        expect.stringMatching(/^the clock of this gateway differs from that of the database/),
      ]);
      const { gateway_time, database_time } = lines[0] as Record<string, unknown>;
      const aheadMs = Date.parse(String(gateway_time)) - Date.parse(String(database_time));
      expect(aheadMs).toBeGreaterThan(290_000);
      expect(aheadMs).toBeLessThan(310_000);
    } finally {
      await stopped(skewed.child, 'SIGTERM');
    }
  }, 120_000);

  it('says that it is starting while it waits for the database', async () => {
    await server?.stop();
    const port = await freePort();
    const other = join(folder, 'other');
    const starting = start(folder, port, { ...env, SIGNALBOX_DATA_DIR: other });
    try {
      const url = `http://127.0.0.1:${port}/api/v1`;
      const ask = () => generate(url).catch(() => undefined);
      await expect.poll(ask).toEqual({
        status: 503,
        message: 'Service temporarily unavailable: the gateway is starting',
      });
      await expect
        .poll(starting.stderr)
        .toMatch(/the database test_1 at \S+ cannot be used \(E[A-Z]+\); waiting for it/);
      expect(signalbox(folder, ['keys', 'list', '--data-dir', other])).toMatchObject({
        code: 1,
        err: expect.stringContaining('if that is a gateway that is starting, its log says what it waits for'),
      });
    } finally {
      await server?.start();
      await stopped(starting.child, 'SIGTERM');
    }
  }, 120_000);
});

/** Makes a key with a limit. Resolves with its secret. */
async function limitedKey(url: string): Promise<string> {
  const response = await fetch(`${url}/keys`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${MANAGEMENT_KEY}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'limited', limit: 10 }),
  });
  return ((await response.json()) as { key: string }).key;
}

async function generate(
  url: string,
  key = API_KEY,
): Promise<{ status: number; message: string | undefined }> {
  const messages = [{ role: 'user', content: 'the-words-of-the-caller' }];
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ model: 'simulator/standard', messages }),
  });
  const { error } = (await response.json()) as { error?: { message: string } };
  return { status: response.status, message: error?.message };
}

async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

/** Starts the program without waiting until it is ready. */
function start(
  folder: string,
  port: number,
  env: Record<string, string>,
): { child: ChildProcess; stderr(): string } {
  const child = spawn(process.execPath, [PROGRAM, '--port', String(port)], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.on('data', (chunk) => {
    text += chunk;
  });
  return { child, stderr: () => text };
}
