import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatAnswer } from '../fakes/answers.ts';
import { type GuardedGateway, openGuardedGateway, shownText } from './guarded-gateway.ts';

/** The service of the guide, as it is written there, and a gateway whose file names it. */
let directory: string;
let service: ChildProcess;
let guarded: GuardedGateway;

const GUIDE = new URL('../../docs/guide/guardrails.md', import.meta.url);

beforeAll(async () => {
  const [, source = ''] = /```js\n(.*?)```/s.exec(readFileSync(GUIDE, 'utf8')) ?? [];
  // It says that it has 20 lines.
  expect(source.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(20);
  directory = mkdtempSync(join(tmpdir(), 'signalbox-guide-'));
  const file = join(directory, 'guardrail-service.mjs');
  writeFileSync(file, source);
  service = spawn(process.execPath, [file], { env: { ...process.env, PORT: '0' } });
  const port = await new Promise<string>((resolve, reject) => {
    service.stdout?.on('data', (line: Buffer) => resolve(/listening on (\d+)/.exec(String(line))?.[1] ?? ''));
    service.on('exit', (code) => reject(new Error(`the service has ended with ${code}`)));
  });
  guarded = await openGuardedGateway({
    workspaces: [
      {
        slug: 'research',
        keys: [{ name: 'CI', secret: KEY }],
        guardrails: [
          {
            name: 'House rules',
            default: true,
            service: { url: `http://127.0.0.1:${port}/`, timeout_ms: '20s', on_failure: 'closed' },
          },
        ],
      },
    ],
  });
});
afterAll(async () => {
  service?.kill();
  await guarded?.close();
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

const KEY = 'sk-sb-v1-key-of-the-research-workspace';

it('runs the service of the guide', async () => {
  guarded.upstream.answer(chatAnswer({ text: 'ORD-99 is on its way.' }));
  const ask = (input: string) => guarded.ask(KEY, '/responses', { model: 'm/openai-chat', input });
  const replaced = await ask('Where is ORD-1234?');
  expect(replaced.status, replaced.text).toBe(200);
  expect(guarded.upstream.requests[0]?.body).toContain('Where is [ORDER]?');
  expect(shownText(replaced)).toContain('[ORDER] is on its way.');
  const blocked = await ask('Tell me of Project Falcon');
  expect(blocked).toMatchObject({
    status: 403,
    body: { error: { metadata: { patterns: ['Project Falcon'] } } },
  });
  expect(guarded.upstream.requests.length).toBe(1);
  // What the file names may be private; what the API names may not.
  const url = 'http://127.0.0.1:9200/';
  const refused = await guarded.management.ask('POST', '/guardrails', { name: 'Private', service: { url } });
  expect(refused).toMatchObject({ status: 400 });
  expect(refused.body.error.message).toContain('service.url: the URL ');
});
