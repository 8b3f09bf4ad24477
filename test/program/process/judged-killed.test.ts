import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { never, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { keysIn, startProgram, stopped } from '../../kit/started-program.ts';

const KEY = `sk-sb-v1-${'ab'.repeat(32)}`;

/** 40 tokens at a millionth of a dollar, 20 at ten millionths. */
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const COST = 0.00024;

it('charges answers whose usage was known when kill -9 cut off their verdict', async () => {
  const upstream = await openFakeUpstream();
  const service = await openFakeUpstream();
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-judged-'));
  const pricing = { prompt: '0.000001', completion: '0.00001' };
  const config = {
    providers: [{ slug: 'open', dialect: 'openai-chat', base_url: upstream.url }],
    models: [{ id: 'm/one', endpoints: [{ provider: 'open', model: 'one', pricing }] }],
    credits: { initial_usd: 1 },
    workspaces: [
      {
        slug: 'research',
        keys: [{ name: 'CI', secret: KEY }],
        guardrails: [{ name: 'House', default: true, service: { url: service.url, timeout_ms: '50s' } }],
      },
    ],
  };
  writeFileSync(join(folder, 'signalbox.yaml'), stringify(config));
  const message = { role: 'assistant', content: 'All of it.' };
  upstream.answer(reply(200, { choices: [{ index: 0, message, finish_reason: 'stop' }], usage: USAGE }));
  service.answer(reply(200, { action: 'allow' })).answer([never()]);
  let program = await startProgram(folder);
  try {
    const [management = ''] = keysIn(program.stdout());
    const answer = fetch(`${program.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] }),
    }).catch(() => undefined);
    // The second question is about what came back.
    await service.request(1);
    await stopped(program.child, 'SIGKILL');
    expect(await answer).toBeUndefined();
    program = await startProgram(folder);
    const credits = async () => {
      const headers = { authorization: `Bearer ${management}` };
      const response = await fetch(`${program.url}/credits`, { headers });
      return ((await response.json()) as any).data;
    };
    await expect.poll(credits).toMatchObject({ total_credits: 1, total_usage: COST });
  } finally {
    await stopped(program.child, 'SIGTERM');
    await upstream.close();
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
