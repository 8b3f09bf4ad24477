import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type OtlpReceiver, openOtlpReceiver } from '../../kit/fakes/otlp-receiver.ts';
import { SELF_SIGNED } from '../../kit/fakes/raw-server.ts';
import { type Management, managementOf } from '../../kit/management.ts';
import { openToolGateway, type ToolGateway } from '../tools/tool-gateway.ts';

const PATH = '/observability/destinations';
const SECRET = 'canary-of-the-collector-51c2';

let receiver: OtlpReceiver;
let redirecting: Server;
let untrusted: NetServer;
let tools: ToolGateway;
let management: Management;

beforeAll(async () => {
  receiver = await openOtlpReceiver();
  redirecting = createServer((request, response) => {
    request.resume();
    response.writeHead(307, { location: `${receiver.origin}/v1/traces` }).end();
  });
  untrusted = createTlsServer(SELF_SIGNED, (_, response) => response.end());
  for (const server of [redirecting, untrusted]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }
  const ports = [redirecting, untrusted].map((server) => (server.address() as AddressInfo).port);
  const allow = [new URL(receiver.origin).host, ...ports.map((port) => `127.0.0.1:${port}`)];
  tools = await openToolGateway({ egress: { allow }, metrics: { public: true } });
  management = managementOf(tools.gateway);
  await management.data(200, 'PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
});

afterAll(async () => {
  await tools.close();
  await receiver.close();
  for (const server of [redirecting, untrusted]) await new Promise((resolve) => server.close(resolve));
});

afterEach(async () => {
  receiver.answer(() => undefined);
  const { data } = (await management.ask('GET', `${PATH}?all_workspaces=true&limit=100`)).body;
  for (const { id } of data) await management.ask('DELETE', `${PATH}/${id}`);
  receiver.requests.length = 0;
});

const portOf = (server: NetServer) => (server.address() as AddressInfo).port;

const created = (endpoint: string): Promise<{ id: string }> =>
  management.data(201, 'POST', PATH, {
    type: 'otel-collector',
    name: 'Collector',
    config: { endpoint, headers: { authorization: SECRET } },
  });

const stateOf = async (id: string) => (await management.data(200, 'GET', `${PATH}/${id}`)).state;

async function asked(): Promise<string> {
  tools.answers('m/chat', { text: 'The sky.' });
  const response = await tools.gateway.post('/chat/completions', {
    model: 'm/chat',
    messages: [{ role: 'user', content: 'What is blue?' }],
  });
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get('x-generation-id') ?? '';
}

const isSent = (id: string) =>
  receiver.spans().some(({ attributes }) => attributes['signalbox.generation.id'] === id);

const metricsText = async () => (await fetch(`${tools.gateway.origin}/metrics`)).text();

describe('a destination that', () => {
  it('answers 503 is sent everything once when it is back; its state, figures and the log say so', async () => {
    const { id } = await created(receiver.origin);
    await expect.poll(() => stateOf(id)).toMatchObject({ taken: 0, problem: null });
    const cameBefore = receiver.counts.came;
    receiver.answer(() => ({ status: 503, headers: { 'retry-after': '1' } }));
    const lost = await asked();
    await expect
      .poll(() => stateOf(id))
      .toMatchObject({ taken: 0, problem: 'it answers with status 503', since: expect.stringMatching(/Z$/) });
    const labels = `{follower="destination/${id}",type="otel-collector"}`;
    expect(await metricsText()).toMatch(
      new RegExp(`^signalbox_follower_problem_seconds\\${labels} [1-9.0]+$`, 'm'),
    );
    const { findings } = await management.data(200, 'GET', '/gateway/findings');
    expect(findings).toContainEqual(
      expect.objectContaining({
        verdict: 'warning',
        what: expect.stringMatching(
          `destination/${id} has had a problem for .*: it answers with status 503; `,
        ),
      }),
    );
    expect(receiver.counts.came).toBeGreaterThan(cameBefore);
    receiver.answer(() => undefined);
    await expect.poll(() => isSent(lost)).toBe(true);
    await expect
      .poll(() => stateOf(id))
      .toEqual({ taken: 1, dropped: 0, waiting: 0, problem: null, since: null });
    expect(await metricsText()).toContain(
      `signalbox_follower_generations_total{follower="destination/${id}",type="otel-collector",outcome="taken"} 1\n`,
    );
    const place = { follower: `destination/${id}` };
    const lines = (message: string) =>
      tools.gateway.logged(message).filter(({ follower }) => follower === place.follower);
    expect(lines('a follower of generations fails; what was settled waits for it')).toHaveLength(1);
    expect(lines('a follower of generations goes on')).toHaveLength(1);
    const roots = receiver.spans().filter(({ attributes }) => attributes['signalbox.generation.id'] === lost);
    expect(roots).toHaveLength(1);
  });

  it('hangs delays no request and no other destination', async () => {
    const hangsAt = receiver.counts.came;
    receiver.answer((index) => (index === hangsAt ? null : undefined));
    const hanging = await created(receiver.origin);
    await expect.poll(() => stateOf(hanging.id)).not.toBeNull();
    await asked();
    await expect.poll(() => receiver.counts.came).toBeGreaterThan(hangsAt);
    const other = await created(receiver.origin);
    await expect.poll(() => stateOf(other.id)).not.toBeNull();
    const next = await asked();
    await expect.poll(() => isSent(next)).toBe(true);
    expect(await stateOf(hanging.id)).toMatchObject({ taken: 0 });
  });

  it('redirects, has a certificate that is not trusted, or cannot be reached is named as such', async () => {
    const redirects = await created(`http://127.0.0.1:${portOf(redirecting)}`);
    const isUntrusted = await created(`https://127.0.0.1:${portOf(untrusted)}`);
    const { id: isHidden } = await created('http://collector.invalid');
    await expect.poll(() => stateOf(redirects.id)).not.toBeNull();
    await expect.poll(() => stateOf(isUntrusted.id)).not.toBeNull();
    await expect.poll(() => stateOf(isHidden)).not.toBeNull();
    await asked();
    const problemOf = async (id: string) => (await stateOf(id)).problem;
    await expect.poll(() => problemOf(redirects.id)).toMatch(/^the address redirects/);
    await expect.poll(() => problemOf(isUntrusted.id)).toBe('certificate not trusted');
    await expect.poll(() => problemOf(isHidden)).toBe('the address is unknown or not one that may be called');
    expect(receiver.requests).toEqual([]);
    expect(tools.gateway.logText()).not.toContain(SECRET);
  });

  it('takes none of a request is not asked for ever', async () => {
    const { id } = await created(receiver.origin);
    await expect.poll(() => stateOf(id)).not.toBeNull();
    receiver.answer(() => ({ status: 400 }));
    await asked();
    await expect
      .poll(() => stateOf(id))
      .toMatchObject({ taken: 0, dropped: 1, problem: 'refuses generations: it answers with status 400' });
    const came = receiver.counts.came;
    receiver.answer(() => undefined);
    const next = await asked();
    await expect.poll(() => isSent(next)).toBe(true);
    expect(receiver.counts.came).toBe(came + 1);
    await expect.poll(() => stateOf(id)).toMatchObject({ taken: 1, dropped: 1, problem: null });
  });
});
