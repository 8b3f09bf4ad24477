import { Compile } from 'typebox/compile';
import { afterEach, describe, expect, it } from 'vitest';
import {
  generationContentReplySchema,
  generationReplySchema,
} from '../../../src/contract/generations/generation-record.ts';
import { AttemptLog } from '../../../src/gateway/record/attempt-log.ts';
import { acceptedRow, completeRow } from '../../../src/gateway/record/generation-row.ts';
import { Generations } from '../../../src/manage/generations/generations.ts';
import type { GenerationContent } from '../../../src/ports/content/content.ts';
import type { StoredGeneration } from '../../../src/ports/generations/generations.ts';
import { requestOf } from '../../kit/builders/request.ts';
import { callerOf } from '../../kit/builders/tenancy.ts';
import { ACCOUNT, ask, MANAGEMENT_KEY, PLAIN_KEY, startServer, stopServers } from '../../kit/http-harness.ts';

afterEach(stopServers);

const row = completeRow(
  acceptedRow({
    input: {
      format: 'responses',
      caller: callerOf(),
      body: {},
      generationId: 'gen-1-mine',
      acceptedAtMs: 1,
      wantsMetadata: false,
      header: () => {},
      signal: new AbortController().signal,
      replied: () => Promise.resolve(),
      timing: { mark: () => {}, awaitUpstream: () => {}, answered: () => {} },
    },
    request: requestOf(),
    attemptLog: new AttemptLog({
      requested: 'acme/large',
      strategy: 'direct',
      candidates: [],
      rejected: [],
      pipeline: [],
      report: [],
    }),
    region: null,
  }),
);

const generation = (id: string, account: string): StoredGeneration => ({
  id,
  scopes: { key: 'k', workspace: 'workspace', account },
  settledAtMs: 1,
  charge: { creditNanos: 1_500_000n, byokNanos: 0n },
  writtenOffNanos: 0n,
  writtenOffCause: null,
  row,
});

const content: GenerationContent = {
  input: { messages: [{ role: 'user', content: 'x'.repeat(200_000) }] },
  output: { completion: 'y', reasoning: null },
  error: null,
};

async function start() {
  const known = [generation('gen-1-mine', ACCOUNT), generation('gen-1-foreign', 'another')];
  const generations = new Generations({
    recent: { recent: () => undefined },
    rows: {
      find: async (account, id) => known.find((one) => one.id === id && one.scopes.account === account),
    },
    refused: { find: async () => undefined },
    contents: {
      get: async (account, id) => (account === ACCOUNT && id === 'gen-1-mine' ? content : undefined),
    },
    apps: { ofHosts: async () => [] },
    prices: { inForce: async () => [] },
  });
  const { port } = await startServer({ generations });
  return (path: string, key: string | undefined = PLAIN_KEY) => ask(port, { path: `/api/v1${path}`, key });
}

describe('GET /generation', () => {
  it.each([PLAIN_KEY, MANAGEMENT_KEY])(
    'shows a generation of the account to any of its keys',
    async (key) => {
      const get = await start();
      const { status, json } = await get('/generation?id=gen-1-mine', key);
      expect(status).toBe(200);
      expect(Compile(generationReplySchema).Check(json)).toBe(true);
      expect(json.data).toMatchObject({
        id: 'gen-1-mine',
        workspace_id: 'workspace',
        total_cost: 0.0015,
        usage: 0.0015,
        finish_reason: 'error',
        usage_source: 'none',
      });
    },
  );

  it('does not tell what is unknown from what is foreign', async () => {
    const get = await start();
    for (const path of ['/generation', '/generation/content']) {
      const answers = [await get(`${path}?id=gen-1-foreign`), await get(`${path}?id=gen-1-unknown`)];
      for (const { status, json } of answers) {
        expect(status).toBe(404);
        expect(json.error).toMatchObject({ code: 404, message: 'Resource not found' });
      }
    }
  });

  it('wants an id and a key', async () => {
    const get = await start();
    for (const path of ['/generation', '/generation?id=', '/generation/content', '/generation?id=a&id=b']) {
      const { status, json } = await get(path);
      expect([path, status]).toEqual([path, 400]);
      expect(json.error.message).toMatch(/^id: /);
    }
    expect((await get('/generation?id=gen-1-mine', 'sk-unknown')).status).toBe(401);
    expect((await get('/generation/content?id=gen-1-mine', 'sk-unknown')).status).toBe(401);
  });
});

describe('GET /generation/content', () => {
  it('shows what was said', async () => {
    const get = await start();
    const { status, json } = await get('/generation/content?id=gen-1-mine');
    expect(status).toBe(200);
    expect(Compile(generationContentReplySchema).Check(json)).toBe(true);
    expect(json.data).toEqual(content);
  });
});
