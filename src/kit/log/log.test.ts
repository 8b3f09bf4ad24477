import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openLog } from './log.ts';
import type { LogLevel } from './log-level.ts';
import { redactFields } from './redact-fields.ts';

function capture(readable: boolean, level: LogLevel = 'debug') {
  const lines: string[] = [];
  const log = openLog({ level, readable, write: (line) => lines.push(line), now: () => 0 });
  return { lines, log };
}

describe('openLog', () => {
  it('writes one JSON object a line', () => {
    const { lines, log } = capture(false);
    log.info('listening', { port: 8787 });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'info',
      message: 'listening',
      port: 8787,
    });
  });

  it('keeps every line one line, whatever is in it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.boolean(),
        (message, value, readable) => {
          const { lines, log } = capture(readable);
          log.warn(message, { value, nested: { [value]: value } });
          expect(lines).toHaveLength(1);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
          expect(lines[0]!.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
          if (!readable) expect(JSON.parse(lines[0]!)).toHaveProperty('value');
        },
      ),
    );
  });

  it('cannot be made to forge a line or steer a terminal', () => {
    for (const readable of [true, false]) {
      const { lines, log } = capture(readable);
      log.info('a\n{"level":"error"}\u001b[31m', { agent: 'x\r\ny\u009b0m' });
      expect(lines.join('').split('\n')).toHaveLength(2);
      expect(lines[0]).not.toContain('\u001b');
      expect(lines[0]).not.toContain('\u009b');
    }
  });

  it('says when, to the millisecond', () => {
    const moments = [0, 7, 999, 1000, 1_794_780_288_148, 1_794_780_288_049, -1];
    const lines: string[] = [];
    let next = 0;
    const now = () => moments[next++] as number;
    const log = openLog({ level: 'info', readable: false, write: (line) => lines.push(line), now });
    for (const _ of moments) log.info('m');
    expect(lines.map((line) => JSON.parse(line).time)).toEqual(
      moments.map((ms) => new Date(ms).toISOString()),
    );
  });

  it('shows any value as JSON does, secrets apart', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^f\w*$/), fc.jsonValue({ maxDepth: 2 })), (fields) => {
        const { lines, log } = capture(false);
        log.info('m', fields);
        const { time: _time, level: _level, message: _message, ...shown } = JSON.parse(lines[0]!);
        expect(shown).toEqual(JSON.parse(JSON.stringify(redactFields(fields))));
      }),
    );
  });

  it.each(['Bearer supersecretvalue', 'sk-sb-v1-0011', 'x sk-ABCDEFGH', 'http://me:passw0rd@host'])(
    'writes no secret of a short text: %s',
    (text) => {
      const { lines, log } = capture(false);
      log.info(text, { text });
      expect(lines[0]).not.toContain(text);
    },
  );

  it('drops what is below its level', () => {
    const { lines, log } = capture(false, 'warn');
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(['c', 'd']);
  });

  it('survives values that cannot be written', () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const hostile = {
      get boom(): string {
        throw new Error('no');
      },
    };
    const { lines, log } = capture(false);
    log.error('x', {
      circular,
      hostile,
      big: 10n,
      made: () => 1,
      error: new Error('y', { cause: circular }),
    });
    expect(JSON.parse(lines[0]!)).toMatchObject({
      big: '10',
      hostile: { boom: '(unreadable)' },
      error: { message: 'y' },
    });
    const failing = openLog({
      level: 'info',
      readable: false,
      now: () => 0,
      write: () => {
        throw new Error('pipe is gone');
      },
    });
    expect(() => failing.info('x')).not.toThrow();
  });

  it('puts bound fields on every line, and lets no field replace the message', () => {
    const { lines, log } = capture(false);
    log.with({ request_id: 'r1' }).info('m', { message: 'forged', level: 'error' });
    expect(JSON.parse(lines[0]!)).toMatchObject({ request_id: 'r1', message: 'm', level: 'info' });
  });
});

describe('redactFields', () => {
  it('shows the code instead of the stack for failures of the surroundings', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const shown = redactFields({
      refused,
      wrapped: new Error('no database', { cause: refused }),
      ours: Object.assign(new TypeError('bad'), { code: 'ERR_INVALID_ARG_TYPE' }),
    });
    expect(shown.refused).toEqual({ name: 'Error', message: 'connect', code: 'ECONNREFUSED' });
    expect(shown.wrapped).not.toHaveProperty('stack');
    expect(shown.ours).toHaveProperty('stack');
  });

  it('masks secrets by the name of their field, at any depth', () => {
    expect(
      redactFields({
        api_key: 'sk-live-0123456789',
        headers: { Authorization: 'Bearer abcdefghijklmnop', 'x-api-key': 'short' },
        tokens: 12,
      }),
    ).toEqual({
      api_key: 'sk-...6789',
      headers: { Authorization: 'Bea...mnop', 'x-api-key': '...' },
      tokens: 12,
    });
  });

  it('masks secrets by their shape inside text', () => {
    const redacted = JSON.stringify(
      redactFields({
        error: new Error('upstream said: Bearer supersecretvalue and sk-sb-v1-00112233445566778899'),
        url: 'postgres://user:passw0rd-long-enough@db/x',
      }),
    );
    expect(redacted).not.toContain('supersecretvalue');
    expect(redacted).not.toContain('00112233445566778899');
    expect(redacted).not.toContain('passw0rd-long-enough');
    expect(redacted).toContain('postgres://user:pas...ough@db/x');
  });
});
