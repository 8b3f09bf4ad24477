import type { JsonObject } from '../kit/json.ts';
import { encodeSliced, stringifySliced, weightOf } from '../kit/stringify-sliced.ts';
import { runInTurns, type Sliced } from '../kit/turns.ts';

/** A request's body as it is sent: text, or bytes when it is so large that it was written and encoded in slices. */
export function writeBody(body: JsonObject): string | Promise<string | Uint8Array> {
  return weightOf(body, SMALL) <= SMALL ? JSON.stringify(body) : runInTurns(writeLarge(body));
}

/** Characters of a body, about, that are written at once. */
const SMALL = 64 * 1024;

function* writeLarge(body: JsonObject): Sliced<Uint8Array> {
  return yield* encodeSliced(yield* stringifySliced(body));
}
