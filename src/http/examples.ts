import { readFileSync } from 'node:fs';
import { isJsonObject, type Json, type JsonObject } from '../kit/json/json.ts';
import type { RouteExample } from './route.ts';

/**
 * An exchange for each operation. `test/features/http/documented-samples.test.ts` asks a gateway each of these
 * requests, compares its answers, and records them where they differ. Found from here and from the bundle, whose files
 * are as deep.
 */
export const EXAMPLES_FILE = new URL('../http/examples.json', import.meta.url);

const RECORDED_VENDOR = 'signalbox';

/** The examples by operation, with another vendor word in their types of tools. Read when they are first asked for. */
export function examplesFor(vendor: string): () => Readonly<Record<string, RouteExample>> {
  let read: Readonly<Record<string, RouteExample>> | undefined;
  return () => {
    read ??= withVendor(JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')), vendor) as unknown as Readonly<
      Record<string, RouteExample>
    >;
    return read;
  };
}

function withVendor(value: Json, vendor: string): Json {
  if (typeof value === 'string') return value.replace(VENDOR_WORD, vendor);
  if (Array.isArray(value)) return value.map((member) => withVendor(member, vendor));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withVendor(member as Json, vendor)]);
  return Object.fromEntries(members) as JsonObject;
}

/** The whole of a text, or what stands before its first colon. */
const VENDOR_WORD = new RegExp(`^${RECORDED_VENDOR}(?=$|:)`);
