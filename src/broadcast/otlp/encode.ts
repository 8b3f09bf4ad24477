import { wellFormedJson } from '../../kit/json/well-formed-json.ts';
import type { MessageName } from './fields.ts';
import type { Messages } from './messages.ts';
import { encodeProtobuf } from './protobuf.ts';

/** The two encodings of OTLP over HTTP. */
export type OtlpFormat = 'json' | 'protobuf';

/** The body of a request to a receiver. */
export interface OtlpBody {
  readonly body: Buffer;
  readonly contentType: string;
}

/** The requests of the three signals. */
type RequestName = Extract<MessageName, `Export${string}`>;

/** The body of a request. Messages are objects in the shape of the JSON, so that JSON needs no table. */
export function encodeOtlp<Name extends RequestName>(
  name: Name,
  request: Messages[Name],
  format: OtlpFormat,
): OtlpBody {
  return format === 'json'
    ? { body: Buffer.from(wellFormedJson(request)), contentType: 'application/json' }
    : { body: encodeProtobuf(name, request), contentType: 'application/x-protobuf' };
}
