import { wellFormedJson } from '../../kit/json/well-formed-json.ts';
import type { Sliced } from '../../kit/loop/turns.ts';
import type { MessageName } from './fields.ts';
import type { Messages } from './messages.ts';
import { encodeProtobuf } from './protobuf.ts';

export type OtlpFormat = 'json' | 'protobuf';

export interface OtlpBody {
  readonly body: Buffer;
  readonly contentType: string;
}

export type RequestName = Extract<MessageName, `Export${string}`>;

/** The body of a request. Messages are objects in the shape of the JSON, so that JSON needs no table. */
export function encodeOtlp<Name extends RequestName>(
  name: Name,
  request: Messages[Name],
  format: OtlpFormat,
): OtlpBody {
  const body = format === 'json' ? Buffer.from(wellFormedJson(request)) : encodeProtobuf(name, request);
  return { body, contentType: CONTENT_TYPES[format] };
}

const CONTENT_TYPES: Readonly<Record<OtlpFormat, string>> = {
  json: 'application/json',
  protobuf: 'application/x-protobuf',
};

/** The list that a request of each signal is. */
const LISTS: { readonly [Name in RequestName]: keyof Messages[Name] & string } = {
  ExportTraceServiceRequest: 'resourceSpans',
  ExportMetricsServiceRequest: 'resourceMetrics',
  ExportLogsServiceRequest: 'resourceLogs',
};

/** The body of a request in parts, each of which is encoded in a slice: their lists become one. */
export function* encodeParts<Name extends RequestName>(
  name: Name,
  parts: Iterable<Messages[Name]>,
  format: OtlpFormat,
): Sliced<OtlpBody> {
  const bodies: Buffer[] = [];
  for (const part of parts) {
    bodies.push(encodeOtlp(name, part, format).body);
    yield;
  }
  const body = format === 'protobuf' ? Buffer.concat(bodies) : joinedJson(LISTS[name], bodies);
  return { body, contentType: CONTENT_TYPES[format] };
}

const COMMA = Buffer.from(',');
const END = Buffer.from(']}');

/** Joins messages as their encodings in protobuf join by themselves. */
function joinedJson(list: string, bodies: readonly Buffer[]): Buffer {
  const start = Buffer.from(`{"${list}":[`);
  const inside = bodies.flatMap((body, index) => {
    const members = body.subarray(start.length, body.length - END.length);
    return index === 0 ? [members] : [COMMA, members];
  });
  return Buffer.concat([start, ...inside, END]);
}
