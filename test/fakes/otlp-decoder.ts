import { readFileSync } from 'node:fs';

/**
 * Decodes requests of OTLP by the field numbers of the official protocol files, which `test/fixtures/otel` has as data:
 * nothing here comes from the encoder. Both encodings give the same objects, with the names of the protocol in lower
 * camel case, ids as hexadecimal digits and 64-bit integers as decimal text. A field that the protocol does not have is
 * an error.
 */

/** Number and type of each field, by message. */
type Protocol = Record<string, Record<string, [number, string]>>;

const { messages, enums } = JSON.parse(
  readFileSync(new URL('../fixtures/otel/otlp-fields.json', import.meta.url), 'utf8'),
) as { readonly messages: Protocol; readonly enums: Record<string, Record<string, number>> };

export const OTLP_MESSAGES: Readonly<Protocol> = messages;
export const OTLP_ENUMS: Readonly<Record<string, Record<string, number>>> = enums;

export type Decoded = { [field: string]: any };

const VARINTS = new Set(['bool', 'int64', 'uint32', 'uint64']);
const FIXED: Record<string, number> = { double: 8, fixed64: 8, sfixed64: 8, fixed32: 4 };
const IDS = new Set(['trace_id', 'span_id', 'parent_span_id']);

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function typeOf(within: string, type: string): string {
  return messages[`${within}.${type}`] === undefined ? type : `${within}.${type}`;
}

// --- Protobuf ---

export function decodeProtobuf(message: string, bytes: Buffer): Decoded {
  const fields = new Map(
    Object.entries(messages[message] as Record<string, [number, string]>).map(([name, [number, type]]) => [
      number,
      { name, type },
    ]),
  );
  const decoded: Decoded = {};
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error(`${message} ends inside a number`);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const scalar = (type: string, from: Buffer, place: number): unknown => {
    if (type === 'double') return from.readDoubleLE(place);
    if (type === 'fixed32') return from.readUInt32LE(place);
    return String(type === 'fixed64' ? from.readBigUInt64LE(place) : from.readBigInt64LE(place));
  };
  const whole = (type: string, value: bigint): unknown => {
    if (type === 'bool') return value !== 0n;
    if (type === 'int64') return String(BigInt.asIntN(64, value));
    return type === 'uint64' ? String(value) : Number(value);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const field = fields.get(tag >> 3);
    if (field === undefined) throw new Error(`${message} has no field ${tag >> 3}`);
    const isList = field.type.startsWith('repeated ');
    const type = field.type.replace('repeated ', '');
    const values: unknown[] = [];
    if ((tag & 7) === 2) {
      const length = Number(varint());
      const part = bytes.subarray(at, at + length);
      if (part.length < length) throw new Error(`${message}.${field.name} is cut off`);
      at += length;
      if (type === 'string') values.push(part.toString('utf8'));
      else if (type === 'bytes') values.push(part.toString(IDS.has(field.name) ? 'hex' : 'base64'));
      else if (FIXED[type] !== undefined) {
        for (let place = 0; place < length; place += FIXED[type]) values.push(scalar(type, part, place));
      } else values.push(decodeProtobuf(typeOf(message, type), part));
    } else if ((tag & 7) === 0) {
      if (!VARINTS.has(type) && enums[type] === undefined) throw new Error(`${field.name} is no varint`);
      values.push(whole(type, varint()));
    } else {
      if (FIXED[type] !== ((tag & 7) === 1 ? 8 : 4)) throw new Error(`${field.name} has another width`);
      values.push(scalar(type, bytes, at));
      at += FIXED[type] as number;
    }
    const name = camelCase(field.name);
    if (isList) decoded[name] = [...(decoded[name] ?? []), ...values];
    else decoded[name] = values[0];
  }
  return decoded;
}

// --- JSON ---

/** Checks names and types against the protocol. */
export function decodeJson(message: string, value: unknown): Decoded {
  const decoded: Decoded = {};
  const fields = Object.entries(messages[message] as Record<string, [number, string]>);
  for (const [key, member] of Object.entries(value as object)) {
    const field = fields.find(([name]) => camelCase(name) === key);
    if (field === undefined) throw new Error(`${message} has no field ${key}`);
    const [name, [, listed]] = field;
    const type = listed.replace('repeated ', '');
    const isList = listed !== type;
    if (Array.isArray(member) !== isList) throw new Error(`${message}.${key}: list or no list`);
    const read = (each: unknown) => jsonValue(message, name, type, each);
    decoded[key] = Array.isArray(member) ? member.map(read) : read(member);
  }
  return decoded;
}

function jsonValue(message: string, name: string, type: string, value: unknown): unknown {
  const wrong = () => new Error(`${message}.${name}: ${JSON.stringify(value)} is no ${type}`);
  if (messages[typeOf(message, type)] !== undefined) return decodeJson(typeOf(message, type), value);
  if (type === 'bytes' && IDS.has(name)) {
    if (typeof value !== 'string' || !/^[0-9a-f]+$/.test(value)) throw wrong();
  } else if (type === 'string') {
    if (typeof value !== 'string') throw wrong();
  } else if (type === 'bool') {
    if (typeof value !== 'boolean') throw wrong();
  } else if (type.endsWith('64')) {
    if (typeof value !== 'string' || !/^-?\d+$/.test(value)) throw wrong();
  } else if (typeof value !== 'number') throw wrong();
  return value;
}
