import type { Socket } from 'node:net';
import Type, { type Static } from 'typebox';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import { closed } from '../kit/json/schema.ts';
import { compileValidator } from '../kit/json/validate.ts';
import { redactFields } from '../kit/log/redact-fields.ts';

/** The command whose reply goes on: a line of JSON for each generation that ends, after a first line that accepts. */
export const TAIL_COMMAND = 'generations.tail';

/** A generation as it is tailed. Filters read the named members; the rest is passed on. */
export interface TailedLine {
  readonly outcome: string;
  /** The model that served or was called last, and the one that was asked for. */
  readonly model: string;
  readonly requested: string;
  readonly key_hash: string;
  readonly session_id: string | null;
  readonly external_user: string | null;
}

/** Adds a reader of the generations that end. Returns what removes it. */
export type TailGenerations = (reader: (generation: TailedLine) => void) => () => void;

/** In place of generations that were left out, because the reader was too slow. */
export interface DroppedLine {
  readonly dropped: number;
}

const FILTER = closed({
  failed: Type.Optional(Type.Boolean()),
  /** Hash of a key, or the beginning of one. */
  key: Type.Optional(Type.String({ maxLength: 64 })),
  model: Type.Optional(Type.String({ maxLength: 1024 })),
  session: Type.Optional(Type.String({ maxLength: 256 })),
  /** The end user. */
  user: Type.Optional(Type.String({ maxLength: 256 })),
});

export type TailFilter = Static<typeof FILTER>;

const validator = compileValidator(FILTER);

/** Bytes that wait for a slow reader; what comes while more wait is counted and left out. */
const MAX_UNSENT_BYTES = 1024 * 1024;

const KEY_HASH = /^[0-9a-f]{8,64}$/;

/** Checks a filter. Throws a GatewayError. */
export function parseTailFilter(input: unknown): TailFilter {
  const issues = validator.issuesOf(input);
  if (issues.length > 0) throw invalidRequest(issues);
  const filter = input as TailFilter;
  if (filter.key !== undefined && !KEY_HASH.test(filter.key)) {
    throw new GatewayError(
      'invalid-request',
      '--key: must be the hash of a key, or at least its first 8 digits; signalbox keys list shows hashes',
    );
  }
  return filter;
}

/** Sends generations that pass the filter until the socket closes. Memory is bounded, however slow the reader is. */
export function sendTail(
  socket: Pick<Socket, 'write' | 'writableLength' | 'once' | 'on' | 'destroy'>,
  tail: TailGenerations,
  filter: TailFilter,
): void {
  let dropped = 0;
  const flushDropped = () => {
    if (dropped === 0) return;
    const line: DroppedLine = { dropped };
    dropped = 0;
    socket.write(`${JSON.stringify(line)}\n`);
  };
  const stop = tail((generation) => {
    if (!passes(generation, filter)) return;
    if (socket.writableLength > MAX_UNSENT_BYTES) {
      dropped++;
      return;
    }
    flushDropped();
    socket.write(`${JSON.stringify(redactFields({ ...generation }))}\n`);
  });
  socket.on('drain', flushDropped);
  socket.once('end', () => socket.destroy());
  socket.once('close', stop);
}

function passes(line: TailedLine, filter: TailFilter): boolean {
  const { outcome, model, requested, key_hash, session_id, external_user } = line;
  if (filter.failed === true && outcome !== 'failed') return false;
  if (filter.session !== undefined && filter.session !== session_id) return false;
  if (filter.user !== undefined && filter.user !== external_user) return false;
  if (filter.key !== undefined && !key_hash.startsWith(filter.key)) return false;
  return filter.model === undefined || filter.model === model || filter.model === requested;
}
