import { expect } from 'vitest';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../../kit/management.ts';

/** Dialects that have ready-made answers. */
export const ANSWERS = {
  'openai-chat': chatAnswer,
  'openai-responses': responsesAnswer,
  'anthropic-messages': messagesAnswer,
} as const;

export type Dialect = keyof typeof ANSWERS;

/** A reply with everything that tests look at. */
export interface Reply {
  readonly status: number;
  /** All bytes. */
  readonly text: string;
  /** Of a whole answer. */
  readonly body: any;
  /** Of a stream. */
  readonly events: readonly { readonly event?: string | undefined; readonly data: any }[];
  readonly headers: Headers;
  readonly generationId: string;
}

/** A gateway with one fake upstream for all dialects (`m/<dialect>`), and keys under guardrails made over HTTP. */
export interface GuardedGateway {
  readonly gateway: TestGateway;
  readonly upstream: FakeUpstream;
  readonly management: Management;
  /** A new key with a new guardrail of its own. */
  guard(rules: JsonObject): Promise<string>;
  ask(key: string, path: string, body: object, headers?: Record<string, string>): Promise<Reply>;
  recordOf(reply: Pick<Reply, 'generationId'>, key: string): Promise<any>;
  metric(line: string): Promise<number>;
  close(): Promise<void>;
}

export async function openGuardedGateway(config: JsonObject = {}): Promise<GuardedGateway> {
  const upstream = await openFakeUpstream();
  const dialects = Object.keys(ANSWERS) as Dialect[];
  const { providers = [], models = [], ...more } = config as { providers?: any[]; models?: any[] };
  const gateway = await openTestGateway({
    providers: [
      ...dialects.map((dialect) => ({
        slug: dialect,
        dialect,
        base_url: upstream.url,
        api_key: 'sk-of-the-provider',
      })),
      ...providers.map((provider) => ({ base_url: upstream.url, ...provider })),
    ],
    models: [
      ...dialects.map((dialect) => ({
        id: `m/${dialect}`,
        endpoints: [{ provider: dialect, model: 'one' }],
      })),
      ...models,
    ],
    ...more,
  } as never);
  const management = managementOf(gateway);
  const { ask, data } = management;
  return {
    gateway,
    upstream,
    management,
    async guard(rules) {
      const { body } = await ask('POST', '/keys', { name: 'guarded' });
      const { id } = await data(201, 'POST', '/guardrails', { name: 'Rules', ...rules });
      const assigned = await ask('POST', `/guardrails/${id}/assignments/keys`, {
        key_hashes: [body.data.hash],
      });
      expect(assigned).toEqual({ status: 200, body: { assigned_count: 1 } });
      return body.key;
    },
    async ask(key, path, body, headers = {}) {
      const response = await gateway.fetch(path, {
        method: 'POST',
        key,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', 'x-signalbox-metadata': 'enabled', ...headers },
      });
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      const text = await response.clone().text();
      return {
        status: response.status,
        text,
        body: isStream ? undefined : JSON.parse(text),
        events: isStream ? await readEvents(response) : [],
        headers: response.headers,
        generationId: response.headers.get('x-generation-id') ?? '',
      };
    },
    async recordOf({ generationId }, key) {
      const found = async () => {
        const answer = await ask('GET', `/generation?id=${generationId}`, undefined, key);
        return answer.status === 200 ? answer.body.data : undefined;
      };
      await expect.poll(found).toBeDefined();
      return found();
    },
    async metric(line) {
      const response = await fetch(`${gateway.origin}/metrics`, {
        headers: { authorization: `Bearer ${gateway.managementKey}` },
      });
      const lines = (await response.text()).split('\n');
      const found = lines.find((each) => each.startsWith(`${line} `));
      return found === undefined ? 0 : Number(found.slice(line.length + 1));
    },
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
}

/** The text that a reply shows, whole or put together from the pieces of a stream. */
export function shownText({ body, events }: Reply): string {
  if (body !== undefined) return JSON.stringify(body.choices ?? body.output ?? body.content ?? body);
  return events.map(({ data }) => pieceOf(data)).join('');
}

function pieceOf(data: any): string {
  if (typeof data === 'string') return '';
  const delta = data.choices?.[0]?.delta;
  if (delta !== undefined) {
    return `${delta.reasoning ?? ''}${delta.content ?? ''}${delta.tool_calls?.[0]?.function?.arguments ?? ''}`;
  }
  if (typeof data.delta === 'string') return data.delta;
  return data.delta?.text ?? data.delta?.thinking ?? data.delta?.partial_json ?? '';
}

export function stagesIn(record: any): any[] {
  return record.routing?.pipeline ?? [];
}

export function receiptIn(record: any): any {
  return stagesIn(record).find(({ name }) => name === 'scan-receipt')?.data;
}

/** Expects that everything was scanned, and that there was something. */
export function expectComplete(receipt: any): void {
  expect(receipt.characters_sent).toBeGreaterThan(0);
  expect(receipt.characters_sent_scanned).toBe(receipt.characters_sent);
  expect(receipt.characters_received_scanned).toBe(receipt.characters_received);
}
