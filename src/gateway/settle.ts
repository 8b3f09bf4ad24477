import { billOf, FREE, feeOnly } from '../catalog/bill.ts';
import { pricingAt } from '../catalog/price-history.ts';
import { servedEndpoint } from '../catalog/served-endpoint.ts';
import { GatewayError } from '../ir/errors.ts';
import { type Event, type EventBatch, type Settled, terminalOf } from '../ir/events.ts';
import { Fold } from '../ir/fold.ts';
import type { RoutingMetadata } from '../ir/metadata.ts';
import type { Result } from '../ir/result.ts';
import { NO_USAGE, type Usage } from '../ir/usage.ts';
import type { Journey } from './journey.ts';

/** How a generation ended, for whoever keeps account of it. */
export interface Settlement extends Settled {
  readonly outcome: 'finished' | 'failed' | 'aborted';
  readonly result: Result;
  readonly error?: GatewayError;
}

/** What settling needs besides the events. */
export interface SettleTools {
  readonly journey: Journey;
  /** The routing metadata of this moment, when the caller asked for it. */
  readonly metadata: (outcome: 'served' | 'failed') => RoutingMetadata | undefined;
  /** When the request came in, epoch milliseconds: its prices are those of this moment. */
  readonly acceptedAtMs: number;
  /** Images of the prompt. */
  readonly inputImages: number;
  /** Share of the list price that is charged where the caller's own credential was used. */
  readonly ownCredentialFee: number;
  /** What an upstream reported, unless it cannot be true. */
  readonly believe: (reported: Usage | undefined) => Usage | undefined;
  /** Counts what an upstream did not report. */
  readonly estimate: (result: Result) => Promise<Usage>;
  /** Told exactly once, before the terminal event is let go. */
  readonly record: (settlement: Settlement) => Promise<void>;
}

/**
 * Folds an answer while it passes and closes its account: usage, cost, one record. The terminal event is let go only
 * after the record was made. An answer that is abandoned half-way is settled too.
 */
export async function* settleAnswer(
  answer: AsyncIterable<EventBatch>,
  tools: SettleTools,
): AsyncGenerator<EventBatch, void, void> {
  const fold = new Fold();
  let isSettled = false;
  let failure: GatewayError | undefined;
  try {
    for await (const batch of answer) {
      const { passing, terminal } = untilTerminal(batch);
      fold.pushAll(passing);
      if (terminal === undefined) {
        yield batch;
        continue;
      }
      isSettled = true;
      const settled = await settle(fold, terminal, tools);
      yield [...passing, { ...terminal, settled }];
      return;
    }
  } catch (error) {
    if (error instanceof GatewayError) failure = error;
    throw error;
  } finally {
    if (!isSettled) await settleUnfinished(fold, failure, tools);
  }
}

/** What comes before the terminal event, and that event. Relayed frames pass whole: their encoder holds the end back. */
function untilTerminal(batch: EventBatch) {
  const passing: Event[] = [];
  for (const event of batch) {
    const terminal = terminalOf(event);
    if (event.type === 'relay' || terminal === undefined) passing.push(event);
    if (terminal !== undefined) return { passing, terminal };
  }
  return { passing, terminal: undefined };
}

async function settle(
  fold: Fold,
  terminal: NonNullable<ReturnType<typeof terminalOf>>,
  tools: SettleTools,
): Promise<Settled> {
  fold.push(terminal);
  const result = fold.result();
  const failed = terminal.type === 'failure';
  const usage = tools.believe(result.usage) ?? (await tools.estimate(result));
  const settled = {
    usage,
    bill: failed ? FREE : billFor(usage, result, tools),
    ...metadataOf(tools, failed),
  };
  await tools.record({
    ...settled,
    outcome: failed ? 'failed' : 'finished',
    result,
    ...(failed && { error: terminal.error }),
  });
  return settled;
}

/**
 * An answer without an end. No endpoint would serve it: nothing is charged. The caller went away: what was produced is
 * charged, and counted by us if need be.
 */
async function settleUnfinished(
  fold: Fold,
  failure: GatewayError | undefined,
  tools: SettleTools,
): Promise<void> {
  const result = fold.result();
  const hasOutput = result.items.length > 0;
  const reported = tools.believe(result.usage);
  const usage = hasOutput ? atLeast(reported, await tools.estimate(result)) : (reported ?? NO_USAGE);
  const isCharged = hasOutput && failure === undefined;
  await tools.record({
    usage,
    bill: isCharged ? billFor(usage, result, tools) : FREE,
    outcome: failure === undefined ? 'aborted' : 'failed',
    result,
    ...(failure !== undefined && { error: failure }),
  });
}

/** What an upstream had reported when its answer was cut off says nothing of what came after: our own count may be higher. */
function atLeast(reported: Usage | undefined, estimated: Usage): Usage {
  if (reported === undefined || reported.outputTokens >= estimated.outputTokens) return reported ?? estimated;
  return { ...reported, outputTokens: estimated.outputTokens, source: 'estimated' };
}

/** No output and nothing that explains it: not charged. */
function billFor(usage: Usage, result: Result, tools: SettleTools) {
  const {
    journey: { selected },
    acceptedAtMs,
    inputImages,
    ownCredentialFee,
  } = tools;
  const isBlank =
    result.items.length === 0 && usage.outputTokens === 0 && result.finish?.nativeReason === undefined;
  if (selected === undefined || isBlank) return FREE;
  const priced = servedEndpoint(selected.endpoint, selected.model, result.finish?.serviceTier);
  const listed = billOf({ usage, inputImages }, pricingAt(priced, acceptedAtMs, usage.inputTokens));
  return selected.access.kind === 'own' ? feeOnly(listed, ownCredentialFee) : listed;
}

function metadataOf(tools: SettleTools, failed: boolean): { metadata?: RoutingMetadata } {
  const metadata = tools.metadata(failed ? 'failed' : 'served');
  return metadata === undefined ? {} : { metadata };
}
