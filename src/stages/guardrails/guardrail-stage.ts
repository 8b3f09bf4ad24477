import type { EventBatch } from '../../ir/events.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { Counter } from '../../kit/metrics/counter.ts';
import type { AppliedGuardrail } from '../../ports/guardrails.ts';
import type { Next, Stage, StageContext } from '../stage.ts';
import { AnswerFilter } from './answer-filter.ts';
import type { FilterSet } from './filters/filter-set.ts';
import { GuardrailScan } from './guardrail-scan.ts';
import { Receipt, type Unscanned } from './receipt.ts';
import { blockedError, pipelineEntries } from './refusals.ts';

/** What guardrails work with. */
export interface GuardrailParts {
  /** The filters of all guardrails of a caller, merged. */
  readonly compileFilters: (applied: readonly AppliedGuardrail[]) => FilterSet;
  readonly metrics: GuardrailMetrics;
}

/** Counts what guardrails did not see. */
export class GuardrailMetrics {
  readonly unscanned = new Counter({
    name: 'signalbox_guardrail_unscanned_total',
    help: 'Generations under a guardrail of which some characters were not scanned: each is a fault of the gateway.',
    labels: ['direction'],
  });

  get families() {
    return [this.unscanned];
  }
}

/** One generation under guardrails. */
interface Guarded {
  readonly scan: GuardrailScan;
  readonly receipt: Receipt;
}

/** The places of guardrails in the order of stages. */
export interface GuardrailStages {
  /** First of all: before a cache answers, and before anything else reads the request. */
  readonly first: Stage;
  /** After stages that add texts to the request. */
  readonly again: Stage;
  /** Around each leg, inside of all other stages: what comes back, and what stages add for further legs. */
  readonly innermost: Stage;
}

/** The stages that apply the filters of a caller's guardrails. Callers without filters keep the relay lane. */
export function guardrailStages(parts: GuardrailParts): GuardrailStages {
  const ofContext = new WeakMap<StageContext, Guarded>();
  const isActive = (_: GenerationRequest, { caller }: StageContext) => hasFilters(caller.guardrails);
  const guardedOf = (context: StageContext): Guarded => {
    const known = ofContext.get(context);
    if (known !== undefined) return known;
    const begun = guarded(context, parts);
    ofContext.set(context, begun);
    context.note(begun.receipt.entry());
    return begun;
  };
  const before: Stage['before'] = async (request, context) => {
    const { scan, receipt } = guardedOf(context);
    const scanned = checked(await scan.request(request), scan, context);
    return { request: scanned.watch === receipt ? scanned : { ...scanned, watch: receipt } };
  };
  return {
    first: { name: 'guardrails', touches: 'request', isActive, before },
    again: { name: 'guardrails-again', touches: 'request', isActive, before },
    innermost: {
      name: 'guardrails-around-legs',
      touches: 'answer',
      isActive,
      around: (request, next, context) => guardedLeg(request, next, context, guardedOf(context).scan),
    },
  };
}

function hasFilters(applied: readonly AppliedGuardrail[]): boolean {
  return (
    applied.length > 0 &&
    applied.some(({ guardrail: { builtins, filters } }) => isGiven(builtins) || isGiven(filters))
  );
}

function isGiven(list: readonly unknown[] | null): boolean {
  return list !== null && list.length > 0;
}

function guarded(context: StageContext, { compileFilters, metrics }: GuardrailParts): Guarded {
  const scan = new GuardrailScan(compileFilters(context.caller.guardrails));
  const report = ({ sent, received }: Unscanned) => {
    if (sent !== 0) metrics.unscanned.add({ direction: 'sent' });
    if (received !== 0) metrics.unscanned.add({ direction: 'received' });
    context.log.warn('a guardrail did not scan all of a generation', {
      generation_id: context.generationId,
      unscanned_sent: sent,
      unscanned_received: received,
    });
  };
  return { scan, receipt: new Receipt(scan, report) };
}

/** Notes what was found; throws if something must not pass. */
function checked<T>(value: T, scan: GuardrailScan, { note }: StageContext): T {
  const found = scan.take();
  for (const entry of pipelineEntries(found)) note(entry);
  if (scan.isBlocked) throw blockedError(found);
  return value;
}

/** One leg: its request is scanned for what stages have added, and its events as they pass. */
async function* guardedLeg(
  asked: GenerationRequest,
  next: Next,
  context: StageContext,
  scan: GuardrailScan,
): AsyncGenerator<EventBatch, void, undefined> {
  const request = checked(await scan.request(asked), scan, context);
  const filter = new AnswerFilter(scan);
  let hasPassed = false;
  for await (const batch of next(request)) {
    const passing = filter.push(batch);
    if (scan.isBlocked) break;
    if (passing.length === 0) continue;
    hasPassed = true;
    if (!isLast(passing)) {
      yield passing;
      continue;
    }
    checked(undefined, scan, context);
    yield passing;
    return;
  }
  if (!scan.isBlocked) return;
  const found = scan.take();
  for (const entry of pipelineEntries(found)) context.note(entry);
  // Before anything has passed the request is refused; later its stream fails.
  const error = blockedError(found);
  if (!hasPassed) throw error;
  yield [{ type: 'failure', error }];
}

function isLast(batch: EventBatch): boolean {
  const last = batch.at(-1);
  return last?.type === 'finish' || last?.type === 'failure';
}
