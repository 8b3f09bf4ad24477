import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROGRAM } from '../../kit/program.ts';
import { keysIn, type StartedProgram, startProgram, stopped } from '../../kit/started-program.ts';

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-process-'));
  children = [];
});
afterEach(async () => {
  await Promise.all(children.map((child) => stopped(child, 'SIGKILL')));
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<StartedProgram> {
  const started = await startProgram(folder);
  children.push(started.child);
  return started;
}

const run = (...args: string[]) =>
  execFileSync(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
  }).toString();

describe('the program', () => {
  it('prints two keys and a curl line once, and the line works', async () => {
    const first = await start();
    await expect.poll(first.stdout).toContain('curl');
    const keys = keysIn(first.stdout());
    expect(new Set(keys).size).toBe(2);
    const lines = first.stdout().slice(first.stdout().indexOf('curl '));
    const answer = execFileSync('sh', ['-c', lines.replace(/^curl /, 'curl -s ')], {
      cwd: folder,
    }).toString();
    expect(JSON.parse(answer)).toMatchObject({ usage: expect.anything() });
    expect(await stopped(first.child, 'SIGTERM')).toBe(0);
    const second = await start();
    expect(second.stdout()).toBe('');
  });

  it('stores no key, and keeps its folder private', async () => {
    const { child, stdout } = await start();
    const keys = keysIn(stdout());
    await stopped(child, 'SIGTERM');
    const data = join(folder, 'data');
    expect(statSync(data).mode & 0o077).toBe(0);
    for (const name of readdirSync(data)) {
      const path = join(data, name);
      if (!statSync(path).isFile()) continue;
      const bytes = readFileSync(path);
      for (const key of keys) expect(bytes.includes(key)).toBe(false);
    }
  });

  it('sees keys that are made and revoked beside it, at once', async () => {
    const { url } = await start();
    const made = JSON.parse(run('keys', 'create', '--name', 'side', '--json')) as {
      key: string;
      hash: string;
    };
    const ask = () => fetch(`${url}/key`, { headers: { authorization: `Bearer ${made.key}` } });
    expect((await ask()).status).toBe(200);
    run('keys', 'revoke', made.hash);
    expect((await ask()).status).toBe(401);
  });

  it('finishes its streams after SIGTERM', async () => {
    const { child, url, stdout } = await start();
    const key = keysIn(stdout()).at(-1) as string;
    const ask = () =>
      fetch(`${url}/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'simulator/slow-stream',
          input: 'x',
          stream: true,
          max_output_tokens: 12,
        }),
      });
    const streams = await Promise.all(Array.from({ length: 20 }, ask));
    const exit = stopped(child, 'SIGTERM');
    const texts = await Promise.all(streams.map((response) => response.text()));
    for (const text of texts) expect(text).toMatch(/response\.(completed|incomplete)/);
    for (const text of texts) expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(await exit).toBe(0);
  });

  it('ends what does not finish in time with a failure, and exits 0', async () => {
    writeFileSync(join(folder, 'signalbox.yaml'), 'drain_ms: 300\n');
    const { child, url, stdout } = await start();
    const key = keysIn(stdout()).at(-1) as string;
    const response = await fetch(`${url}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'simulator/slow-stream', input: 'x', stream: true }),
    });
    const started = performance.now();
    const exit = stopped(child, 'SIGTERM');
    expect(await response.text()).toContain('response.failed');
    expect(await exit).toBe(0);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it('ends when the package runner that started it has ended', async () => {
    const command = `"${process.execPath}" "${PROGRAM}" --port 0; true`;
    const env = { PATH: process.env.PATH ?? '', npm_execpath: 'npm' };
    const shell = spawn('sh', ['-c', command], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(shell);
    let stderr = '';
    shell.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    await expect.poll(() => stderr).toContain('"ready"');
    await stopped(shell, 'SIGKILL');
    await expect.poll(() => stderr).toContain('"stopped"');
  });

  it('reloads a changed configuration, and keeps the old one if the new one is invalid', async () => {
    const file = join(folder, 'signalbox.yaml');
    writeFileSync(file, 'providers: [{slug: simulator}]\n');
    const { url, stderr } = await start();
    const count = async () =>
      ((await (await fetch(`${url}/models/count`)).json()) as any).data.count as number;
    const before = await count();
    writeFileSync(
      file,
      'providers: [{slug: simulator}]\nmodels: [{id: my/own, endpoints: [{provider: simulator, model: standard}]}]\n',
    );
    await expect.poll(count).toBe(before + 1);
    for (const broken of [
      'models: [',
      'surprise: 1\n',
      'models: [{id: a/b, endpoints: [{provider: nobody}]}]\n',
    ]) {
      const complaints = () => stderr().split('not reloaded').length;
      const already = complaints();
      writeFileSync(file, broken);
      await expect.poll(complaints).toBeGreaterThan(already);
      expect(await count()).toBe(before + 1);
    }
  });
});
