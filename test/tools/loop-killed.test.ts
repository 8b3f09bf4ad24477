import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { keysIn, startProgram, stopped } from '../e2e/started-program.ts';
import { chatAnswer } from '../fakes/answers.ts';
import { head, never, openFakeUpstream, SSE } from '../fakes/fake-upstream.ts';
import { PROGRAM } from '../operator/program.ts';

it('charges a loop that is killed between a tool and the next leg for what was done, once', async () => {
  const upstream = await openFakeUpstream();
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-loop-'));
  const pricing = { prompt: '0.000001', completion: '0.000002' };
  writeFileSync(
    join(folder, 'signalbox.yaml'),
    stringify({
      providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url }],
      models: [{ id: 'm/one', endpoints: [{ provider: 'acme', model: 'one', pricing }] }],
    }),
  );
  const env = { SIGNALBOX_DATA_DIR: folder };
  const tools = [{ name: 'datetime', arguments: '{}', id: 'call_a' }];
  upstream.answer(chatAnswer({ tools, usage: { input: 10, output: 5 } }));
  upstream.answer([head(200, SSE), never()]);
  const first = await startProgram(folder, env);
  const [, key = ''] = keysIn(first.stdout() + first.stderr());
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = { model: 'm/one', input: 'Time?', stream: true, tools: [{ type: 'signalbox:datetime' }] };
  const asked = fetch(`${first.url}/responses`, { method: 'POST', headers, body: JSON.stringify(body) });
  const id = (await asked).headers.get('x-generation-id');
  await expect.poll(() => upstream.requests.length, { timeout: 20_000 }).toBe(2);
  await stopped(first.child, 'SIGKILL');
  const second = await startProgram(folder, env);
  const find = async () => {
    const reply = await fetch(`${second.url}/generation?id=${id}`, { headers });
    return reply.status === 200 ? ((await reply.json()) as any).data : undefined;
  };
  await expect.poll(find, { timeout: 20_000 }).toBeDefined();
  const record = await find();
  expect(record.legs[0]).toMatchObject({ status: 'completed', cost: 0.00002 });
  expect(record.tool_calls).toMatchObject([{ name: 'datetime', outcome: 'ok', leg: 1 }]);
  const legs = record.legs.reduce((sum: number, { cost }: any) => sum + cost, 0);
  expect(record.total_cost).toBeCloseTo(legs, 9);
  await stopped(second.child, 'SIGTERM');
  const verified = execFileSync(process.execPath, [PROGRAM, 'ledger', 'verify'], { cwd: folder, env });
  expect(String(verified)).not.toBe('');
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);
