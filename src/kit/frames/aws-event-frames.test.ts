import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  awsEvent,
  awsException,
  awsMessage,
  awsStream,
} from '../../../test/kit/fixtures/bedrock/aws-events.ts';
import { AwsEventReader } from './aws-event-frames.ts';
import { BrokenFrames, type Frame, FrameTooLarge } from './frames.ts';

const STREAM = Buffer.concat([
  awsEvent('first', { text: 'Grüße 🌦' }),
  awsEvent('second', { text: '' }),
  awsException('throttlingException', { message: 'slow down' }),
]);

const FRAMES: readonly Frame[] = [
  { event: 'first', data: '{"text":"Grüße 🌦"}' },
  { event: 'second', data: '{"text":""}' },
  { event: 'throttlingException', data: '{"message":"slow down"}' },
];

function read(bytes: Uint8Array, size = bytes.length, maxBytes = 1000): Frame[] {
  const reader = new AwsEventReader(maxBytes);
  const frames: Frame[] = [];
  for (let start = 0; start < bytes.length; start += size) {
    frames.push(...reader.push(bytes.subarray(start, start + size)));
  }
  return [...frames, ...reader.end()];
}

describe('the binary event stream of AWS', () => {
  it('gives the same frames however it is cut', () => {
    for (let size = 1; size <= STREAM.length; size++) expect(read(STREAM, size)).toEqual(FRAMES);
  });

  it('gives a frame as soon as its last byte is there', () => {
    const reader = new AwsEventReader();
    const [first] = FRAMES;
    const message = awsEvent('first', { text: 'Grüße 🌦' });
    expect(reader.push(message.subarray(0, -1))).toEqual([]);
    expect(reader.push(message.subarray(-1))).toEqual([first]);
    expect(reader.push(new Uint8Array(0))).toEqual([]);
  });

  it('skips headers of every other type', () => {
    const message = awsMessage(
      {
        true: Buffer.from([0]),
        false: Buffer.from([1]),
        byte: Buffer.from([2, 1]),
        short: Buffer.from([3, 1, 2]),
        integer: Buffer.from([4, 1, 2, 3, 4]),
        long: Buffer.from([5, 1, 2, 3, 4, 5, 6, 7, 8]),
        bytes: Buffer.from([6, 0, 3, 1, 2, 3]),
        timestamp: Buffer.from([8, 1, 2, 3, 4, 5, 6, 7, 8]),
        uuid: Buffer.from([9, ...new Uint8Array(16)]),
        ':message-type': 'event',
        ':event-type': 'last',
      },
      '{}',
    );
    expect(read(message)).toEqual([{ event: 'last', data: '{}' }]);
  });

  it('reports errors, with or without a payload', () => {
    const headers = { ':message-type': 'error', ':error-code': 'Oops', ':error-message': 'It "broke"' };
    expect(read(awsMessage(headers))).toEqual([{ event: 'Oops', data: '{"message":"It \\"broke\\""}' }]);
    expect(read(awsMessage(headers, '{"message":"a"}'))).toEqual([
      { event: 'Oops', data: '{"message":"a"}' },
    ]);
    const exception = { ':message-type': 'exception', ':exception-type': 'modelStreamErrorException' };
    expect(read(awsMessage(exception))).toEqual([{ event: 'modelStreamErrorException', data: '{}' }]);
  });

  it('reads a message without headers, and one that says nothing', () => {
    expect(read(awsMessage({}, '{"a":1}'))).toEqual([{ data: '{"a":1}' }]);
    const empty = awsMessage({ ':message-type': 'event', ':event-type': 'initial-response' });
    expect(read(empty)).toEqual([{ event: 'initial-response', data: '' }]);
  });

  it('takes many headers, but no more than AWS ever sends', () => {
    const headers = (length: number) =>
      Object.fromEntries(Array.from({ length }, (_, index) => [`h${index}`, Buffer.from([0])]));
    expect(read(awsMessage(headers(100), '{}'))).toEqual([{ data: '{}' }]);
    expect(() => read(awsMessage(headers(101), '{}'), 5000, 5000)).toThrow('more than 100 headers');
  });

  it('refuses headers above the cap as soon as their length is known', () => {
    const sized = (bytes: number) =>
      Object.fromEntries(
        Array.from({ length: 3 }, (_, index) => [
          `h${index}`,
          Buffer.concat([Buffer.from([6, bytes >> 8, bytes & 255]), Buffer.alloc(bytes)]),
        ]),
      );
    const most = 1024 * 1024;
    expect(read(awsMessage(sized(43_000), '{}'), most, most)).toEqual([{ data: '{}' }]);
    const large = awsMessage(sized(44_000), '{}');
    expect(() => read(large.subarray(0, 12), 12, most)).toThrow('the headers of an event are larger than');
  });

  it('finds every changed byte', () => {
    const message = awsEvent('first', { text: 'x' });
    fc.assert(
      fc.property(fc.nat(message.length - 1), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const broken = Buffer.from(message);
        broken[place] = (broken[place] ?? 0) ^ change;
        expect(() => read(broken)).toThrow(BrokenFrames);
      }),
    );
  });

  it.each([
    ['a length below the least', 15, 0],
    ['headers beyond the end', 20, 5],
  ])('refuses %s', (_, total, headers) => {
    const prelude = awsMessage({}, '').subarray(0, 12);
    prelude.writeUInt32BE(total, 0);
    prelude.writeUInt32BE(headers, 4);
    const sealed = withChecksum(prelude);
    expect(() => read(sealed)).toThrow(/contradict/);
  });

  it.each([
    ['of an unknown type', Buffer.from([10, 0])],
    ['that is cut off', Buffer.from([7, 0, 9, 1])],
  ])('refuses a header %s', (_, value) => {
    expect(() => read(awsMessage({ bad: value }, '{}'))).toThrow(BrokenFrames);
  });

  it('refuses a message above the cap as soon as its length is known', () => {
    const message = awsEvent('first', { text: 'x'.repeat(1000) });
    expect(() => read(message.subarray(0, 12))).toThrow(FrameTooLarge);
    expect(read(message, 100, message.length)).toHaveLength(1);
  });

  it('returns nothing for half a message', () => {
    expect(read(STREAM.subarray(0, -1))).toEqual(FRAMES.slice(0, 2));
  });

  it('takes time that grows with the bytes and not faster', () => {
    const stream = awsStream(Array.from({ length: 5_000 }, (_, index) => ({ event: { index } })));
    const before = process.cpuUsage();
    expect(read(stream)).toHaveLength(5_000);
    expect(read(stream, 3)).toHaveLength(5_000);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000);
  });
});

function withChecksum(prelude: Buffer): Buffer {
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  return prelude;
}
