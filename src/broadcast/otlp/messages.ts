/**
 * Messages of OTLP as objects in the shape of its JSON: names in lower camel case, ids as hexadecimal digits, 64-bit
 * integers as decimal text, enumerations as numbers. Undefined members are absent in both encodings.
 */

/** Exactly one member is set. */
export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly arrayValue?: ArrayValue;
  readonly kvlistValue?: KeyValueList;
}

export interface ArrayValue {
  readonly values: readonly AnyValue[];
}

export interface KeyValueList {
  readonly values: readonly KeyValue[];
}

export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

export interface Resource {
  readonly attributes: readonly KeyValue[];
}

/** The part of a program that a message is from. */
export interface InstrumentationScope {
  readonly name: string;
  readonly version: string;
}

// --- Traces ---

export interface ExportTraceServiceRequest {
  readonly resourceSpans: readonly ResourceSpans[];
}

export interface ResourceSpans {
  readonly resource: Resource;
  readonly scopeSpans: readonly ScopeSpans[];
  readonly schemaUrl?: string;
}

export interface ScopeSpans {
  readonly scope: InstrumentationScope;
  readonly spans: readonly Span[];
  readonly schemaUrl?: string;
}

export const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const;

export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly traceState?: string | undefined;
  readonly parentSpanId?: string | undefined;
  /** The flags of W3C trace context, and whether the parent is known to be remote. */
  readonly flags?: number | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[] | undefined;
  readonly droppedAttributesCount?: number | undefined;
  readonly events?: readonly SpanEvent[] | undefined;
  readonly links?: readonly SpanLink[] | undefined;
  readonly status?: Status | undefined;
}

export interface SpanEvent {
  readonly timeUnixNano: string;
  readonly name: string;
  readonly attributes?: readonly KeyValue[] | undefined;
}

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes?: readonly KeyValue[] | undefined;
}

export const STATUS_CODES = { error: 2 } as const;

export interface Status {
  readonly message?: string | undefined;
  readonly code: number;
}

// --- Metrics ---

export interface ExportMetricsServiceRequest {
  readonly resourceMetrics: readonly ResourceMetrics[];
}

export interface ResourceMetrics {
  readonly resource: Resource;
  readonly scopeMetrics: readonly ScopeMetrics[];
}

export interface ScopeMetrics {
  readonly scope: InstrumentationScope;
  readonly metrics: readonly Metric[];
}

/** Has one of `gauge`, `sum` and `histogram`. */
export interface Metric {
  readonly name: string;
  readonly description: string;
  readonly unit?: string | undefined;
  readonly gauge?: Gauge | undefined;
  readonly sum?: Sum | undefined;
  readonly histogram?: Histogram | undefined;
}

export interface Gauge {
  readonly dataPoints: readonly NumberDataPoint[];
}

/** Values count from the start of the process. */
export const CUMULATIVE = 2;

export interface Sum {
  readonly dataPoints: readonly NumberDataPoint[];
  readonly aggregationTemporality: number;
  readonly isMonotonic: boolean;
}

export interface Histogram {
  readonly dataPoints: readonly HistogramDataPoint[];
  readonly aggregationTemporality: number;
}

export interface NumberDataPoint {
  readonly attributes?: readonly KeyValue[] | undefined;
  readonly startTimeUnixNano?: string | undefined;
  readonly timeUnixNano: string;
  readonly asDouble: number;
}

export interface HistogramDataPoint {
  readonly attributes?: readonly KeyValue[] | undefined;
  readonly startTimeUnixNano?: string | undefined;
  readonly timeUnixNano: string;
  readonly count: string;
  readonly sum: number;
  /** One more than there are bounds. */
  readonly bucketCounts: readonly string[];
  readonly explicitBounds: readonly number[];
}

// --- Logs ---

export interface ExportLogsServiceRequest {
  readonly resourceLogs: readonly ResourceLogs[];
}

export interface ResourceLogs {
  readonly resource: Resource;
  readonly scopeLogs: readonly ScopeLogs[];
}

export interface ScopeLogs {
  readonly scope: InstrumentationScope;
  readonly logRecords: readonly LogRecord[];
}

export interface LogRecord {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: AnyValue;
  readonly attributes?: readonly KeyValue[] | undefined;
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
}

export interface Messages {
  readonly AnyValue: AnyValue;
  readonly ArrayValue: ArrayValue;
  readonly KeyValueList: KeyValueList;
  readonly KeyValue: KeyValue;
  readonly Resource: Resource;
  readonly InstrumentationScope: InstrumentationScope;
  readonly ExportTraceServiceRequest: ExportTraceServiceRequest;
  readonly ResourceSpans: ResourceSpans;
  readonly ScopeSpans: ScopeSpans;
  readonly Span: Span;
  readonly 'Span.Event': SpanEvent;
  readonly 'Span.Link': SpanLink;
  readonly Status: Status;
  readonly ExportMetricsServiceRequest: ExportMetricsServiceRequest;
  readonly ResourceMetrics: ResourceMetrics;
  readonly ScopeMetrics: ScopeMetrics;
  readonly Metric: Metric;
  readonly Gauge: Gauge;
  readonly Sum: Sum;
  readonly Histogram: Histogram;
  readonly NumberDataPoint: NumberDataPoint;
  readonly HistogramDataPoint: HistogramDataPoint;
  readonly ExportLogsServiceRequest: ExportLogsServiceRequest;
  readonly ResourceLogs: ResourceLogs;
  readonly ScopeLogs: ScopeLogs;
  readonly LogRecord: LogRecord;
}
