import { describe, expect, it } from 'vitest';
import { camelCase, OTLP_ENUMS, OTLP_MESSAGES } from '../../../test/kit/fakes/otlp-decoder.ts';
import { FIELDS, type Field } from './fields.ts';
import { CUMULATIVE, SPAN_KINDS, STATUS_CODES } from './messages.ts';

/** The type of a field in the protocol by its name in the table. */
const TYPES: Readonly<Record<string, string>> = { id: 'bytes', 'Span.Event': 'Event', 'Span.Link': 'Link' };

describe('the table of fields', () => {
  it.each(Object.entries(FIELDS))('has the numbers and types of the protocol for %s', (message, fields) => {
    const official = Object.fromEntries(
      Object.entries(OTLP_MESSAGES[message] ?? {}).map(([name, field]) => [camelCase(name), field]),
    );
    for (const [name, [number, type]] of Object.entries(fields as Record<string, Field>)) {
      const [officialNumber, officialType = ''] = official[name] ?? [];
      const bare = officialType.replace('repeated ', '');
      expect([name, number]).toEqual([name, officialNumber]);
      expect([name, OTLP_ENUMS[bare] === undefined ? bare : 'enum']).toEqual([name, TYPES[type] ?? type]);
    }
  });

  it('has the numbers of the enumerations that are used', () => {
    const { SpanKind, StatusCode, AggregationTemporality } = OTLP_ENUMS as Record<string, any>;
    expect(SPAN_KINDS).toEqual({
      internal: SpanKind.SPAN_KIND_INTERNAL,
      server: SpanKind.SPAN_KIND_SERVER,
      client: SpanKind.SPAN_KIND_CLIENT,
    });
    expect(STATUS_CODES.error).toBe(StatusCode.STATUS_CODE_ERROR);
    expect(CUMULATIVE).toBe(AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE);
  });
});
