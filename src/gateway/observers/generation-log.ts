import type { Log } from '../../kit/log/log.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { PlannedGeneration } from '../record/generation-row.ts';
import type { Settlement } from '../record/settle.ts';
import {
  attemptFactsOf,
  type EndKind,
  endOf,
  factsOf,
  failureFactsOf,
  rescuedCalls,
} from './generation-facts.ts';

const LINES: Readonly<Record<EndKind, readonly ['info' | 'warn', string]>> = {
  finished: ['info', 'generation'],
  aborted: ['info', 'generation'],
  refused: ['info', 'generation refused'],
  failed: ['warn', 'generation failed'],
};

/** Logs one line for each ended generation, and one for each of its attempts that a fallback rescued. */
export function generationLog(log: Log, clock: Pick<Clock, 'now'>) {
  return (generation: PlannedGeneration, settlement: Settlement): void => {
    const { error, outcome } = settlement;
    const [level, message] = LINES[endOf(settlement)];
    const facts = factsOf(generation, settlement, clock.now());
    if (outcome === 'failed' && error !== undefined) {
      log[level](message, { ...facts, ...failureFactsOf(generation, error) });
      return;
    }
    for (const call of rescuedCalls(generation)) {
      log.info('attempt rescued', {
        id: facts.id,
        ...attemptFactsOf(call),
        rescued_by: facts.endpoint,
      });
    }
    log[level](message, facts as unknown as Parameters<Log['info']>[1]);
  };
}
