import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/** The commands of pages about tools, typed as a reader does before the simulator. */

const bash = promisify(execFile);
const GUIDE = join(import.meta.dirname, '../../../docs/guide');

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway({
    providers: [{ slug: 'simulator' }],
    tools: { mcp_servers: { docs: { url: 'https://mcp.example.com/mcp' } } },
  });
});
afterAll(() => gateway.close());

/** Calls of a page, but those of models and servers that readers have to have themselves. */
function callsOf(page: string): string[] {
  const text = readFileSync(join(GUIDE, page), 'utf8');
  const blocks = [...text.matchAll(/```sh\n(curl [\s\S]*?)```/g)].map(([, code]) => code ?? '');
  return blocks.filter((code) => !/acme\/|mcp\.example\.com/.test(code));
}

async function typed(code: string): Promise<{ readonly status: number; readonly body: any }> {
  const line = code.replace(/^curl/, "curl -sS -w '\\n%{http_code}'");
  const env = {
    ...process.env,
    BASE_URL: gateway.url,
    KEY: gateway.apiKey,
    MANAGEMENT_KEY: gateway.managementKey,
  };
  const { stdout } = await bash('bash', ['-c', line], { env });
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end + 1)), body: JSON.parse(stdout.slice(0, end)) };
}

it.each([
  ['tools.md', 1],
  ['fusion.md', 1],
  ['mcp.md', 2],
])('calls of %s are answered', async (page, count) => {
  const calls = callsOf(page);
  expect(calls).toHaveLength(count);
  for (const code of calls) {
    const { status, body } = await typed(code);
    expect(status, `${code}\n${JSON.stringify(body)}`).toBeLessThan(300);
    expect(body.error ?? null).toBeNull();
    for (const { status: ofItem } of body.output ?? []) expect(ofItem).toBe('completed');
  }
});

it('the first call of tools.md shows the time of the place that it names', async () => {
  const { body } = await typed(callsOf('tools.md')[0] ?? '');
  expect(body.output[0]).toMatchObject({
    type: 'signalbox:datetime',
    timezone: 'Europe/Berlin',
    datetime: expect.stringMatching(/\+0[12]:00$/),
  });
});
