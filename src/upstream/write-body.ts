import type { JsonObject } from '../kit/json.ts';
import { encodeSliced, stringifySliced } from '../kit/stringify-sliced.ts';
import { runInTurns, runPromptly } from '../kit/turns.ts';

/** A request's body as it is sent: text, or bytes when it is so large that it was written and encoded in slices. */
export function writeBody(body: JsonObject): string | Promise<string | Uint8Array> {
  const pieces = runPromptly(stringifySliced(body));
  return pieces instanceof Promise ? pieces.then<string | Uint8Array>(encoded) : encoded(pieces);
}

function encoded(pieces: string[]): string | Promise<Uint8Array> {
  const [only] = pieces;
  return only !== undefined && pieces.length === 1 ? only : runInTurns(encodeSliced(pieces));
}
