import { endianness } from 'node:os';
import type { Vector, VectorEncoding } from '../../../ir/embedding.ts';
import type { Json } from '../../../kit/json/json.ts';

/** Bytes of a vector's number in base64. */
const NUMBER_BYTES = 4;

/**
 * An upstream's vector of any encoding in the encoding that the caller asked for; undefined if it is no vector.
 * Returned itself if it already has that encoding.
 */
export function vectorIn(encoding: VectorEncoding, given: Json | undefined): Vector | undefined {
  if (typeof given === 'string') {
    if (!isWholeNumbers(Buffer.byteLength(given, 'base64'))) return undefined;
    return encoding === 'base64' ? given : numbersOf(given);
  }
  if (!Array.isArray(given) || given.length === 0 || !given.every(isNumber)) return undefined;
  return encoding === 'float' ? given : base64OfVector(given);
}

export function lengthOfVector(vector: Vector): number {
  return typeof vector === 'string' ? Buffer.byteLength(vector, 'base64') / NUMBER_BYTES : vector.length;
}

function isWholeNumbers(bytes: number): boolean {
  return bytes > 0 && bytes % NUMBER_BYTES === 0;
}

function isNumber(value: Json): value is number {
  return typeof value === 'number';
}

/** Numbers as base64 of little-endian 32-bit floats. */
export function base64OfVector(numbers: readonly number[]): string {
  const bytes = Buffer.from(Float32Array.from(numbers).buffer);
  return inLittleEndian(bytes).toString('base64');
}

function numbersOf(text: string): number[] | undefined {
  const bytes = inLittleEndian(Buffer.from(text, 'base64'));
  if (!isWholeNumbers(bytes.length)) return undefined;
  // Copied: numbers must begin at a multiple of their size, and a pooled buffer need not.
  const aligned = new Uint8Array(bytes);
  return Array.from(new Float32Array(aligned.buffer));
}

const IS_LITTLE_ENDIAN = endianness() === 'LE';

function inLittleEndian(bytes: Buffer): Buffer {
  return IS_LITTLE_ENDIAN ? bytes : bytes.swap32();
}
