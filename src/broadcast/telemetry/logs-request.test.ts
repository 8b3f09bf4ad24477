import { describe, expect, it } from 'vitest';
import { GenerationIds } from '../../ir/trace.ts';
import { logsRequests } from './logs-request.ts';

const SOURCE = {
  resource: { attributes: [] },
  scope: { name: 'signalbox', version: '1.0.0' },
  startMs: 0,
};

function recordOf(line: string) {
  const [request] = logsRequests([line], SOURCE, 1_000);
  return request?.resourceLogs[0]?.scopeLogs[0]?.logRecords[0];
}

describe('logsRequests', () => {
  it('makes parts of many lines, with each line once', () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}`);
    const parts = [...logsRequests(lines, SOURCE, 1_000)];
    expect(parts.length).toBeGreaterThan(10);
    const records = parts.flatMap(({ resourceLogs }) => resourceLogs[0]?.scopeLogs[0]?.logRecords ?? []);
    expect(records.map(({ body }) => body.stringValue)).toEqual(lines);
  });

  it('makes a record of a line: its time, severity, message and members', () => {
    const line = JSON.stringify({
      time: '2026-11-19T10:00:00.123Z',
      level: 'warn',
      message: 'a tool failed',
      tool: 'shell',
      attempts: [{ status: 502 }],
    });
    expect(recordOf(line)).toEqual({
      timeUnixNano: `${Date.parse('2026-11-19T10:00:00.123Z')}000000`,
      observedTimeUnixNano: '1000000000',
      severityNumber: 13,
      severityText: 'warn',
      body: { stringValue: 'a tool failed' },
      attributes: [
        { key: 'tool', value: { stringValue: 'shell' } },
        {
          key: 'attempts',
          value: {
            arrayValue: {
              values: [{ kvlistValue: { values: [{ key: 'status', value: { intValue: '502' } }] } }],
            },
          },
        },
      ],
    });
  });

  it('names the span of a generation in the line that sums it up, and in no other', () => {
    const id = 'gen-1794892624-6l9r2DXYGDJmKWOZUQd3';
    const ids = new GenerationIds(id);
    const lineOf = (fields: object) =>
      JSON.stringify({ time: '2026-11-19T10:00:00Z', level: 'info', message: 'generation', ...fields });
    expect(recordOf(lineOf({ id, outcome: 'finished' }))).toMatchObject({
      traceId: ids.ownTraceId,
      spanId: ids.root,
    });
    const named = 'ab'.repeat(16);
    expect(recordOf(lineOf({ id, outcome: 'failed', trace_id: named }))).toMatchObject({
      traceId: named,
      spanId: ids.root,
    });
    for (const fields of [{ generation_id: id }, { id: 'other', outcome: 'finished' }]) {
      expect(recordOf(lineOf(fields))).not.toHaveProperty('traceId');
    }
  });

  it.each([
    ['last words', 'FATAL ERROR: \u001b[31mheap\u001b[0m', 'FATAL ERROR: heap'],
    ['a number', '7', '7'],
    ['broken JSON', '{"level":"info"', '{"level":"info"'],
  ])('sends %s as they are', (_, line, body) => {
    expect(recordOf(line)).toEqual({
      timeUnixNano: '0',
      observedTimeUnixNano: '1000000000',
      severityNumber: 0,
      severityText: '',
      body: { stringValue: body },
    });
  });
});
