import type { JsonObject } from '../kit/json.ts';
import { encodeSliced, stringifySliced } from '../kit/stringify-sliced.ts';
import { runInTurns } from '../kit/turns.ts';

/** A request's body as it is sent: text, or bytes when it is so large that it was written and encoded in slices. */
export async function writeBody(body: JsonObject): Promise<string | Uint8Array> {
  const pieces = await runInTurns(stringifySliced(body));
  const [only] = pieces;
  return only !== undefined && pieces.length === 1 ? only : runInTurns(encodeSliced(pieces));
}
