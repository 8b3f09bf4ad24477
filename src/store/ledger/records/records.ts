import type { Amount } from '../../../ir/amount.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import type { Nanos } from '../../../kit/money.ts';
import { keptText } from '../../../kit/text/kept-text.ts';
import { quoted } from '../../../kit/text/quoted.ts';
import type { StoredGeneration } from '../../../ports/generations/generations.ts';
import type { ForgettableScope, Limits, ScopeIds } from '../../../ports/money/ledger.ts';
import { WRITE_OFF_CAUSES, type WriteOffCause } from '../../../ports/money/write-offs.ts';
import {
  type Codec,
  enumCodec,
  inside,
  integerCodec,
  LedgerDataProblem,
  membersCodec,
  nanosCodec,
  nullableCodec,
  objectCodec,
  textCodec,
} from './codec.ts';
import { absentOr, amountCodec, limitsCodec, scopesCodec } from './money-codecs.ts';

interface CommonMembers {
  /** Grows by one with each record. */
  readonly sequence: number;
  /** When it was decided, epoch milliseconds. */
  readonly atMs: number;
}

/** A generation was accepted, and money reserved for it. */
export interface AcceptRecord extends CommonMembers {
  readonly kind: 'accept';
  readonly generationId: string;
  readonly scopes: ScopeIds;
  /** The limits that apply to it until it ends. */
  readonly limits: Limits;
  readonly reserved: Amount;
  /** True when no limit, budget or balance applied; absent = unknown. Only written with a shared database. */
  readonly isUnlimited?: boolean | undefined;
  /** Id of the slice that pays for it; absent = a reservation of its own. Only written with a shared database. */
  readonly slice?: string | undefined;
  /** Facts of the generation so far: its row is made from them after a crash. */
  readonly row: JsonObject;
}

/** More money was reserved. */
export interface TopUpRecord extends CommonMembers {
  readonly kind: 'top-up';
  readonly generationId: string;
  /** The whole reservation, so that a repeated record has no effect. */
  readonly reserved: Amount;
}

/** Usage so far; settles the generation after a crash. */
export interface CheckpointRecord extends CommonMembers {
  readonly kind: 'checkpoint';
  readonly generationId: string;
  readonly spent: Amount;
  readonly row: JsonObject;
}

/** A generation ended and was charged. Complete: it can be booked and shown without earlier records. */
export interface SettleRecord extends CommonMembers {
  readonly kind: 'settle';
  readonly generationId: string;
  readonly scopes: ScopeIds;
  readonly charge: Amount;
  /** Used beyond reservation and limits: charged to no account. */
  readonly writtenOffNanos: Nanos;
  /** Null when nothing was written off, and in records of versions without causes. */
  readonly writtenOffCause: WriteOffCause | null;
  /** The generation's complete row. */
  readonly row: JsonObject;
}

/** A reservation was released: nothing was sent upstream, and there is no generation to show. */
export interface VoidRecord extends CommonMembers {
  readonly kind: 'void';
  readonly generationId: string;
}

/** The sum of an account's grants since its beginning; null = its balance is not enforced. */
export interface GrantRecord extends CommonMembers {
  readonly kind: 'grant';
  readonly accountId: string;
  readonly grantedNanos: Nanos | null;
}

/** A key or a workspace was deleted, and its spending forgotten. */
export interface ForgetRecord extends CommonMembers {
  readonly kind: 'forget';
  readonly scope: ForgettableScope;
  readonly id: string;
}

/** A fact about money. The books are made from these records alone. */
export type LedgerRecord =
  | AcceptRecord
  | TopUpRecord
  | CheckpointRecord
  | SettleRecord
  | VoidRecord
  | GrantRecord
  | ForgetRecord;

type Kind = LedgerRecord['kind'];

type RecordOf<K extends Kind> = Extract<LedgerRecord, { kind: K }>;

const commonCodecs = { sequence: integerCodec, atMs: integerCodec };

/** Caches the text of the row, because the projection of rows writes it again. */
const settledRowCodec: Codec<JsonObject> = { ...objectCodec, encode: (row) => keptText(row, JSON.stringify) };

/** An unknown cause, from a later release, is read as null. */
const writeOffCauseCodec: Codec<WriteOffCause | null> = {
  encode: (cause) => JSON.stringify(cause),
  decode: (json) => WRITE_OFF_CAUSES.find((cause) => cause === json) ?? null,
};

const settleCodec = membersCodec<SettleRecord>({
  kind: enumCodec('settle'),
  ...commonCodecs,
  generationId: textCodec,
  scopes: scopesCodec,
  charge: amountCodec,
  writtenOffNanos: nanosCodec,
  writtenOffCause: { ...writeOffCauseCodec, isOmitted: (cause) => cause === null },
  row: settledRowCodec,
});

/** True, or omitted. */
const flagCodec: Codec<boolean | undefined> = {
  encode: () => 'true',
  decode: (json) => (json === true ? true : undefined),
  isOmitted: (mark) => mark !== true,
};

const CODECS: { readonly [K in Kind]: Codec<RecordOf<K>> } = {
  accept: membersCodec<AcceptRecord>({
    kind: enumCodec('accept'),
    ...commonCodecs,
    generationId: textCodec,
    scopes: scopesCodec,
    limits: limitsCodec,
    reserved: amountCodec,
    isUnlimited: flagCodec,
    slice: absentOr(textCodec),
    row: objectCodec,
  }),
  'top-up': membersCodec<TopUpRecord>({
    kind: enumCodec('top-up'),
    ...commonCodecs,
    generationId: textCodec,
    reserved: amountCodec,
  }),
  checkpoint: membersCodec<CheckpointRecord>({
    kind: enumCodec('checkpoint'),
    ...commonCodecs,
    generationId: textCodec,
    spent: amountCodec,
    row: objectCodec,
  }),
  settle: settleCodec,
  void: membersCodec<VoidRecord>({
    kind: enumCodec('void'),
    ...commonCodecs,
    generationId: textCodec,
  }),
  grant: membersCodec<GrantRecord>({
    kind: enumCodec('grant'),
    ...commonCodecs,
    accountId: textCodec,
    grantedNanos: nullableCodec(nanosCodec),
  }),
  forget: membersCodec<ForgetRecord>({
    kind: enumCodec('forget'),
    ...commonCodecs,
    scope: enumCodec('key', 'workspace'),
    id: textCodec,
  }),
};

/** A settled generation as rows and events are made from it. */
export function generationOfRecord(record: SettleRecord): StoredGeneration {
  const { generationId, scopes, atMs, charge, writtenOffNanos, writtenOffCause, row } = record;
  return { id: generationId, scopes, settledAtMs: atMs, charge, writtenOffNanos, writtenOffCause, row };
}

/** The first byte of a record. The rest is JSON. */
const VERSION = 1;
const VERSION_TEXT = String.fromCharCode(VERSION);

export function encodeRecord(record: LedgerRecord): Uint8Array {
  const codec = CODECS[record.kind] as Codec<LedgerRecord>;
  return Buffer.from(VERSION_TEXT + codec.encode(record));
}

/** Decodes a record. Throws LedgerDataProblem, also for an unknown kind or version. */
export function decodeRecord(bytes: Uint8Array): LedgerRecord {
  if (bytes[0] !== VERSION) {
    throw new LedgerDataProblem(
      `ledger record of version ${bytes[0] ?? 'none'}; this gateway reads version ${VERSION}: start the ` +
        'newer one that wrote it',
    );
  }
  const json = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset + 1, bytes.byteLength - 1).toString());
  const kind = isJsonObject(json) ? json.kind : undefined;
  if (typeof kind !== 'string' || !Object.hasOwn(CODECS, kind)) {
    throw new LedgerDataProblem(`ledger record of unknown kind ${quoted(String(kind))}`);
  }
  try {
    return CODECS[kind as Kind].decode(json);
  } catch (error) {
    throw inside(error, `ledger record: ${kind}`);
  }
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new LedgerDataProblem('ledger record that is not JSON');
  }
}

/** The members of a record that can be read without decoding it. */
export type RecordHead = Pick<LedgerRecord, 'kind' | 'sequence'>;

/** Records begin with their version byte and these two members. */
const HEAD = /^.\{"kind":"([a-z-]+)","sequence":(\d+),/s;
const HEAD_BYTES = 64;

/** Reads the head of a record. Throws LedgerDataProblem when that is unreadable. */
export function recordHeadOf(bytes: Uint8Array): RecordHead {
  const length = Math.min(HEAD_BYTES, bytes.byteLength);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1');
  const match = HEAD.exec(text);
  if (match === null) return decodeRecord(bytes);
  return { kind: match[1] as LedgerRecord['kind'], sequence: Number(match[2]) };
}
