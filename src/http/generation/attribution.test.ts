import { describe, expect, it } from 'vitest';
import { attributionOf } from './attribution.ts';

const bytes = (text: string) => Buffer.from(text).toString('latin1');

describe('attributionOf', () => {
  it('reads every header', () => {
    const headers = {
      'http-referer': 'https://app.example/x',
      'x-acme-title': bytes('Café'),
      'x-acme-categories': 'cli-agent, Roleplay',
      'user-agent': 'curl/8',
      'x-request-id': 'abc',
    };
    expect(attributionOf(headers, 'acme')).toEqual({
      referer: 'https://app.example/x',
      title: 'Café',
      categories: ['cli-agent', 'roleplay'],
      userAgent: 'curl/8',
      requestId: 'abc',
    });
    expect(attributionOf({}, 'acme')).toEqual({});
  });

  it('reads the trace that the request belongs to, if it is valid', () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    expect(attributionOf({ traceparent, tracestate: 'rojo=1, congo=2' }, 'acme')).toEqual({
      traceparent,
      tracestate: 'rojo=1,congo=2',
    });
    expect(attributionOf({ traceparent, tracestate: '=' }, 'acme')).toEqual({ traceparent });
    expect(
      attributionOf({ traceparent: `${traceparent}, ${traceparent}`, tracestate: 'a=1' }, 'acme'),
    ).toEqual({});
    expect(attributionOf({ tracestate: 'a=1' }, 'acme')).toEqual({});
  });

  it('takes the short name of the title where the long one is absent', () => {
    expect(attributionOf({ 'x-title': 'A' }, 'acme').title).toBe('A');
    expect(attributionOf({ 'x-title': 'A', 'x-acme-title': 'B' }, 'acme').title).toBe('B');
  });

  it('cuts what is too long', () => {
    expect(attributionOf({ 'x-title': 'x'.repeat(5000) }, 'acme').title).toBe('x'.repeat(128));
    expect(attributionOf({ 'http-referer': `https://a.b/${'x'.repeat(5000)}` }, 'acme').referer).toHaveLength(
      512,
    );
  });

  it.each([
    ['a line', 'a\tb'],
    ['a text that turns around', bytes('a\u202eb')],
    ['bytes that are no text', '\xff\xfe'],
    ['nothing', '  '],
  ])('leaves out %s', (_, value) => {
    expect(attributionOf({ 'x-title': value }, 'acme')).toEqual({});
  });

  it('leaves out categories that are none, and those beyond two', () => {
    const header = (value: string) => attributionOf({ 'x-acme-categories': value }, 'acme').categories;
    expect(header('game, legal, roleplay')).toEqual(['game', 'legal']);
    expect(header(`coding, mine, game, GAME, ${'x'.repeat(31)}, not one, -x, legal`)).toEqual([
      'game',
      'legal',
    ]);
    expect(header('mine')).toBeUndefined();
    expect(header(' , ,')).toBeUndefined();
  });
});
