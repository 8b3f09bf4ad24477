import { createHmac } from 'node:crypto';
import type { ToldTrace } from '../../ir/trace.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { Health } from '../../routing/health/health.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';
import type { CallUpstream } from '../../upstream/upstream.ts';
import type { LearntLengths } from '../admission/learnt-lengths.ts';
import type { LearntThoughts } from '../admission/learnt-thoughts.ts';
import type { GenerationReservation } from '../admission/reservation.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { GatewaySettings } from '../request/settings.ts';
import type { OutcomeMemory } from './conclude.ts';
import type { CredentialOpener } from './credentials.ts';
import type { UpstreamReading } from './upstream-reading.ts';

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

/** What a leg runs in: its generation, parts of the gateway, and what the gateway has learnt. */
export interface LegSurroundings {
  readonly input: GenerationInput;
  readonly settings: GatewaySettings;
  readonly reading: UpstreamReading;
  /** Aborted to stop the leg's upstream. */
  readonly signal: AbortSignal;
  readonly reservation: GenerationReservation;
  readonly dependencies: LegDependencies;
  readonly state: LegState;
  /** What upstreams are told of the trace; undefined = nothing. */
  readonly toldTrace: ToldTrace | undefined;
  /** True for a leg beyond the first: legs of one generation must not wait for each other's memory. */
  readonly isFurther?: boolean;
}

/** The id of an end user as upstreams get it. */
export function hashUser(key: Buffer, accountId: string, id: string): string {
  return createHmac('sha256', key).update(accountId).update('\0').update(id).digest('hex');
}
