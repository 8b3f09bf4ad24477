import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { keysIn, startProgram, stopped } from '../e2e/started-program.ts';
import {
  BILLED_DIALECTS,
  BILLED_PRICING,
  type BilledDialect,
  billOf,
  openBilledUpstream,
  type Work,
  type WorkEnd,
} from '../fakes/billed-upstream.ts';
import { PROGRAM } from '../operator/program.ts';
import { postgresForTests } from '../postgres/postgres-server.ts';

const server = await postgresForTests();

const DIALECTS = Object.keys(BILLED_DIALECTS) as BilledDialect[];

const AWS_KEY = JSON.stringify({
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'a-secret-of-the-tests',
  region: 'us-east-1',
});

const SIZE = { context_length: 200_000, max_output_tokens: 4_000 };

const ASKED = [{ role: 'user', content: 'word '.repeat(500) }];

const NO_TOOLS = { searches: 0, drawn: 0, runsCode: false };

/** A request of each format. */
const BODIES = {
  '/chat/completions': { max_tokens: 4_000, messages: ASKED },
  '/responses': { max_output_tokens: 4_000, input: ASKED },
  '/messages': { max_tokens: 4_000, messages: ASKED },
} as const;

/** One request of every format to every dialect, whole and streamed, with a limit and without. */
const REQUESTS = Object.entries(BODIES).flatMap(([path, body]) =>
  DIALECTS.flatMap((dialect) =>
    [true, false].flatMap((stream) =>
      [true, false].map((isLimited) => ({
        name: `${path} to ${dialect}, stream ${stream}, limit ${isLimited}`,
        path,
        isLimited,
        body: { ...body, model: `m/${dialect}`, stream },
      })),
    ),
  ),
);

function configOf(urlOf: (dialect: BilledDialect) => string) {
  return stringify({
    providers: DIALECTS.map((dialect) => ({
      slug: dialect,
      dialect: BILLED_DIALECTS[dialect],
      base_url: urlOf(dialect),
      ...(dialect === 'bedrock' && { api_key: AWS_KEY }),
    })),
    models: DIALECTS.map((dialect) => ({
      id: `m/${dialect}`,
      ...SIZE,
      endpoints: [{ provider: dialect, model: 'one', ...SIZE, pricing: BILLED_PRICING }],
    })),
  });
}

describe.each([
  ['embedded', async () => ({})],
  ...(server === undefined
    ? []
    : [['PostgreSQL', async () => ({ DATABASE_URL: await server.createDatabase() })] as const]),
] as const)(
  'law: what upstreams bill a gateway that is killed is charged, or written off (%s)',
  (_, envOf) => {
    it.each<[WorkEnd, string]>([
      ['silent', 'before the answers begin'],
      ['stall', 'after their last words'],
    ])(
      '%s: %s',
      async (how) => {
        const upstream = await openBilledUpstream();
        const folder = mkdtempSync(join(tmpdir(), 'signalbox-bills-'));
        writeFileSync(join(folder, 'signalbox.yaml'), configOf(upstream.urlOf));
        const env: Record<string, string> = { SIGNALBOX_DATA_DIR: folder, ...(await envOf()) };
        // Most of the output is thoughts that are not shown.
        const work: Work = { ...NO_TOOLS, input: 600, cached: 0, written: 0, visible: 8, hidden: 3_000, how };
        upstream.plan(work);

        const first = await startProgram(folder, env);
        const [management = '', unlimited = ''] = keysIn(first.stdout() + first.stderr());
        const json = { 'content-type': 'application/json' };
        const made = await fetch(`${first.url}/keys`, {
          method: 'POST',
          headers: { ...json, authorization: `Bearer ${management}` },
          body: JSON.stringify({ name: 'Law', limit: 1_000 }),
        });
        const { key: limited } = (await made.json()) as { key: string };
        let refused = 0;
        const asking = REQUESTS.map(async ({ name, path, body, isLimited }) => {
          const key = isLimited ? limited : unlimited;
          const reply = await fetch(`${first.url}${path}`, {
            method: 'POST',
            headers: { ...json, authorization: `Bearer ${key}`, 'x-request-id': name },
            body: JSON.stringify(body),
          });
          // A busy machine may be too slow for so many requests at once.
          if (reply.status === 503) refused += 1;
          await reply.text();
        });
        const asked = Promise.allSettled(asking);
        await expect.poll(() => upstream.calls + refused, { timeout: 60_000 }).toBe(REQUESTS.length);
        expect(upstream.calls).toBeGreaterThan(REQUESTS.length / 2);
        await stopped(first.child, 'SIGKILL');
        await asked;

        const restarted = await startProgram(folder, env);
        const recordsOf = async () => {
          const headers = { authorization: `Bearer ${management}` };
          const page = await fetch(`${restarted.url}/generations?limit=100`, { headers });
          const { data } = (await page.json()) as { data: { id: string }[] };
          return await Promise.all(
            data.map(async ({ id }) => {
              const shown = await fetch(`${restarted.url}/generation?id=${id}`, { headers });
              return ((await shown.json()) as any).data;
            }),
          );
        };
        await expect.poll(async () => (await recordsOf()).length, { timeout: 60_000 }).toBe(upstream.calls);
        for (const record of await recordsOf()) {
          const {
            request_id: name,
            total_cost: charged,
            written_off: writtenOff,
            write_offs: parts,
          } = record;
          expect(charged + writtenOff, name).toBeGreaterThanOrEqual(billOf(work) - 1e-9);
          expect(parts, name).toEqual([{ cause: 'cut', cost: writtenOff }]);
        }
        await stopped(restarted.child, 'SIGTERM');
        const verified = execFileSync(process.execPath, [PROGRAM, 'ledger', 'verify'], { cwd: folder, env });
        expect(String(verified)).toContain('The books are right.');
        await upstream.close();
        rmSync(folder, { recursive: true, force: true });
      },
      180_000,
    );
  },
);
