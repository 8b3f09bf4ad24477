import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { pdfOf } from '../../kit/builders/pdf.ts';
import { type BilledUpstream, openBilledUpstream } from '../../kit/fakes/billed-upstream.ts';
import {
  BILLED_DIALECTS,
  BILLED_PRICES,
  BILLED_PRICING,
  type BilledDialect,
  billOf,
  TASK,
  type Work,
  type WorkEnd,
} from '../../kit/fakes/billed-work.ts';
import { PROGRAM } from '../../kit/program.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { keysIn, startProgram, stopped } from '../../kit/started-program.ts';

const server = await postgresForTests();

const DIALECTS = Object.keys(BILLED_DIALECTS) as BilledDialect[];

const AWS_KEY = JSON.stringify({
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'a-secret-of-the-tests',
  region: 'us-east-1',
});

/** Milliseconds after which hasty providers give a call up. */
const HASTE_MS = 300;

const SIZE = { context_length: 200_000, max_output_tokens: 4_000 };

const PROMPT = 'word '.repeat(500);

/** Models that the tool of a request asks, if the upstream calls it. */
const TASKS = 2;

const NO_TOOLS = { searches: 0, drawn: 0, runsCode: false, tasks: TASKS };

const PAGES = 3;

/** A file that was not read before. */
const fileOf = (name: string) =>
  pdfOf(...Array.from({ length: PAGES }, (_, page) => `${name} ${page}`)).toString('base64');

type Path = '/chat/completions' | '/responses' | '/messages';

/** A question of each format that tells its name; with a file if there is one. */
function asked(path: Path, name: string, file: string | undefined): object {
  const file_data = `data:application/pdf;base64,${file}`;
  const text = { type: path === '/responses' ? 'input_text' : 'text', text: `${PROMPT}${name}` };
  const part = {
    '/chat/completions': { type: 'file', file: { filename: 'a.pdf', file_data } },
    '/responses': { type: 'input_file', filename: 'a.pdf', file_data },
    '/messages': {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: file },
    },
  }[path];
  const turns = [{ role: 'user', content: file === undefined ? [text] : [text, part] }];
  return path === '/responses'
    ? { max_output_tokens: 4_000, input: turns }
    : { max_tokens: 4_000, messages: turns };
}

const FORMATS: readonly Path[] = ['/chat/completions', '/responses', '/messages'];

/**
 * One request of every format to every dialect, whole and streamed, with a limit and without; those that stream under
 * a limit bring a file, whose pages a service reads first.
 */
const REQUESTS = FORMATS.flatMap((path) =>
  DIALECTS.flatMap((dialect) =>
    [true, false].flatMap((stream) =>
      [true, false].map((isLimited) => {
        const name = `${path} to ${dialect}, stream ${stream}, limit ${isLimited}`;
        const hasFile = stream && isLimited;
        const body = {
          model: `m/${dialect}`,
          stream,
          ...asked(path, name, hasFile ? fileOf(name) : undefined),
          ...(hasFile && { plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }] }),
        };
        return { name, path, dialect, isLimited, hasFile, body };
      }),
    ),
  ),
);

function configOf({ urlOf, serviceUrl }: Pick<BilledUpstream, 'urlOf' | 'serviceUrl'>) {
  return stringify({
    providers: [
      ...DIALECTS.map((dialect) => ({
        slug: dialect,
        dialect: BILLED_DIALECTS[dialect],
        base_url: urlOf(dialect),
        ...(dialect === 'bedrock' && { api_key: AWS_KEY }),
      })),
      // Gives a call up soon, so that a second one is made.
      ...DIALECTS.map((dialect) => ({
        slug: `${dialect}-hasty`,
        dialect: BILLED_DIALECTS[dialect],
        base_url: urlOf(dialect, 'hasty'),
        ...(dialect === 'bedrock' && { api_key: AWS_KEY }),
        timeouts_ms: { first_byte: HASTE_MS, idle: HASTE_MS, total: HASTE_MS },
      })),
      { slug: 'service', dialect: 'openai-chat', base_url: serviceUrl, api_key: 'k' },
    ],
    models: DIALECTS.flatMap((dialect) => {
      const endpointAt = (provider: string) => ({ provider, model: 'one', ...SIZE, pricing: BILLED_PRICING });
      return [
        { id: `m/${dialect}`, ...SIZE, endpoints: [endpointAt(dialect)] },
        { id: `m/${dialect}-twice`, ...SIZE, endpoints: [`${dialect}-hasty`, dialect].map(endpointAt) },
      ];
    }),
    // Otherwise later requests would leave out providers that had so many time limits.
    routing: { cooldown: { failures: 1_000 } },
    plugins: {
      'file-parser': { ocr: { provider: 'service', model: 'ocr', price_per_page: BILLED_PRICES.page } },
    },
  });
}

const NO_FILE = { hasFile: false };

/** How the calls go of a generation that is killed, and of the models that its tool asks. */
interface Killed {
  readonly when: string;
  readonly how: WorkEnd;
  readonly tasks?: WorkEnd;
  /** Each model is called a second time, because a time limit ended the first call. */
  readonly isTwice?: true;
}

describe.each([
  ['embedded', async () => ({})],
  ...(server === undefined
    ? []
    : [['PostgreSQL', async () => ({ DATABASE_URL: await server.createDatabase() })] as const]),
] as const)(
  'law: what upstreams bill a gateway that is killed is charged, or written off (%s)',
  (_, envOf) => {
    it.each<Killed>([
      { when: 'before the answers begin', how: 'silent' },
      { when: 'after their last words', how: 'stall' },
      { when: 'in second calls, after time limits ended the first', how: 'silent', isTwice: true },
      { when: 'while models work that tools ask', how: 'answer', tasks: 'stall' },
    ])(
      '$when',
      async ({ how, tasks, isTwice }) => {
        const upstream = await openBilledUpstream();
        const folder = mkdtempSync(join(tmpdir(), 'signalbox-bills-'));
        writeFileSync(join(folder, 'signalbox.yaml'), configOf(upstream));
        const env: Record<string, string> = { SIGNALBOX_DATA_DIR: folder, ...(await envOf()) };
        // Most of the output is thoughts that are not shown.
        const work: Work = { ...NO_TOOLS, input: 600, cached: 0, written: 0, visible: 8, hidden: 3_000, how };
        upstream.plan(work);
        if (tasks !== undefined) upstream.planTasks({ ...work, how: tasks });
        const { requests } = upstream.fake;
        const callsWith = (text: string) => requests.filter(({ body }) => body.includes(text)).length;
        const billed = ({ hasFile }: { readonly hasFile: boolean }) =>
          (hasFile ? PAGES * BILLED_PRICES.page : 0) +
          billOf(work) * ((isTwice ? 2 : 1) + (tasks === undefined ? 0 : TASKS));

        const first = await startProgram(folder, env);
        const [management = '', unlimited = ''] = keysIn(first.stdout() + first.stderr());
        const json = { 'content-type': 'application/json' };
        const made = await fetch(`${first.url}/keys`, {
          method: 'POST',
          headers: { ...json, authorization: `Bearer ${management}` },
          body: JSON.stringify({ name: 'Law', limit: 1_000 }),
        });
        const { key: limited } = (await made.json()) as { key: string };
        const refused = new Set<string>();
        const asking = REQUESTS.map(async ({ name, path, dialect, body, isLimited }) => {
          const tool = { type: 'signalbox:subagent', parameters: { model: `m/${dialect}` } };
          const key = isLimited ? limited : unlimited;
          const reply = await fetch(`${first.url}${path}`, {
            method: 'POST',
            headers: { ...json, authorization: `Bearer ${key}`, 'x-request-id': name },
            body: JSON.stringify({
              ...body,
              ...(tasks !== undefined && { tools: [tool] }),
              ...(isTwice && {
                model: `m/${dialect}-twice`,
                provider: { order: [`${dialect}-hasty`, dialect] },
              }),
            }),
          });
          const text = await reply.text();
          // A busy machine may be too slow for so many requests at once; an open stream says so in itself.
          if (!reply.ok || text.includes('"error_type":"provider_overloaded"')) refused.add(name);
        });
        const asked = Promise.allSettled(asking);
        const served = () => REQUESTS.filter(({ name }) => !refused.has(name));
        // By their names: a request that is refused in the middle may have had calls too.
        const waiting = () => served().filter(({ name }) => callsWith(name) < (isTwice ? 2 : 1));
        await expect.poll(() => waiting().map(({ name }) => name)).toEqual([]);
        if (tasks !== undefined) {
          await expect.poll(() => served().length * TASKS - callsWith(TASK)).toBeLessThanOrEqual(0);
          // Calls do not name their request, and those of a refused one count too: wait until no more come.
          let before = -1;
          const newCalls = () => {
            const found = callsWith(TASK) - before;
            before += found;
            return found;
          };
          await expect.poll(newCalls, { interval: 2_000 }).toBe(0);
        }
        expect(served().length).toBeGreaterThan(REQUESTS.length / 2);
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
        const servedRecords = async () =>
          (await recordsOf()).filter(({ request_id }) => !refused.has(request_id));
        await expect.poll(async () => (await servedRecords()).length).toBe(served().length);
        for (const record of await servedRecords()) {
          const {
            request_id: name,
            total_cost: charged,
            written_off: writtenOff,
            write_offs: parts,
          } = record;
          const request = served().find((each) => each.name === name);
          expect(charged + writtenOff, name).toBeGreaterThanOrEqual(billed(request ?? NO_FILE) - 1e-9);
          const causes = parts.map(({ cause }: { cause: string }) => cause);
          expect(causes, name).toEqual(isTwice ? ['time_limit', 'cut'] : ['cut']);
          const sum = parts.reduce((total: number, { cost }: { cost: number }) => total + cost, 0);
          expect(sum, name).toBeCloseTo(writtenOff, 9);
        }
        await stopped(restarted.child, 'SIGTERM');
        const verified = execFileSync(process.execPath, [PROGRAM, 'ledger', 'verify'], { cwd: folder, env });
        expect(String(verified)).toContain('The books are right.');
        await upstream.close();
        rmSync(folder, { recursive: true, force: true });
      },
      600_000,
    );
  },
);
