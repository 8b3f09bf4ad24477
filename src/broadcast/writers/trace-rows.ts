import type { JsonObject } from '../../kit/json/json.ts';
import { gatewayResource, SERVICE_NAME } from '../encode-traces.ts';
import { type AnyValue, type KeyValue, SPAN_KINDS, type Span, STATUS_CODES } from '../otlp/messages.ts';

type Column = (span: Span, version: string) => JsonObject[string];

/** Columns of a table of spans, those of the OpenTelemetry Collector's tables in ClickHouse: what reads them fits. */
const COLUMNS: Readonly<Record<string, Column>> = {
  Timestamp: ({ startTimeUnixNano }) => seconds(startTimeUnixNano),
  TraceId: ({ traceId }) => traceId,
  SpanId: ({ spanId }) => spanId,
  ParentSpanId: ({ parentSpanId = '' }) => parentSpanId,
  TraceState: ({ traceState = '' }) => traceState,
  SpanName: ({ name }) => name,
  SpanKind: ({ kind }) => KIND_NAMES.get(kind) ?? 'Unspecified',
  ServiceName: () => SERVICE_NAME,
  ResourceAttributes: (_, version) => mapOf(gatewayResource(version).attributes),
  ScopeName: () => SERVICE_NAME,
  ScopeVersion: (_, version) => version,
  SpanAttributes: ({ attributes }) => mapOf(attributes),
  Duration: ({ startTimeUnixNano, endTimeUnixNano }) =>
    String(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)),
  StatusCode: ({ status }) => (status?.code === STATUS_CODES.error ? 'Error' : 'Unset'),
  StatusMessage: ({ status }) => status?.message ?? '',
  'Events.Timestamp': ({ events = [] }) => events.map(({ timeUnixNano }) => seconds(timeUnixNano)),
  'Events.Name': ({ events = [] }) => events.map(({ name }) => name),
  'Events.Attributes': ({ events = [] }) => events.map(({ attributes }) => mapOf(attributes)),
  'Links.TraceId': ({ links = [] }) => links.map(({ traceId }) => traceId),
  'Links.SpanId': ({ links = [] }) => links.map(({ spanId }) => spanId),
  'Links.TraceState': ({ links = [] }) => links.map(() => ''),
  'Links.Attributes': ({ links = [] }) => links.map(({ attributes }) => mapOf(attributes)),
};

export const TRACE_COLUMNS: readonly string[] = Object.keys(COLUMNS);

const COLUMN_LIST = Object.entries(COLUMNS);

const KIND_NAMES: ReadonlyMap<number, string> = new Map([
  [SPAN_KINDS.internal, 'Internal'],
  [SPAN_KINDS.server, 'Server'],
  [SPAN_KINDS.client, 'Client'],
]);

/** A span as a row. `version`: of the gateway. */
export function traceRow(span: Span, version: string): JsonObject {
  const row: JsonObject = {};
  for (const [name, column] of COLUMN_LIST) row[name] = column(span, version);
  return row;
}

/** Nanoseconds as seconds with a fraction: read the same whatever the time zone of the server. */
function seconds(nanoseconds: string): string {
  return `${nanoseconds.slice(0, -9)}.${nanoseconds.slice(-9)}`;
}

function mapOf(attributes: readonly KeyValue[] = []): JsonObject {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, textOfValue(value)]));
}

function textOfValue(value: AnyValue): string {
  const { stringValue, intValue, doubleValue, boolValue } = value;
  const plain = stringValue ?? intValue ?? doubleValue ?? boolValue;
  return plain === undefined ? JSON.stringify(jsonOf(value)) : String(plain);
}

function jsonOf({ arrayValue, kvlistValue, ...plain }: AnyValue): JsonObject[string] {
  if (arrayValue !== undefined) return arrayValue.values.map((each) => jsonOf(each) ?? null);
  if (kvlistValue !== undefined) {
    return Object.fromEntries(kvlistValue.values.map(({ key, value }) => [key, jsonOf(value) ?? null]));
  }
  const { intValue, ...others } = plain;
  return intValue === undefined ? Object.values(others)[0] : Number(intValue);
}
