import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, head, never, openFakeUpstream, SSE } from '../../kit/fakes/fake-upstream.ts';
import { PROGRAM } from '../../kit/program.ts';
import { keysIn, startProgram, stopped } from '../../kit/started-program.ts';

const PRICING = { prompt: '0.000001', completion: '0.000002', web_search: '0.004' };

/** True if a file of the data directory has a text: what was written to the journal outlives the process. */
const isKept = (folder: string, text: RegExp) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => text.test(readFileSync(join(entry.parentPath, entry.name), 'latin1')));

/** A program with a model and a search engine, which is killed while a loop runs. */
async function killedLoop(
  tool: { readonly name: string; readonly arguments: string },
  isReached?: (at: { upstream: FakeUpstream; engine: FakeUpstream; folder: string }) => boolean,
) {
  const [upstream, engine] = await Promise.all([openFakeUpstream(), openFakeUpstream()]);
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-loop-'));
  writeFileSync(
    join(folder, 'signalbox.yaml'),
    stringify({
      providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url }],
      models: [{ id: 'm/one', endpoints: [{ provider: 'acme', model: 'one', pricing: PRICING }] }],
      egress: { allow: [`127.0.0.1:${engine.port}`] },
      plugins: { web: { engines: { searxng: { url: `http://127.0.0.1:${engine.port}` } } } },
    }),
  );
  const env = { SIGNALBOX_DATA_DIR: folder };
  upstream.answer(chatAnswer({ tools: [{ ...tool, id: 'call_a' }], usage: { input: 10, output: 5 } }));
  let second = () => {};
  upstream.answer(() => {
    second();
    return [head(200, SSE), never()];
  });
  engine.answer([never()]);
  const first = await startProgram(folder, env);
  const [, key = ''] = keysIn(first.stdout() + first.stderr());
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = { model: 'm/one', input: 'Time?', stream: true, tools: [{ type: `signalbox:${tool.name}` }] };
  const asked = fetch(`${first.url}/responses`, { method: 'POST', headers, body: JSON.stringify(body) });
  const ended = once(first.child, 'exit');
  if (isReached === undefined) second = () => void first.child.kill('SIGKILL');
  const id = (await asked).headers.get('x-generation-id');
  if (isReached === undefined) await ended;
  else {
    await expect.poll(() => isReached({ upstream, engine, folder })).toBe(true);
    await stopped(first.child, 'SIGKILL');
  }
  const restarted = await startProgram(folder, env);
  const find = async () => {
    const reply = await fetch(`${restarted.url}/generation?id=${id}`, { headers });
    return reply.status === 200 ? ((await reply.json()) as any).data : undefined;
  };
  await expect.poll(find).toBeDefined();
  const record = await find();
  await stopped(restarted.child, 'SIGTERM');
  const verified = execFileSync(process.execPath, [PROGRAM, 'ledger', 'verify'], { cwd: folder, env });
  expect(String(verified)).not.toBe('');
  await Promise.all([upstream.close(), engine.close()]);
  rmSync(folder, { recursive: true, force: true });
  return record;
}

it('charges a loop that is killed between a tool and the next leg for what was done, once', async () => {
  // At the moment when the upstream gets the request of the second leg.
  const record = await killedLoop({ name: 'datetime', arguments: '{}' });
  expect(record.legs).toHaveLength(2);
  expect(record.legs[0]).toMatchObject({ status: 'completed', cost: 0.00002 });
  expect(record.legs[0].duration_ms).toBeGreaterThanOrEqual(0);
  expect(record.legs[1]).toMatchObject({ status: 'failed', duration_ms: null });
  expect(record.tool_calls).toMatchObject([{ name: 'datetime', outcome: 'ok', leg: 1 }]);
  const legs = record.legs.reduce((sum: number, { cost }: any) => sum + cost, 0);
  expect(record.total_cost).toBeCloseTo(legs, 9);
}, 120_000);

it('records a tool that ran when the process was killed, with what was paid for it', async () => {
  const record = await killedLoop(
    { name: 'web_search', arguments: '{"query":"time"}' },
    ({ engine, folder }) => engine.requests.length === 1 && isKept(folder, /"outcome":"interrupted"/),
  );
  expect(record.legs).toMatchObject([{ status: 'completed', cost: 0.00002 }]);
  expect(record.tool_calls).toMatchObject([{ name: 'web_search', outcome: 'interrupted', leg: 1 }]);
  expect(record.charges).toEqual([{ kind: 'web_search', cost: 0.004 }]);
}, 120_000);
