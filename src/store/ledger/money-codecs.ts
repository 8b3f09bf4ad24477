import type { Amount } from './amount.ts';
import {
  type Codec,
  listCodec,
  membersCodec,
  nanosCodec,
  textCodec,
  truthCodec,
  wordCodec,
} from './codec.ts';
import type { Limit, Limits, ScopeIds } from './limits.ts';
import { LIMIT_WINDOWS } from './windows.ts';

/** What both records and snapshots are made of. */

export const amountCodec: Codec<Amount> = membersCodec<Amount>({
  creditNanos: nanosCodec,
  byokNanos: nanosCodec,
});

export const scopesCodec: Codec<ScopeIds> = membersCodec<ScopeIds>({
  key: textCodec,
  workspace: textCodec,
  account: textCodec,
});

const limitCodec: Codec<Limit> = membersCodec<Limit>({
  window: wordCodec(...LIMIT_WINDOWS),
  nanos: nanosCodec,
  countsByok: truthCodec,
});

export const limitsCodec: Codec<Limits> = membersCodec<Limits>({
  key: listCodec(limitCodec),
  workspace: listCodec(limitCodec),
});
