import { describe, expect, it } from 'vitest';
import { traceUrl, traceUrlProblem } from './trace-url.ts';

const VALUES = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), generation_id: 'gen-1 &x' };

describe('traceUrl', () => {
  it('fills every placeholder, wherever it stands', () => {
    const template = 'https://t.example/{trace_id}?span={span_id}&g={generation_id}#{trace_id}';
    expect(traceUrlProblem(template)).toBeUndefined();
    expect(traceUrl(template, VALUES)).toBe(
      `https://t.example/${VALUES.trace_id}?span=${VALUES.span_id}&g=gen-1%20%26x#${VALUES.trace_id}`,
    );
  });

  it('leaves percent-encoded braces of receivers as they are', () => {
    const template = 'http://grafana:3000/explore?left=%7B"query":"{trace_id}"%7D';
    expect(traceUrlProblem(template)).toBeUndefined();
    expect(traceUrl(template, VALUES)).toContain(`%7B"query":"${VALUES.trace_id}"%7D`);
  });

  it.each([
    ['https://t.example/{traceid}', 'has {traceid}, which is no placeholder'],
    ['https://t.example/{trace_id}/{}', 'has {}, which is no placeholder'],
    ['https://t.example/{constructor}{trace_id}', 'has {constructor}'],
    ['https://t.example/{{trace_id}}', 'has {, which is no placeholder'],
    ['https://t.example/', 'needs {trace_id} or {generation_id}'],
    ['https://t.example/{span_id}', 'needs {trace_id} or {generation_id}'],
    ['ftp://t.example/{trace_id}', 'must be an http or https address'],
    ['https://t.example:99999/{trace_id}', 'must be an http or https address'],
    ['https://ada:word@t.example/{trace_id}', 'must not hold a user or password'],
    ['https://{trace_id}.example/', 'must have its placeholders behind the host'],
    ['https://t.example', 'needs'],
  ])('refuses %s', (template, problem) => {
    expect(traceUrlProblem(template)).toContain(problem);
  });
});
