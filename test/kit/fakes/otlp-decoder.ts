import { readFileSync } from 'node:fs';
import generated from '@opentelemetry/otlp-transformer/build/src/generated/root.js';

/**
 * Decodes requests of OTLP: those in protobuf by the code that OpenTelemetry generates from its own protocol files for
 * JavaScript, those in JSON by the field numbers and types of these files, which `test/kit/fixtures/otel` has as data.
 * Nothing here comes from the encoder. Both encodings give the same objects, with the names of the protocol in lower
 * camel case, ids as hexadecimal digits and 64-bit integers as decimal text. What is not of the protocol is an error.
 */

/** Number and type of each field, by message. */
type Protocol = Record<string, Record<string, [number, string]>>;

const { messages, enums } = JSON.parse(
  readFileSync(new URL('../fixtures/otel/otlp-fields.json', import.meta.url), 'utf8'),
) as { readonly messages: Protocol; readonly enums: Record<string, Record<string, number>> };

export const OTLP_MESSAGES: Readonly<Protocol> = messages;
export const OTLP_ENUMS: Readonly<Record<string, Record<string, number>>> = enums;

export type Decoded = { [field: string]: any };

const IDS = new Set(['trace_id', 'span_id', 'parent_span_id']);

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function typeOf(within: string, type: string): string {
  return messages[`${within}.${type}`] === undefined ? type : `${within}.${type}`;
}

// --- Protobuf ---

/** A message as the generated code has it. */
interface OfficialType {
  decode(bytes: Uint8Array): object;
  encode(message: object): { finish(): Uint8Array };
  toObject(message: object, options: object): object;
}

const { trace, metrics, logs } = (generated as any).opentelemetry.proto.collector;

/** The requests of the three signals. */
const OFFICIAL: Readonly<Record<string, OfficialType>> = {
  ExportTraceServiceRequest: trace.v1.ExportTraceServiceRequest,
  ExportMetricsServiceRequest: metrics.v1.ExportMetricsServiceRequest,
  ExportLogsServiceRequest: logs.v1.ExportLogsServiceRequest,
};

/** Bytes that the official encoder would write differently, those of unknown fields among them, are an error. */
export function decodeProtobuf(message: string, bytes: Buffer): Decoded {
  const type = OFFICIAL[message] as OfficialType;
  const decoded = type.decode(bytes);
  if (!bytes.equals(type.encode(decoded).finish())) throw new Error(`${message} is encoded in another way`);
  return withHexIds(type.toObject(decoded, { longs: String })) as Decoded;
}

function withHexIds(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(withHexIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withHexIds(member)]));
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
    if (typeof value !== 'string' || !value.isWellFormed()) throw wrong();
  } else if (type === 'bool') {
    if (typeof value !== 'boolean') throw wrong();
  } else if (type.endsWith('64')) {
    if (typeof value !== 'string' || !/^-?\d+$/.test(value)) throw wrong();
  } else if (typeof value !== 'number') throw wrong();
  return value;
}
