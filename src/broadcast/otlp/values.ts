import { isJsonObject, type Json } from '../../kit/json/json.ts';
import type { AnyValue, KeyValue } from './messages.ts';

/** A JSON value as OTLP has it. Whole numbers become integers. */
export function anyValue(value: Json): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  return isJsonObject(value) ? { kvlistValue: { values: keyValues(value) } } : {};
}

/** The members of an object, without undefined ones. */
export function keyValues(object: { readonly [key: string]: Json | undefined }): KeyValue[] {
  return Object.entries(object).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

/** Epoch milliseconds as nanoseconds in decimal. */
export function unixNano(milliseconds: number): string {
  return `${Math.round(milliseconds * 1_000)}000`;
}
