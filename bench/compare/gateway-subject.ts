import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ANSWERS, type AnswerName } from './lanes.ts';
import { type Subject, upstreamModel } from './subject.ts';
import { freePort, untilReady, type Workbench } from './workbench.ts';

/** How large the installation is. */
export interface GatewaySize {
  readonly models: number;
  readonly keys: number;
  /** A guardrail with filters that redact: of all keys, or of none that is used. */
  readonly guardrail?: 'applies' | 'elsewhere';
}

/** The smallest catalogue: a model for each answer in each dialect. */
export const SMALLEST: GatewaySize = { models: 10, keys: 1 };

const DIALECTS = { chat: 'openai-chat', messages: 'anthropic-messages' } as const;
const PRICING = { prompt: '0.000001', completion: '0.000004' };
/** Large enough never to be used up, and yet booked against in every request. */
const KEY_LIMIT_USD = 1_000_000;
const CREDITS_USD = 100_000_000;
const KEYS_AT_ONCE = 32;
/** The default leaves little room beside 4,000 streams. */
const MAX_CONCURRENT_REQUESTS = 20_000;

/**
 * Starts the gateway as it ships, on the embedded engines: only the size of the installation and the upstream are set.
 * `checkout`: the folder of the build; absent = this one.
 */
export async function startGateway(
  workbench: Workbench,
  upstreamPort: number,
  size: GatewaySize,
  checkout?: string,
): Promise<Subject> {
  const which = checkout === undefined ? 'gateway' : 'other-gateway';
  const name = `${which}-${size.models}-models-${size.keys}-keys-${size.guardrail ?? 'no'}-guardrail`;
  const dataDir = mkdtempSync(join(workbench.folder, `${name}-`));
  const managementKey = randomBytes(24).toString('hex');
  const port = await freePort();
  const config = workbench.write(`${name}.yaml`, JSON.stringify(configuration(upstreamPort, size)));
  const program = resolve(checkout ?? '.', 'dist', 'cli', 'signalbox.js');
  const flags = ['--port', String(port), '--config', config, '--data-dir', dataDir];
  const started = workbench.start(name, [process.execPath, program, 'serve', ...flags], {
    place: 'tested',
    env: { SIGNALBOX_MANAGEMENT_KEY: managementKey },
  });
  await untilReady(name, started, `http://127.0.0.1:${port}/readyz`);
  const keys = await createKeys(`http://127.0.0.1:${port}/api/v1/keys`, managementKey, size.keys);
  return {
    name: 'gateway',
    process: started,
    port,
    basePath: '/api/v1',
    headers: {},
    keysFile: workbench.write(`${name}.keys`, keys.join('\n')),
    model: (lane, answer) => modelId(lane.upstream, answer),
  };
}

type Dialect = keyof typeof DIALECTS;

function modelId(upstream: Dialect, answer: AnswerName): string {
  return `bench/${upstream}-${answer}`;
}

function configuration(upstreamPort: number, { models, guardrail }: GatewaySize): object {
  const dialects = Object.keys(DIALECTS) as Dialect[];
  const answers = Object.keys(ANSWERS) as AnswerName[];
  const asked = dialects.flatMap((dialect) =>
    answers.map((answer) => model(modelId(dialect, answer), dialect, upstreamModel(answer))),
  );
  const others = Array.from({ length: models - asked.length }, (_, index) =>
    model(`author-${index % 50}/model-${index}`, 'chat', `model-${index}`),
  );
  return {
    providers: dialects.map((dialect) => ({
      slug: dialect,
      dialect: DIALECTS[dialect],
      base_url: `http://127.0.0.1:${upstreamPort}/v1`,
      api_key: 'bench',
    })),
    models: [...asked, ...others],
    credits: { initial_usd: CREDITS_USD },
    limits: { max_concurrent_requests: MAX_CONCURRENT_REQUESTS },
    ...(guardrail !== undefined && { workspaces: [workspaceWithGuardrail(guardrail)] }),
  };
}

const BUILTINS = ['email', 'phone', 'ssn', 'credit-card', 'ip-address'];
const PATTERNS = [
  'PRJ-\\d{4,6}',
  '(?i)internal use only',
  'sk-[A-Za-z0-9]{20,64}',
  'EMP\\d{6}',
  '\\d{4}-\\d{4}',
];

function workspaceWithGuardrail(guardrail: 'applies' | 'elsewhere'): object {
  const filters = {
    name: 'bench',
    default: true,
    content_filter_builtins: [
      ...BUILTINS.map((slug) => ({ slug, action: 'redact' })),
      { slug: 'regex-prompt-injection', action: 'flag' },
    ],
    content_filters: PATTERNS.map((pattern) => ({ pattern, action: 'redact', label: 'Bench' })),
  };
  return { slug: guardrail === 'applies' ? 'default' : 'other', name: 'Bench', guardrails: [filters] };
}

function model(id: string, provider: Dialect, upstreamName: string): object {
  return {
    id,
    context_length: 200_000,
    max_output_tokens: 32_000,
    endpoints: [{ provider, model: upstreamName, pricing: PRICING }],
  };
}

async function createKeys(url: string, managementKey: string, count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const next = Array.from({ length: Math.min(KEYS_AT_ONCE, count - keys.length) }, (_, index) =>
      createKey(url, managementKey, `bench ${keys.length + index}`),
    );
    keys.push(...(await Promise.all(next)));
  }
  return keys;
}

async function createKey(url: string, managementKey: string, name: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, limit: KEY_LIMIT_USD }),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`a key was not made: ${response.status} ${text}`);
  return (JSON.parse(text) as { key: string }).key;
}
