import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { membersOf, type OtlpReceiver, openOtlpReceiver } from '../../kit/fakes/otlp-receiver.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function openReceiver(): Promise<OtlpReceiver> {
  const receiver = await openOtlpReceiver();
  opened.push(receiver);
  return receiver;
}

async function openSending(receiver: OtlpReceiver, otlp: JsonObject = {}): Promise<TestGateway> {
  const gateway = await openTestGateway({
    providers: [{ slug: 'simulator' }],
    observability: {
      otlp: {
        endpoint: receiver.origin,
        headers: { 'x-token': 'of-the-receiver' },
        metrics: { every_s: 1 },
        ...otlp,
      },
    },
  });
  opened.push(gateway);
  return gateway;
}

async function ask(gateway: TestGateway, headers: Record<string, string> = {}): Promise<string> {
  const body = { model: 'simulator/standard', messages: [{ role: 'user', content: 'Hello.' }] };
  const response = await gateway.post('/chat/completions', body, headers);
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get('x-generation-id') ?? '';
}

/** All log records that were taken. */
const recordsIn = ({ requests }: OtlpReceiver): any[] =>
  requests
    .filter(({ path }) => path.endsWith('/v1/logs'))
    .flatMap(({ message }) => message.resourceLogs)
    .flatMap(({ scopeLogs }) => scopeLogs[0].logRecords);

const generationIn = (receiver: OtlpReceiver, id: string) =>
  recordsIn(receiver).find(({ attributes }) => membersOf(attributes).id === id);

/** The metrics that were taken last, by name. */
function metricsIn({ requests }: OtlpReceiver): Map<string, any> {
  const last = requests.findLast(({ path }) => path.endsWith('/v1/metrics'));
  const parts: any[] = last?.message.resourceMetrics ?? [];
  const metrics: any[] = parts.flatMap(({ scopeMetrics }) => scopeMetrics[0].metrics);
  return new Map(metrics.map((metric) => [metric.name, metric]));
}

async function scraped(gateway: TestGateway): Promise<string> {
  const response = await fetch(`${gateway.origin}/metrics`, {
    headers: { authorization: `Bearer ${gateway.managementKey}` },
  });
  expect(response.status).toBe(200);
  return response.text();
}

describe('telemetry', () => {
  it.each(['json', 'protobuf'])('sends the metrics of /metrics in %s', async (protocol) => {
    const receiver = await openReceiver();
    const gateway = await openSending(receiver, { protocol, endpoint: `${receiver.origin}/prefix/` });
    for (let count = 0; count < 3; count++) await ask(gateway);
    const counted = () =>
      metricsIn(receiver)
        .get('signalbox_generations_total')
        ?.sum.dataPoints.reduce((sum: number, { asDouble }: any) => sum + asDouble, 0);
    await expect.poll(counted).toBe(3);
    const text = await scraped(gateway);
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].filter(([, name]) =>
      new RegExp(`^${name}(_bucket)?[ {]`, 'm').test(text),
    );
    const kinds: Record<string, string> = { counter: 'sum', gauge: 'gauge', histogram: 'histogram' };
    await expect
      .poll(() => {
        const metrics = metricsIn(receiver);
        return types.filter(
          ([, name = '', type = '']) => metrics.get(name)?.[kinds[type] ?? ''] === undefined,
        );
      })
      .toEqual([]);
    expect(metricsIn(receiver).size).toBe(types.length);
    const [point] = metricsIn(receiver).get('signalbox_generation_seconds').histogram.dataPoints;
    expect(point.bucketCounts.length).toBe(point.explicitBounds.length + 1);
    expect(Number(point.count)).toBe(3);
    const [request] = receiver.requests;
    expect(request?.headers['x-token']).toBe('of-the-receiver');
    expect(request?.path).toMatch(/^\/prefix\/v1\/(metrics|logs)$/);
    expect(receiver.counts.faults).toEqual([]);
  });

  it('sends the lines of the log, with the span of the generation that they sum up', async () => {
    const receiver = await openReceiver();
    const gateway = await openSending(receiver);
    const own = await ask(gateway);
    const named = await ask(gateway, { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` });
    await expect.poll(() => generationIn(receiver, named)).toBeDefined();
    const record = await gateway.fetch(`/generation?id=${own}`);
    const { trace_id } = ((await record.json()) as any).data;
    expect(generationIn(receiver, own)).toMatchObject({
      traceId: trace_id,
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      severityNumber: 9,
      severityText: 'info',
    });
    expect(generationIn(receiver, named).traceId).toBe(TRACE);
    const line = gateway.logged('generation').find(({ id }) => id === own);
    const { attributes, body } = generationIn(receiver, own);
    const { time: _, level: __, message, ...members } = line as Record<string, unknown>;
    expect(body).toEqual({ stringValue: message });
    expect(membersOf(attributes)).toEqual(members);
  });

  it('sends no lines if the operator wants none, and nothing at all without a receiver', async () => {
    const receiver = await openReceiver();
    const gateway = await openSending(receiver, { logs: false });
    await ask(gateway);
    await expect.poll(() => metricsIn(receiver).get('signalbox_generations_total')).toBeDefined();
    expect(recordsIn(receiver)).toEqual([]);
    writeFileSync(gateway.configFile, stringify({ providers: [{ slug: 'simulator' }] }));
    await expect.poll(() => scraped(gateway)).not.toMatch(/^signalbox_telemetry_[a-z_]+[ {]/m);
    // What was on its way has come by now, and a stop would send the rest.
    await ask(gateway);
    const { came } = receiver.counts;
    await gateway.drain(1_000);
    expect(receiver.counts.came).toBe(came);
  });

  it('keeps lines while the receiver is away, and tells of it and of its return once', async () => {
    const receiver = await openReceiver();
    receiver.answer(() => ({ status: 503, headers: { 'retry-after': '1' } }));
    const gateway = await openSending(receiver);
    const ids = [await ask(gateway), await ask(gateway)];
    const PROBLEM = /^the receiver of telemetry does not take (metrics|logs)/;
    const told = (pattern: RegExp) =>
      gateway
        .logText()
        .split('\n')
        .filter((line) => pattern.test(String(line === '' ? '' : JSON.parse(line).message)));
    await expect.poll(() => told(PROBLEM).length).toBe(2);
    await expect.poll(() => receiver.counts.came).toBeGreaterThan(5);
    expect(told(PROBLEM).length).toBe(2);
    expect(told(PROBLEM).join()).not.toContain('of-the-receiver');
    expect(await scraped(gateway)).toContain('signalbox_telemetry_available{signal="logs"} 0');
    receiver.answer(() => undefined);
    await expect.poll(() => told(/takes (metrics|logs) again/).length).toBe(2);
    // Lines that came while others waited follow in a request of their own.
    const takenOf = (id: string) =>
      recordsIn(receiver).filter(({ attributes }) => membersOf(attributes).id === id).length;
    await expect.poll(() => ids.map(takenOf)).toEqual([1, 1]);
    expect(await scraped(gateway)).toContain('signalbox_telemetry_log_lines_dropped_total 0');
  });

  it('drops and counts lines that the receiver refuses', async () => {
    const receiver = await openReceiver();
    receiver.answer(() => ({ status: 400 }));
    const gateway = await openSending(receiver);
    await ask(gateway);
    await expect
      .poll(
        async () => /^signalbox_telemetry_log_lines_dropped_total (\d+)$/m.exec(await scraped(gateway))?.[1],
      )
      .toMatch(/^[1-9]/);
  });

  it('answers, and stops in time, beside a receiver that hangs', async () => {
    const receiver = await openReceiver();
    receiver.answer(() => null);
    const gateway = await openSending(receiver);
    await expect.poll(() => receiver.counts.came).toBeGreaterThan(0);
    await ask(gateway);
    const begunMs = performance.now();
    await gateway.drain(0);
    expect(performance.now() - begunMs).toBeLessThan(15_000);
  });

  it('sends the last metrics and lines at a stop', async () => {
    const receiver = await openReceiver();
    const gateway = await openSending(receiver, { metrics: { every_s: 3_600 } });
    await expect.poll(() => metricsIn(receiver).size).toBeGreaterThan(0);
    const id = await ask(gateway);
    await gateway.drain(1_000);
    expect(generationIn(receiver, id)).toBeDefined();
    expect(metricsIn(receiver).get('signalbox_generations_total').sum.dataPoints[0].asDouble).toBe(1);
  });
});
