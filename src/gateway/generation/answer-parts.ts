import { createHmac } from 'node:crypto';
import type { Clock } from '../../kit/time/clock.ts';
import type { Ledger } from '../../ports/ledger.ts';
import type { Health } from '../../routing/health/health.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';
import type { CallUpstream } from '../../upstream/upstream.ts';
import type { LearntLengths } from '../admission/learnt-lengths.ts';
import type { RoutingMemory } from '../leg/conclude.ts';
import type { CredentialOpener } from '../leg/credentials.ts';
import type { Drains } from '../leg/upstream-reading.ts';
import type { GenerationTimes, PlannedGeneration } from './generation-row.ts';
import type { OpenWork } from './open-work.ts';
import type { Settlement } from './settle.ts';

/** What answering is built from. */
export interface AnswerParts {
  readonly callUpstream: CallUpstream;
  readonly tokenizer: Tokenizer;
  readonly ledger: Ledger;
  readonly health: Health;
  readonly memory: RoutingMemory;
  /** Secret that end-user ids are hashed with. */
  readonly userHashKey: Buffer;
  /** Told of every generation that has ended, once its account is closed. Must not throw. */
  readonly tell: (generation: PlannedGeneration, settlement: Settlement, times: GenerationTimes) => void;
  readonly clock: Clock;
}

/** What all answers of a gateway share. */
export interface AnswerState {
  readonly credentials: CredentialOpener;
  readonly learnt: LearntLengths;
  readonly drains: Drains;
  readonly open: OpenWork;
}

/** The id of an end user as upstreams are told it. */
export function hashUser(key: Buffer, accountId: string, id: string): string {
  return createHmac('sha256', key).update(accountId).update('\0').update(id).digest('hex');
}
