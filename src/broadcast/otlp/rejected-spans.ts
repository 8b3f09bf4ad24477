import { isJsonObject, readJson } from '../../kit/json/json.ts';
import { objectAt } from '../../kit/json/members.ts';

/**
 * How many spans of a request a receiver rejected while it took the rest, by its answer; 0 for answers that are none
 * of the protocol. A request of which a part was rejected is not sent again.
 */
export function rejectedSpans(body: Buffer, contentType: string): number {
  if (body.length === 0) return 0;
  const count = contentType.startsWith('application/x-protobuf') ? inProtobuf(body) : inJson(body);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

function inJson(body: Buffer): number {
  const reading = readJson(body.toString('utf8'));
  if (!reading.ok || !isJsonObject(reading.value)) return 0;
  return Number(objectAt(reading.value, 'partialSuccess')?.rejectedSpans ?? 0);
}

const PARTIAL_SUCCESS = 1;
const REJECTED_SPANS = 1;

/** Reads `ExportTraceServiceResponse.partial_success.rejected_spans`. */
function inProtobuf(body: Buffer): number {
  const partial = fieldOf(body, PARTIAL_SUCCESS);
  if (!Buffer.isBuffer(partial)) return 0;
  const count = fieldOf(partial, REJECTED_SPANS);
  return typeof count === 'number' ? count : 0;
}

/** The first field with a number; undefined if there is none, or if the message is not valid. */
function fieldOf(message: Buffer, wanted: number): number | Buffer | undefined {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; at < message.length; scale *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    return Number.NaN;
  };
  while (at < message.length) {
    const tag = varint();
    const wire = tag % 8;
    const value = wire === 0 || wire === 2 ? varint() : Number.NaN;
    if (Number.isNaN(value)) return undefined;
    const content = wire === 2 ? message.subarray(at, at + value) : value;
    if (wire === 2) at += value;
    if (Math.floor(tag / 8) === wanted) return content;
  }
  return undefined;
}
