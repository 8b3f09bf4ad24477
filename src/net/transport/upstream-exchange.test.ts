import { afterEach, describe, expect, it } from 'vitest';
import { UpstreamExchange } from './upstream-exchange.ts';

const opened: UpstreamExchange[] = [];

afterEach(async () => {
  for (const exchange of opened.splice(0)) await exchange.return();
});

function open(): UpstreamExchange {
  const timeouts = { connect: 1000, firstByte: 1000, idle: 1000, total: 1000 };
  const exchange = new UpstreamExchange({ signal: new AbortController().signal, timeouts }, 1_000_000);
  opened.push(exchange);
  return exchange;
}

/** What all sockets read into. */
const shared = Buffer.alloc(4096);

/** Has an exchange read text that a socket has put where the next puts its own. */
function read(exchange: UpstreamExchange, text: string | Uint8Array, at = 7): boolean {
  const bytes = Buffer.from(text);
  bytes.copy(shared, at);
  const goesOn = exchange.onRead(shared, at, at + bytes.length);
  shared.fill('#');
  return goesOn;
}

const textOf = (chunk: Uint8Array | undefined) => chunk && Buffer.from(chunk).toString();

describe('bytes that a socket has read', () => {
  it('are handed out at once to a reader that waits', () => {
    const exchange = open();
    const texts: (string | undefined)[] = [];
    const wake = () => {
      texts.push(textOf(exchange.poll()), textOf(exchange.poll()));
      exchange.whenReady(wake);
    };
    exchange.whenReady(wake);
    read(exchange, 'one');
    read(exchange, 'zwölf.', 100);
    expect(texts).toEqual(['one', undefined, 'zwölf.', undefined]);
    expect(exchange.poll()).toBeUndefined();
  });

  it.each([
    ['no reader waits for them', false, 'some'],
    ['the reader that waits does not take them', true, 'some'],
    ['they end in the middle of a character', false, Buffer.from('ü').subarray(0, 1)],
  ])('are kept if %s', (_, waits, bytes) => {
    const exchange = open();
    let isWoken = false;
    if (waits)
      exchange.whenReady(() => {
        isWoken = true;
      });
    expect(read(exchange, bytes)).toBe(true);
    expect(isWoken).toBe(waits);
    expect(exchange.whenReady(() => {})).toBe(false);
    expect(exchange.poll()).toEqual(Buffer.from(bytes));
    expect(exchange.poll()).toBeUndefined();
  });

  it('come after those that wait', () => {
    const exchange = open();
    read(exchange, 'one ');
    read(exchange, 'two ');
    exchange.onBytes(Buffer.from('three '));
    read(exchange, 'four');
    expect(textOf(exchange.poll())).toBe('one two three four');
  });

  it('stay as they were when the socket reads into the same place', () => {
    const exchange = open();
    let chunk: Uint8Array | undefined;
    exchange.whenReady(() => {
      chunk = exchange.poll();
    });
    read(exchange, 'some');
    expect(textOf(chunk)).toBe('some');
    expect(exchange.poll()).toBeUndefined();
  });

  it('are handed out before the end, also if the reader did not take them when woken', async () => {
    const exchange = open();
    exchange.whenReady(() => {});
    read(exchange, 'one ');
    exchange.onEnd(Buffer.from('two'));
    expect(textOf((await exchange.next()).value)).toBe('one two');
    expect(await exchange.next()).toEqual({ done: true, value: undefined });
  });

  it('are dropped when the reader returns', async () => {
    const exchange = open();
    exchange.whenReady(() => void exchange.return());
    expect(read(exchange, 'some')).toBe(false);
    expect(exchange.poll()).toBeUndefined();
    await expect(exchange.next()).rejects.toThrow('closed by the reader');
  });

  it('pause the socket above the high-water mark', () => {
    const exchange = open();
    let goesOn = true;
    for (let time = 0; time < 4; time++) goesOn = exchange.onRead(shared, 0, 4096);
    expect(goesOn).toBe(false);
    expect(exchange.poll()).toHaveLength(4 * 4096);
  });
});
