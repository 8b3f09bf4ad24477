import {
  chatAnswer,
  chatFrames,
  messagesAnswer,
  messagesFrames,
  responsesAnswer,
  responsesFrames,
} from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/** The three dialects with what tests need of each: its word, its complete answers, its frames. */
export const DIALECTS = [
  { format: 'chat', word: 'openai-chat', answer: chatAnswer, frames: chatFrames },
  { format: 'responses', word: 'openai-responses', answer: responsesAnswer, frames: responsesFrames },
  { format: 'messages', word: 'anthropic-messages', answer: messagesAnswer, frames: messagesFrames },
] as const;

/** Secrets that must never come out of the gateway: the key, and a header that is not named like a secret. */
export const CANARY = 'sk-canary-4f9b1c7d2e8a';
export const HEADER_CANARY = 'tenant-7d1e9a4b';

/** A secret as an upstream might echo it. */
export function disguises(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    Buffer.from(`Bearer ${secret}`).toString('base64'),
    Buffer.from(`x${secret}`).toString('base64url'),
    encodeURIComponent(secret),
  ];
}

export interface Bench {
  readonly gateway: TestGateway;
  readonly first: FakeUpstream;
  readonly second: FakeUpstream;
  close(): Promise<void>;
}

/** Longer than anything takes here, also on a busy machine. */
const PATIENT = { connect: 30_000, first_byte: 30_000, idle: 30_000, total: 60_000 };

/**
 * Two fake upstreams behind a gateway: `<format>/one` is served by the first and then by the second, `<format>/solo`
 * by the first alone. `<format>/late` and `<format>/late-solo` do not wait long for the first byte of the first,
 * `<format>/quiet` not for its next one; all other time limits are long.
 */
export async function openBench(): Promise<Bench> {
  const first = await openFakeUpstream();
  const second = await openFakeUpstream();
  const provider = (slug: string, dialect: string, upstream: FakeUpstream, hurried: object = {}) => ({
    slug,
    name: slug,
    dialect,
    base_url: upstream.url,
    api_key: CANARY,
    headers: { 'x-internal-route': HEADER_CANARY },
    timeouts_ms: { ...PATIENT, ...hurried },
  });
  const endpoint = (slug: string) => ({
    provider: slug,
    model: 'upstream-model',
    pricing: { prompt: '0.000001', completion: '0.000002' },
  });
  const gateway = await openTestGateway({
    providers: DIALECTS.flatMap(({ format, word }) => [
      provider(`p1-${format}`, word, first),
      provider(`p2-${format}`, word, second),
      provider(`late-${format}`, word, first, { first_byte: 1_000 }),
      provider(`quiet-${format}`, word, first, { idle: 1_000 }),
    ]),
    models: DIALECTS.flatMap(({ format }) => [
      { id: `${format}/one`, endpoints: [endpoint(`p1-${format}`), endpoint(`p2-${format}`)] },
      { id: `${format}/solo`, endpoints: [endpoint(`p1-${format}`)] },
      { id: `${format}/late`, endpoints: [endpoint(`late-${format}`), endpoint(`p2-${format}`)] },
      { id: `${format}/late-solo`, endpoints: [endpoint(`late-${format}`)] },
      { id: `${format}/quiet`, endpoints: [endpoint(`quiet-${format}`), endpoint(`p2-${format}`)] },
    ]),
  });
  return {
    gateway,
    first,
    second,
    async close() {
      await gateway.close();
      await Promise.all([first.close(), second.close()]);
    },
  };
}

/** A small request in each format, for the first upstream before the second. */
export function bodyOf(format: string, model: string, more: object = {}): [path: string, body: object] {
  const messages = [{ role: 'user', content: 'Hello' }];
  const order = ['p1', 'late', 'quiet'].map((name) => `${name}-${format}`);
  const common = { model, provider: { order } };
  switch (format) {
    case 'responses':
      return ['/responses', { ...common, input: 'Hello', ...more }];
    case 'messages':
      return ['/messages', { ...common, max_tokens: 100, messages, ...more }];
    default:
      return ['/chat/completions', { ...common, messages, ...more }];
  }
}

/** The text that a stream of any format spells out. */
export function textOf(events: { data: any }[]): string {
  return events
    .map(({ data }) => {
      if (data?.type === 'response.output_text.delta') return data.delta;
      if (data?.type === 'content_block_delta') return data.delta.text ?? '';
      return data?.choices?.[0]?.delta?.content ?? '';
    })
    .join('');
}
