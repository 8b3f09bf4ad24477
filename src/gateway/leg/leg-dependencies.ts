import { createHmac } from 'node:crypto';
import type { Clock } from '../../kit/time/clock.ts';
import type { Health } from '../../routing/health/health.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';
import type { CallUpstream } from '../../upstream/upstream.ts';
import type { LearntLengths } from '../admission/learnt-lengths.ts';
import type { LearntThoughts } from '../admission/learnt-thoughts.ts';
import type { OutcomeMemory } from './conclude.ts';
import type { CredentialOpener } from './credentials.ts';

export interface LegDependencies {
  readonly callUpstream: CallUpstream;
  readonly tokenizer: Tokenizer;
  readonly health: Health;
  readonly memory: OutcomeMemory;
  readonly userHashKey: Buffer;
  readonly clock: Clock;
}

export interface LegState {
  readonly credentials: CredentialOpener;
  readonly learnt: LearntLengths;
  readonly thoughts: LearntThoughts;
}

/** The id of an end user as upstreams get it. */
export function hashUser(key: Buffer, accountId: string, id: string): string {
  return createHmac('sha256', key).update(accountId).update('\0').update(id).digest('hex');
}
