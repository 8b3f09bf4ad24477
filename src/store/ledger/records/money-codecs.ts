import type { Amount } from '../../../ir/amount.ts';
import { LIMIT_WINDOWS } from '../../../kit/time/windows.ts';
import type { Limit, Limits, ScopeIds } from '../../../ports/money/ledger.ts';
import {
  booleanCodec,
  type Codec,
  cachedCodec,
  enumCodec,
  listCodec,
  membersCodec,
  nanosCodec,
  textCodec,
} from './codec.ts';

/** Codecs that records and snapshots share. */

/** A member that is omitted when it is undefined. */
export function absentOr<T>(codec: Codec<T>): Codec<T | undefined> {
  return {
    encode: (value) => (value === undefined ? 'null' : codec.encode(value)),
    decode: (json) => (json === undefined ? undefined : codec.decode(json)),
    isOmitted: (value) => value === undefined,
  };
}

export const amountCodec: Codec<Amount> = membersCodec<Amount>({
  creditNanos: nanosCodec,
  byokNanos: nanosCodec,
});

export const scopesCodec: Codec<ScopeIds> = cachedCodec(
  membersCodec<ScopeIds>({
    key: textCodec,
    workspace: textCodec,
    account: textCodec,
    member: absentOr(textCodec),
  }),
);

const limitCodec: Codec<Limit> = membersCodec<Limit>({
  window: enumCodec(...LIMIT_WINDOWS),
  nanos: nanosCodec,
  countsByok: booleanCodec,
  guardrailId: absentOr(textCodec),
});

export const limitsCodec: Codec<Limits> = cachedCodec(
  membersCodec<Limits>({
    key: listCodec(limitCodec),
    workspace: listCodec(limitCodec),
    member: absentOr(listCodec(limitCodec)),
  }),
);
