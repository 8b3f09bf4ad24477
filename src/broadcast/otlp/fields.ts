import type { Messages } from './messages.ts';

/** How the values of a field are written in protobuf. `id`: bytes, which JSON has as hexadecimal digits. */
export type ScalarType =
  | 'string'
  | 'bool'
  | 'int64'
  | 'uint32'
  | 'enum'
  | 'double'
  | 'fixed32'
  | 'fixed64'
  | 'id';

export type MessageName = keyof Messages;

/** Number and type of a field: of one value, or of each value of a list. */
export type Field = readonly [number: number, type: ScalarType | MessageName];

/**
 * The fields of the messages that the gateway sends, by their names in JSON: the one place with their numbers. Fields
 * with the default value of their type are left out, unless they belong to a `oneof`.
 */
export const FIELDS: { readonly [Name in MessageName]: FieldsOf<Messages[Name]> } = {
  AnyValue: {
    stringValue: [1, 'string'],
    boolValue: [2, 'bool'],
    intValue: [3, 'int64'],
    doubleValue: [4, 'double'],
    arrayValue: [5, 'ArrayValue'],
    kvlistValue: [6, 'KeyValueList'],
  },
  ArrayValue: { values: [1, 'AnyValue'] },
  KeyValueList: { values: [1, 'KeyValue'] },
  KeyValue: { key: [1, 'string'], value: [2, 'AnyValue'] },
  Resource: { attributes: [1, 'KeyValue'] },
  InstrumentationScope: { name: [1, 'string'], version: [2, 'string'] },
  ExportTraceServiceRequest: { resourceSpans: [1, 'ResourceSpans'] },
  ResourceSpans: { resource: [1, 'Resource'], scopeSpans: [2, 'ScopeSpans'], schemaUrl: [3, 'string'] },
  ScopeSpans: { scope: [1, 'InstrumentationScope'], spans: [2, 'Span'], schemaUrl: [3, 'string'] },
  Span: {
    traceId: [1, 'id'],
    spanId: [2, 'id'],
    traceState: [3, 'string'],
    parentSpanId: [4, 'id'],
    name: [5, 'string'],
    kind: [6, 'enum'],
    startTimeUnixNano: [7, 'fixed64'],
    endTimeUnixNano: [8, 'fixed64'],
    attributes: [9, 'KeyValue'],
    droppedAttributesCount: [10, 'uint32'],
    events: [11, 'Span.Event'],
    links: [13, 'Span.Link'],
    status: [15, 'Status'],
    flags: [16, 'fixed32'],
  },
  'Span.Event': { timeUnixNano: [1, 'fixed64'], name: [2, 'string'], attributes: [3, 'KeyValue'] },
  'Span.Link': { traceId: [1, 'id'], spanId: [2, 'id'], attributes: [4, 'KeyValue'] },
  Status: { message: [2, 'string'], code: [3, 'enum'] },
  ExportMetricsServiceRequest: { resourceMetrics: [1, 'ResourceMetrics'] },
  ResourceMetrics: { resource: [1, 'Resource'], scopeMetrics: [2, 'ScopeMetrics'] },
  ScopeMetrics: { scope: [1, 'InstrumentationScope'], metrics: [2, 'Metric'] },
  Metric: {
    name: [1, 'string'],
    description: [2, 'string'],
    unit: [3, 'string'],
    gauge: [5, 'Gauge'],
    sum: [7, 'Sum'],
    histogram: [9, 'Histogram'],
  },
  Gauge: { dataPoints: [1, 'NumberDataPoint'] },
  Sum: { dataPoints: [1, 'NumberDataPoint'], aggregationTemporality: [2, 'enum'], isMonotonic: [3, 'bool'] },
  Histogram: { dataPoints: [1, 'HistogramDataPoint'], aggregationTemporality: [2, 'enum'] },
  NumberDataPoint: {
    startTimeUnixNano: [2, 'fixed64'],
    timeUnixNano: [3, 'fixed64'],
    asDouble: [4, 'double'],
    attributes: [7, 'KeyValue'],
  },
  HistogramDataPoint: {
    startTimeUnixNano: [2, 'fixed64'],
    timeUnixNano: [3, 'fixed64'],
    count: [4, 'fixed64'],
    sum: [5, 'double'],
    bucketCounts: [6, 'fixed64'],
    explicitBounds: [7, 'double'],
    attributes: [9, 'KeyValue'],
  },
  ExportLogsServiceRequest: { resourceLogs: [1, 'ResourceLogs'] },
  ResourceLogs: { resource: [1, 'Resource'], scopeLogs: [2, 'ScopeLogs'] },
  ScopeLogs: { scope: [1, 'InstrumentationScope'], logRecords: [2, 'LogRecord'] },
  LogRecord: {
    timeUnixNano: [1, 'fixed64'],
    severityNumber: [2, 'enum'],
    severityText: [3, 'string'],
    body: [5, 'AnyValue'],
    attributes: [6, 'KeyValue'],
    traceId: [9, 'id'],
    spanId: [10, 'id'],
    observedTimeUnixNano: [11, 'fixed64'],
  },
};

/** Every member of a message has a field. */
type FieldsOf<Message> = { readonly [Member in keyof Message]-?: Field };
