import { invalidRequest } from '../../ir/errors.ts';
import { isJsonObject, type Json } from '../../kit/json/json.ts';
import type { FilePosition } from '../../ports/files.ts';

/** A position as callers get it: they see no more than a word. It stays good when its file is deleted. */
export function encodePosition({ id, createdAtMs }: FilePosition): string {
  return Buffer.from(JSON.stringify({ cursor: id, created_at_ms: createdAtMs })).toString('base64url');
}

/** What a caller gives back, under the name of a parameter. Throws the 400 for anything else. */
export function decodePosition(text: string, path: string): FilePosition {
  const value = parsed(Buffer.from(text, 'base64url').toString('utf8'));
  if (isJsonObject(value)) {
    const { cursor: id, created_at_ms: createdAtMs } = value;
    const isId = typeof id === 'string' && !id.includes('\0');
    if (isId && Number.isSafeInteger(createdAtMs)) return { id, createdAtMs: createdAtMs as number };
  }
  throw invalidRequest([{ path, message: 'must be the cursor of another page' }]);
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
