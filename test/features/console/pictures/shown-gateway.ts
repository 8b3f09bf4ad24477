import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { openInstallation } from '../../../../src/app/installation.ts';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { hourOf } from '../../../../src/manage/models/hourly-totals.ts';
import { chatFrames, messagesFrames, responsesFrames, sse } from '../../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  SSE,
  type Step,
  stall,
  write,
} from '../../../kit/fakes/fake-upstream.ts';
import { type BuiltGateway, startBuiltGateway } from '../built-gateway.ts';
import { MODELS, type ShownKey, shownCalls, shownHistory } from './shown-history.ts';

const HISTORY = { days: 30, perDay: 5_000 };

const STREAM_MS = 900;

const ANSWER =
  'Use the status for the class of the problem and a body for its details: a stable `type` for programs, a `title` ' +
  'and a `detail` for people, and the request id, so that somebody can look it up.';

/**
 * Opens the gateway of the pictures, with something of everything: first what people make, then the history of its
 * keys, then real requests.
 */
export async function openShownGateway(port: number): Promise<BuiltGateway> {
  const upstreams = {
    openai: await openFakeUpstream(),
    anthropic: await openFakeUpstream(),
    workshop: await openFakeUpstream(),
    annex: await openFakeUpstream(),
  };
  scriptUpstreams(upstreams);
  const dataDir = mkdtempSync(join(tmpdir(), 'signalbox-pictures-'));
  const configFile = join(dataDir, 'signalbox.yaml');
  writeFileSync(configFile, stringify(configurationOf(upstreams)));
  const first = await startBuiltGateway({ dataDir, configFile, port });
  const keys = await makeThings(first);
  await first.close();
  await writeHistory(dataDir, keys);
  const gateway = await startBuiltGateway({ dataDir, configFile, port });
  await sendRequests(gateway, keys);
  return {
    ...gateway,
    async close() {
      await gateway.close();
      for (const upstream of Object.values(upstreams)) await upstream.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

type Upstreams = Readonly<Record<'openai' | 'anthropic' | 'workshop' | 'annex', FakeUpstream>>;

function configurationOf({ openai, anthropic, workshop, annex }: Upstreams): JsonObject {
  const endpoint = (provider: string) => ({
    provider,
    model: 'qwen3:8b',
    pricing: { prompt_per_million: 0.1, completion_per_million: 0.4 },
  });
  return {
    providers: [
      { slug: 'openai', api_key: 'of-the-pictures', base_url: openai.url },
      { slug: 'anthropic', api_key: 'of-the-pictures', base_url: anthropic.url },
      { slug: 'workshop', name: 'Workshop', dialect: 'openai-chat', base_url: workshop.url },
      { slug: 'annex', name: 'Annex', dialect: 'openai-chat', base_url: annex.url },
      { slug: 'simulator' },
    ],
    models: [
      ...MODELS.filter(({ provider }) => provider !== 'Workshop').map(
        ({ id, provider, promptNanos, completionNanos }) => ({
          id,
          context_length: 200_000,
          endpoints: [
            {
              provider: provider.toLowerCase(),
              model: id.split('/')[1] ?? id,
              pricing: {
                prompt_per_million: promptNanos / 1_000,
                completion_per_million: completionNanos / 1_000,
              },
            },
          ],
        }),
      ),
      {
        id: 'workshop/qwen3',
        name: 'Qwen 3 in the workshop',
        context_length: 40_000,
        endpoints: [endpoint('workshop'), endpoint('annex')],
      },
    ],
    presets: {
      brief: { model: 'anthropic/claude-haiku-5.5', max_tokens: 400, temperature: 0.2 },
      review: { model: 'openai/gpt-5.2', reasoning: { effort: 'high' } },
    },
    limits: { analytics_per_minute: 100_000 },
  };
}

/** Each writes for about a second; the annex fails, and slowly. */
function scriptUpstreams({ openai, anthropic, workshop, annex }: Upstreams): void {
  const content = { text: ANSWER, usage: { input: 21_400, output: 118, cached: 9_600 } };
  openai.answer(streamed(260, responsesFrames(content)));
  anthropic.answer(streamed(420, messagesFrames(content)));
  workshop.answer(streamed(140, chatFrames(content)));
  const refusal = JSON.stringify({ error: { message: 'the model is being loaded' } });
  annex.answer([stall(2_600), head(503, JSON_TYPE), write(refusal), end()]);
}

/** A stream that begins after some time and goes on piece by piece. */
function streamed(waitMs: number, frames: ReturnType<typeof chatFrames>): readonly Step[] {
  const pieces = frames.flatMap((frame) => [write(sse([frame])), stall(STREAM_MS / frames.length)]);
  return [stall(waitMs), head(200, SSE), ...pieces, end()];
}

/** A key with its secret, and what it is used for. */
interface MadeKey extends ShownKey {
  readonly secret: string;
  readonly model: string;
}

/** Workspaces with budgets, keys with limits, guardrails, a credential and a file. */
async function makeThings(gateway: BuiltGateway): Promise<readonly MadeKey[]> {
  const make = async (method: string, path: string, body: JsonObject): Promise<any> => {
    const response = await gateway.fetch(path, {
      method,
      key: gateway.managementKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const shop = (await make('POST', '/workspaces', { name: 'Shop', slug: 'shop' })).data;
  const research = (
    await make('POST', '/workspaces', {
      name: 'Research',
      slug: 'research',
      is_observability_io_logging_enabled: true,
    })
  ).data;
  await make('PUT', `/workspaces/${shop.id}/budgets/daily`, { limit_usd: 20 });
  await make('PUT', `/workspaces/${shop.id}/budgets/monthly`, { limit_usd: 400 });
  await make('PUT', `/workspaces/${research.id}/budgets/monthly`, { limit_usd: 2.5 });
  const key = async (
    name: string,
    workspace: { readonly id: string },
    more: JsonObject,
    use: Pick<MadeKey, 'app' | 'weight' | 'model'>,
  ): Promise<MadeKey> => {
    const made = await make('POST', '/keys', { name, workspace_id: workspace.id, ...more });
    return { ...use, secret: made.key, hash: made.data.hash, workspaceId: workspace.id };
  };
  const keys = [
    await key(
      'checkout',
      shop,
      { limit: 50, limit_reset: 'monthly' },
      { app: 'shop.example', weight: 40, model: 'anthropic/claude-sonnet-5.5' },
    ),
    await key(
      'support-bot',
      shop,
      { limit: 1, limit_reset: 'daily' },
      { app: 'help.example', weight: 30, model: 'openai/gpt-5.2' },
    ),
    await key(
      'search-index',
      shop,
      {},
      { app: 'search.example', weight: 14, model: 'anthropic/claude-haiku-5.5' },
    ),
    await key('nightly-evals', research, { limit: 200 }, { app: null, weight: 10, model: 'workshop/qwen3' }),
    await key(
      'notebooks',
      research,
      { limit: 10, limit_reset: 'weekly' },
      { app: null, weight: 6, model: 'openai/gpt-5-mini' },
    ),
  ];
  const { data: guardrail } = await make('POST', '/guardrails', {
    name: 'No personal data',
    description: 'For all that customers write.',
    workspace_id: shop.id,
    content_filter_builtins: [
      { slug: 'email', action: 'redact' },
      { slug: 'credit-card', action: 'block' },
    ],
    content_filters: [{ pattern: 'ORDER-\\d{6}', action: 'redact', label: '[ORDER]' }],
    limit_usd: 25,
    reset_interval: 'daily',
  });
  await make('POST', `/guardrails/${guardrail.id}/assignments/keys`, {
    key_hashes: keys.slice(0, 2).map(({ hash }) => hash),
  });
  await make('POST', '/guardrails', {
    name: 'Europe only',
    workspace_id: research.id,
    allowed_data_regions: ['europe'],
  });
  await make('POST', '/byok', {
    provider: 'anthropic',
    key: 'credential-of-the-pictures',
    workspace_id: research.id,
    name: 'Contract of the research group',
  });
  const file = new FormData();
  file.set('file', new Blob(['Opening hours: 9 to 17.\n'], { type: 'text/plain' }), 'opening-hours.txt');
  await gateway.fetch('/files', { method: 'POST', body: file });
  return keys;
}

/** Days before the first real request, as an import. */
async function writeHistory(dataDir: string, keys: readonly ShownKey[]): Promise<void> {
  const installation = await openInstallation({ dataDir, keyPrefix: 'sk-sb-v1-' });
  const { id: accountId } = await installation.accounts.ensureFirst();
  await installation.eventStore.append([
    ...shownHistory(keys, { ...HISTORY, accountId, endMs: Date.now() - 60_000 }),
  ]);
  await installation.callCountStore.keep('before', shownCalls(hourOf(Date.now())));
  await installation.close();
}

/** Requests in all formats: most are answered, one key is nearly used up, and one answer came late. */
async function sendRequests(gateway: BuiltGateway, keys: readonly MadeKey[]): Promise<void> {
  const send = async ({ secret, app, model }: MadeKey, input: string): Promise<void> => {
    const response = await gateway.fetch('/responses', {
      method: 'POST',
      key: secret,
      headers: {
        'content-type': 'application/json',
        ...(app !== null && { 'http-referer': `https://${app}/`, 'x-title': app.split('.')[0] ?? app }),
      },
      body: JSON.stringify({ model, input, stream: true }),
    });
    await response.text();
  };
  for (let round = 0; round < 12; round++) {
    await Promise.all(keys.map((key) => send(key, 'How should an HTTP API report errors?')));
  }
  const [checkout, , , evals] = keys;
  if (checkout !== undefined) {
    await send(checkout, 'Write to ada@shop.example about ORDER-482915.');
    await send(checkout, 'Charge the card 4111 1111 1111 1111.');
  }
  if (evals !== undefined) await send({ ...evals, model: 'simulator/slow-stream' }, 'Take your time.');
  // Rows of the log are written a moment later.
  await sleep(1_000);
}
