import type { Amount } from '../../../ir/amount.ts';
import { LIMIT_WINDOWS } from '../../../kit/time/windows.ts';
import type { Limit, Limits, ScopeIds } from '../../../ports/ledger.ts';
import {
  type Codec,
  listCodec,
  membersCodec,
  nanosCodec,
  repeatedCodec,
  textCodec,
  truthCodec,
  wordCodec,
} from './codec.ts';

/** What both records and snapshots are made of. */

export const amountCodec: Codec<Amount> = membersCodec<Amount>({
  creditNanos: nanosCodec,
  byokNanos: nanosCodec,
});

export const scopesCodec: Codec<ScopeIds> = repeatedCodec(
  membersCodec<ScopeIds>({ key: textCodec, workspace: textCodec, account: textCodec }),
);

const limitCodec: Codec<Limit> = membersCodec<Limit>({
  window: wordCodec(...LIMIT_WINDOWS),
  nanos: nanosCodec,
  countsByok: truthCodec,
});

export const limitsCodec: Codec<Limits> = repeatedCodec(
  membersCodec<Limits>({ key: listCodec(limitCodec), workspace: listCodec(limitCodec) }),
);
