// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configuration files name variables this way.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { type Ended, PROGRAM, signalbox } from '../../kit/program.ts';
import { keysIn, type StartedProgram, startProgram, stopped } from '../../kit/started-program.ts';

/** A gateway with two providers whose secrets only it has: one refuses the key, the other is not there. */
let folder: string;
let upstream: Server;
let program: StartedProgram;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-beside-'));
  upstream = createServer((_request, reply) => {
    reply.writeHead(401, { 'content-type': 'application/json' });
    reply.end('{"error":{"message":"invalid key"}}');
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  writeFileSync(
    join(folder, 'signalbox.yaml'),
    `providers:
  - { slug: alpha, dialect: openai-chat, base_url: 'http://127.0.0.1:${port}/v1', api_key: '\${ALPHA_KEY}' }
  - { slug: beta, dialect: openai-chat, base_url: 'http://127.0.0.1:9/v1', api_key: '\${BETA_KEY}' }
models:
  - { id: alpha/one, endpoints: [{ provider: alpha }] }
`,
  );
  program = await startProgram(folder, { ALPHA_KEY: 'canary-alpha-0123', BETA_KEY: 'canary-beta-0123' });
});

afterAll(async () => {
  await stopped(program.child, 'SIGKILL');
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the built program to its end while this process goes on. */
function ended(cwd: string, words: readonly string[]): Promise<Ended> {
  const env = { PATH: process.env.PATH };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, ...words], { cwd, env }, (_error, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    );
  });
}

describe('commands beside a running gateway', () => {
  it('need no secret of a provider', () => {
    expect(signalbox(folder, ['keys', 'list'])).toMatchObject({ code: 0, err: '' });
    expect(signalbox(folder, ['credits', 'show'])).toMatchObject({ code: 0, out: 'none\n' });
  });

  it('include doctor, which asks the gateway for its providers, from any folder', async () => {
    const [, key = ''] = keysIn(program.stdout());
    const reply = await fetch(`${program.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'alpha/one', messages: [{ role: 'user', content: 'hello' }] }),
    });
    expect(reply.ok).toBe(false);
    const elsewhere = mkdtempSync(join(tmpdir(), 'signalbox-elsewhere-'));
    // Not with spawnSync, which would stop the upstream in this process.
    const found = await ended(elsewhere, ['doctor', '--data-dir', join(folder, 'data')]);
    rmSync(elsewhere, { recursive: true });
    expect(found.code).toBe(1);
    expect(found.out).toMatch(/ok +configuration +\S+signalbox\.yaml: 2 providers, 1 model of its own/);
    expect(found.out).toMatch(/ok +providers +alpha at http:\/\/127\.0\.0\.1:\d+ answers 401/);
    expect(found.out).toMatch(
      /problem +providers +beta at http:\/\/127\.0\.0\.1:9: connection refused; check/,
    );
    expect(found.out).toMatch(
      /problem +providers +alpha failed \S+ \S+ ago with 401 for alpha\/one; check its api_key/,
    );
    expect(found.out + found.err).not.toContain('canary');
  });
});

describe('commands without a gateway', () => {
  it('need no secret of a provider either, but what they use', () => {
    const alone = mkdtempSync(join(tmpdir(), 'signalbox-alone-'));
    makeDataDirectory(join(alone, 'data'));
    const write = (text: string) => writeFileSync(join(alone, 'signalbox.yaml'), text);
    write('providers: [{ slug: openai, api_key: "${OPENAI_KEY_NOT_SET}" }]\nkeys: { prefix: sk-mine- }');
    expect(signalbox(alone, ['keys', 'create', '--name', 'n'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^sk-mine-/),
    });
    write('keys: { prefix: "${PREFIX_NOT_SET}" }');
    expect(signalbox(alone, ['keys', 'list'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('the environment variable PREFIX_NOT_SET is not set'),
    });
    rmSync(alone, { recursive: true });
  });
});
