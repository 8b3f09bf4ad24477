import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../kit/program.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { keysIn, startProgram, stopped } from '../../kit/started-program.ts';

/*
 * Other tests run the modules. What ships is made of them by a bundler, so what it could have left out or put
 * elsewhere is asked for here: each kind of storage, each thread, each package and the data beside the program.
 */
const postgres = await postgresForTests();

const STORES: readonly (readonly [string, () => Promise<Record<string, string>>])[] = [
  ['its own files', async () => ({})],
  ...(postgres === undefined
    ? []
    : [['PostgreSQL', async () => ({ DATABASE_URL: await postgres.createDatabase() })] as const]),
];

const CONFIG = JSON.stringify({
  providers: [{ slug: 'simulator' }, { slug: 'anthropic', api_key: 'never-called' }],
});

describe.each(STORES)('the program as it ships, with %s', (_name, environment) => {
  it('works like its modules', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-shipped-'));
    writeFileSync(join(folder, 'signalbox.yaml'), CONFIG);
    const { child, url, stdout, stderr } = await startProgram(folder, await environment());
    try {
      const [managementKey, key] = keysIn(stdout()) as [string, string];
      const asked = async (path: string, init: RequestInit = {}, as = key) => {
        const response = await fetch(`${url}${path}`, {
          ...init,
          headers: { authorization: `Bearer ${as}` },
        });
        return { status: response.status, body: (await response.json()) as any };
      };
      const client = new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 });
      const question = {
        model: 'simulator/slow-stream',
        messages: [{ role: 'user', content: 'hello' } as const],
        max_tokens: 8,
      };

      const whole = await client.chat.completions.create(question);
      expect(whole.usage?.completion_tokens).toBe(8);
      const stream = await client.chat.completions.create({ ...question, max_tokens: 400, stream: true });
      let id = '';
      for await (const chunk of stream) {
        id = chunk.id;
        if (chunk.choices[0]?.delta.content) break;
      }
      // An answer that was left is counted here, by the thread for that.
      await expect.poll(async () => (await asked(`/generation?id=${id}`)).body.data?.cancelled).toBe(true);
      expect((await asked(`/generation?id=${id}`)).body.data.tokens_completion).toBeGreaterThan(0);

      const models = (await asked('/models')).body.data.map((model: { id: string }) => model.id);
      expect(models).toContain('anthropic/claude-sonnet-4.5');

      const form = new FormData();
      form.append('file', new Blob(['hello']), 'notes.txt');
      expect((await asked('/files', { method: 'POST', body: form })).body).toMatchObject({ size_bytes: 5 });

      const counted = async () => (await asked('/activity', {}, managementKey)).body;
      expect(await counted()).toMatchObject({ data: expect.any(Array) });
      expect((await asked('/openapi.json')).body.paths).toHaveProperty('/chat/completions');
      expect(await stopped(child, 'SIGTERM')).toBe(0);
      expect(stderr().split('\n').filter(isProblem)).toEqual([]);
    } finally {
      await stopped(child, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
  }, 120_000);
});

/** A log line that something went wrong, except that PostgreSQL or the disk was slow, which a busy machine explains. */
function isProblem(line: string): boolean {
  return /"level":"(warn|error)"/.test(line) && !/"level":"warn".*(database|disk)/.test(line);
}

describe('what ships', () => {
  it('can be run by its name, also after it was built again', () => {
    expect(() => accessSync(PROGRAM, constants.X_OK)).not.toThrow();
  });

  it('has the licences of what is bundled into it', () => {
    const licences = readFileSync(join(dirname(dirname(PROGRAM)), 'licences.txt'), 'utf8');
    for (const name of ['kysely', 'typebox', 'find-my-way', 'yaml'])
      expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });
});
