import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { never, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { keysIn, startProgram, stopped } from '../../kit/started-program.ts';

it('settles embeddings that kill -9 cut off: calls that had come back are charged, nothing stays reserved', async () => {
  const upstream = await openFakeUpstream();
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-embeddings-'));
  const pricing = { prompt: '0.000001', completion: '0' };
  const config = {
    providers: [{ slug: 'open', dialect: 'openai-chat', base_url: upstream.url }],
    models: [
      {
        id: 'm/one',
        output_modalities: ['embeddings'],
        endpoints: [{ provider: 'open', max_inputs: 1, pricing }],
      },
    ],
    credits: { initial_usd: 1 },
  };
  writeFileSync(join(folder, 'signalbox.yaml'), stringify(config));
  upstream
    .answer(
      reply(200, { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 40, total_tokens: 40 } }),
    )
    .answer([never()]);
  let program = await startProgram(folder);
  try {
    const [management = '', key = ''] = keysIn(program.stdout());
    const authorization = `Bearer ${key}`;
    const answer = fetch(`${program.url}/embeddings`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm/one', input: ['a', 'b', 'c'], user: 'cut-off' }),
    }).catch(() => undefined);
    await upstream.request(2);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await stopped(program.child, 'SIGKILL');
    expect(await answer).toBeUndefined();
    program = await startProgram(folder);
    const credits = async () => {
      const response = await fetch(`${program.url}/credits`, {
        headers: { authorization: `Bearer ${management}` },
      });
      return ((await response.json()) as any).data;
    };
    await expect.poll(credits).toMatchObject({ total_credits: 1, total_usage: 0.00004 });
  } finally {
    await stopped(program.child, 'SIGTERM');
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
