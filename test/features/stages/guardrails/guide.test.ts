import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { KNOWN_PROVIDERS } from '../../../../src/catalog/providers/known-providers.ts';
import { requireConfiguration } from '../../../../src/config/load.ts';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { chatAnswer } from '../../../kit/fakes/answers.ts';
import { type GuardedGateway, openGuardedGateway, shownText, stagesIn } from './guarded-gateway.ts';

/** The service of the guide, as it is written there, and a gateway whose file names it. */
let directory: string;
let service: ChildProcess;
let guarded: GuardedGateway;

const GUIDE = ['guardrails.md', 'guardrail-services.md']
  .map((page) => readFileSync(new URL(`../../../../docs/guide/${page}`, import.meta.url), 'utf8'))
  .join('\n');

/** The code blocks of a language. */
function blocksOf(language: string): string[] {
  return [...GUIDE.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(
    ([, code = '']) => code,
  );
}

beforeAll(async () => {
  const [source = ''] = blocksOf('js');
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

it('makes the guardrails of the guide, and tries them', async () => {
  const { ask } = guarded.management;
  let id = '';
  for (const block of blocksOf('bash')) {
    const [, path = ''] = /\$BASE_URL([^"\s]+)/.exec(block) ?? [];
    const [, body = ''] = /-d '(.*?)'/s.exec(block) ?? [];
    const answer = await ask('POST', path.replace('$ID', id), JSON.parse(body));
    expect(answer.status, `${block}${JSON.stringify(answer.body)}`).toBe(path === '/guardrails' ? 201 : 200);
    if (path === '/guardrails') id ||= answer.body.data.id;
    else expect(answer.body.data).toMatchObject({ action: 'redacted', text: 'Write to [EMAIL]' });
  }
  expect(id).not.toBe('');
});

it('takes the configuration of the guide', () => {
  const blocks = blocksOf('yaml').map((block) => parse(block) as JsonObject);
  for (const block of blocks) {
    if (block.groups !== undefined) continue;
    const file = join(directory, 'signalbox.yaml');
    writeFileSync(file, stringify(block));
    const load = {
      flags: { config: file, dataDir: directory },
      env: { RESEARCH_KEY: KEY },
      knownProviders: KNOWN_PROVIDERS,
    };
    expect(() => requireConfiguration(load)).not.toThrow();
  }
  expect(blocks.length).toBe(4);
});

it('gives the receipt of the guide', async () => {
  const shown = blocksOf('json').map((block) => JSON.parse(block));
  const receipt = shown.find(({ name }) => name === 'scan-receipt');
  guarded.upstream.clear();
  guarded.upstream.answer(chatAnswer({ text: 'I have written to ada@example.com now.' }));
  const key = await guarded.guard({ content_filter_builtins: [{ slug: 'email', action: 'redact' }] });
  const body = { model: 'm/openai-chat', input: 'Please write to ada@example.com.' };
  const answer = await guarded.ask(key, '/responses', body);
  expect(stagesIn(await guarded.recordOf(answer, key))).toContainEqual(receipt);
});
