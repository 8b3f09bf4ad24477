import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeJson, decodeProtobuf } from '../../../test/kit/fakes/otlp-decoder.ts';
import { encodeOtlp } from './encode.ts';
import type { AnyValue, ExportMetricsServiceRequest, ExportTraceServiceRequest } from './messages.ts';

const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits });
const nano = fc.bigInt(0n, 2n ** 64n - 1n).map(String);
const text = fc.string({ unit: 'grapheme' });
const int64 = fc
  .oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.integer().map(BigInt), fc.nat().map(BigInt))
  .map(String);
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0));

const { value } = fc.letrec<{ value: AnyValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text.map((stringValue) => ({ stringValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    int64.map((intValue) => ({ intValue })),
    double.map((doubleValue) => ({ doubleValue })),
    fc.array(tie('value'), { minLength: 1, maxLength: 3 }).map((values) => ({ arrayValue: { values } })),
    fc
      .array(fc.record({ key: text, value: tie('value') }), { minLength: 1, maxLength: 3 })
      .map((values) => ({ kvlistValue: { values } })),
  ),
}));
const attributes = fc.array(fc.record({ key: text, value }), { minLength: 1, maxLength: 4 });

const span = fc.record(
  {
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16),
    traceState: text,
    flags: fc.nat(2 ** 32 - 1),
    name: fc.oneof(
      text,
      fc.nat(40_000).map((length) => 'ä'.repeat(length)),
    ),
    kind: fc.nat(5),
    startTimeUnixNano: nano,
    endTimeUnixNano: nano,
    attributes,
    droppedAttributesCount: fc.nat(),
    events: fc.array(fc.record({ timeUnixNano: nano, name: text, attributes }), {
      minLength: 1,
      maxLength: 2,
    }),
    links: fc.array(fc.record({ traceId: hex(32), spanId: hex(16) }), { minLength: 1, maxLength: 2 }),
    status: fc.record({ code: fc.constant(2), message: text }),
  },
  { requiredKeys: ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'] },
);

const traces = fc.array(span, { minLength: 1, maxLength: 4 }).map(
  (spans): ExportTraceServiceRequest => ({
    resourceSpans: [
      { resource: { attributes: [] }, scopeSpans: [{ scope: { name: 's', version: '1' }, spans }] },
    ],
  }),
);

/** An empty list and no list are the same in protobuf. */
const withoutEmptyLists = (message: unknown): unknown =>
  JSON.parse(
    JSON.stringify(message, (_, member) =>
      Array.isArray(member) && member.length === 0 ? undefined : member,
    ),
  );

describe('encodeOtlp', () => {
  it('gives a decoder of the protocol what was encoded, in both encodings', () => {
    fc.assert(
      fc.property(traces, (request) => {
        const asProtobuf = encodeOtlp('ExportTraceServiceRequest', request, 'protobuf');
        const asJson = encodeOtlp('ExportTraceServiceRequest', request, 'json');
        const expected = withoutEmptyLists(request);
        expect(decodeProtobuf('ExportTraceServiceRequest', asProtobuf.body)).toEqual(expected);
        expect(
          withoutEmptyLists(decodeJson('ExportTraceServiceRequest', JSON.parse(asJson.body.toString()))),
        ).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });

  it('says which encoding it is', () => {
    const empty = { resourceSpans: [] };
    expect(encodeOtlp('ExportTraceServiceRequest', empty, 'protobuf')).toEqual({
      body: Buffer.alloc(0),
      contentType: 'application/x-protobuf',
    });
    expect(encodeOtlp('ExportTraceServiceRequest', empty, 'json')).toEqual({
      body: Buffer.from('{"resourceSpans":[]}'),
      contentType: 'application/json',
    });
  });

  it('writes lists of numbers packed, under one tag', () => {
    const request: ExportMetricsServiceRequest = {
      resourceMetrics: [
        {
          resource: { attributes: [] },
          scopeMetrics: [
            {
              scope: { name: 's', version: '1' },
              metrics: [
                {
                  name: 'm',
                  description: 'd',
                  histogram: {
                    aggregationTemporality: 2,
                    dataPoints: [
                      {
                        timeUnixNano: '5',
                        count: '6',
                        sum: 7.5,
                        bucketCounts: ['1', '2', '3'],
                        explicitBounds: [0.5, 1],
                      },
                    ],
                  },
                },
              ],
            },
          ],
        },
      ],
    };
    const { body } = encodeOtlp('ExportMetricsServiceRequest', request, 'protobuf');
    expect(decodeProtobuf('ExportMetricsServiceRequest', body)).toEqual(withoutEmptyLists(request));
    // Field 6 as one run of 24 bytes, field 7 as one of 16.
    expect(body.includes(Buffer.from([0x32, 24, 1, 0, 0, 0]))).toBe(true);
    expect(body.includes(Buffer.from([0x3a, 16]))).toBe(true);
  });
});
