import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { EventBatch } from '../../ir/events.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { WireWatch } from '../../ir/wire-watch.ts';
import { SharedTurn } from '../../kit/loop/turns.ts';
import type { AppliedGuardrail } from '../../ports/tenancy/guardrails.ts';
import { hasToolWork } from '../../tools/wanted-tools.ts';
import type { Next, Stage, StageContext } from '../stage.ts';
import { passedError } from './answer/error-texts.ts';
import { checked, type Guarded } from './answer/guarded.ts';
import { GuardedLeg } from './answer/guarded-leg.ts';
import { scannedResults } from './answer/shown-results.ts';
import { type FilterSet, preparedFilters } from './filters/filter-set.ts';
import type { Finding, TextPlace } from './filters/finding.ts';
import type { GuardrailMetrics } from './guardrail-metrics.ts';
import { GuardrailScan } from './guardrail-scan.ts';
import type { JudgesFor } from './judges/judge.ts';
import { JudgePanel } from './judges/judge-panel.ts';
import { type FileScanning, type FilesAsText, withScannedFiles } from './native-files.ts';
import { Receipt, type Unscanned } from './receipt/receipt.ts';
import { failureEntry, noVerdictError } from './refusals.ts';

export interface GuardrailStageDependencies {
  /** The filters of all guardrails of a caller, merged. */
  readonly compileFilters: (applied: readonly AppliedGuardrail[]) => FilterSet;
  readonly judgesFor: JudgesFor;
  readonly metrics: GuardrailMetrics;
  readonly filesAsText: FilesAsText;
}

export interface GuardrailStages {
  /** First of all: before a cache answers, and before anything else reads the request. */
  readonly first: Stage;
  /** After stages that add texts to the request, and once it is known which files go to the model as they are. */
  readonly again: Stage;
  /** Around the tool loop: what callers see of the results of server tools. */
  readonly shownResults: Stage;
  /** Around each leg, inside of all other stages: what comes back, and what stages add for further legs. */
  readonly innermost: Stage;
}

/** The stages that apply the filters of a caller's guardrails. Callers without filters keep the relay lane. */
export function guardrailStages(dependencies: GuardrailStageDependencies): GuardrailStages {
  const ofContext = new WeakMap<StageContext, Guarded>();
  const isActive = (_: GenerationRequest, { caller }: StageContext) => hasFilters(caller.guardrails);
  const guardedOf = (context: StageContext): Guarded => {
    const known = ofContext.get(context);
    if (known !== undefined) return known;
    const begun = guarded(context, dependencies);
    ofContext.set(context, begun);
    return begun;
  };
  const scanned = async (request: GenerationRequest, context: StageContext) => {
    refuseTokens(request);
    await new SharedTurn().run(preparedFilters(context.caller.guardrails));
    const { scan, panel, watch } = guardedOf(context);
    const passed = checked(await scan.request(request, panel), scan, context);
    return scan.notePassed(passed.watch === watch ? passed : { ...passed, watch });
  };
  const filesOf = (context: StageContext): FileScanning => ({
    scanned: (request) => scanned(request, context),
    unscanned: (names) => {
      dependencies.metrics.unscanned.add({ direction: 'sent' });
      const { generationId: generation_id, log } = context;
      log.warn('a file passed that no guardrail can scan', { generation_id, files: names.length });
    },
  });
  return {
    first: {
      name: 'guardrails',
      touches: 'request',
      guardsRequest: true,
      isActive,
      before: async (request, context) => ({ request: await scanned(request, context) }),
    },
    again: {
      name: 'guardrails-again',
      touches: 'request',
      isActive,
      before: async (request, context) => ({
        request: await withScannedFiles(
          await scanned(request, context),
          context,
          dependencies.filesAsText,
          filesOf(context),
        ),
      }),
    },
    shownResults: {
      name: 'guardrails-on-shown-results',
      touches: 'answer',
      isActive: (request, context) => isActive(request, context) && hasToolWork(request, context.settings),
      around: (request, next, context) => guardedResults(next(request), context, guardedOf(context)),
      endsWithLeg: () => true,
    },
    innermost: {
      name: 'guardrails-around-legs',
      touches: 'answer',
      isActive,
      around: (request, next, context, wish) =>
        new GuardedLeg(request, next, context, guardedOf(context), wish?.kind === undefined),
      // Services judge the end of an answer after its leg.
      endsWithLeg: (context) => guardedOf(context).panel.isEmpty,
    },
  };
}

/** Nothing can be found in the ids of tokens. */
function refuseTokens({ embedding }: GenerationRequest): void {
  if (embedding?.inputs.every((input) => typeof input === 'string') !== false) return;
  const message = 'must be texts: guardrails of the key scan what is sent, and cannot read tokens';
  throw invalidRequest([{ path: 'input', message }]);
}

function hasFilters(applied: readonly AppliedGuardrail[]): boolean {
  return (
    applied.length > 0 &&
    applied.some(
      ({ guardrail: { builtins, filters, service } }) =>
        isGiven(builtins) || isGiven(filters) || service !== null,
    )
  );
}

function isGiven(list: readonly unknown[] | null): boolean {
  return list !== null && list.length > 0;
}

function guarded(
  context: StageContext,
  { compileFilters, judgesFor, metrics }: GuardrailStageDependencies,
): Guarded {
  const { caller, generationId, note, log, signal } = context;
  const unfinished = ({ action, guardrailId }: Finding, direction: TextPlace['direction']) => {
    const outcome = action === 'flag' ? 'passed' : 'refused';
    metrics.unfinishedScans.add({ direction, outcome });
    log.warn('custom patterns of a guardrail could not read all of a text within their limit of work', {
      generation_id: generationId,
      guardrail_id: guardrailId,
      direction,
      outcome,
    });
    // A later request may be under simpler patterns.
    context.keepNothing();
  };
  const scan = new GuardrailScan(compileFilters(caller.guardrails), unfinished, signal);
  const report = ({ sent, received }: Unscanned) => {
    if (sent !== 0) metrics.unscanned.add({ direction: 'sent' });
    if (received !== 0) metrics.unscanned.add({ direction: 'received' });
    log.warn('a guardrail did not scan all of a generation', {
      generation_id: generationId,
      unscanned_sent: sent,
      unscanned_received: received,
    });
  };
  const panel = new JudgePanel(
    judgesFor(caller.guardrails, generationId),
    {
      found: (findings, direction) => scan.note(findings, direction),
      failed: (judge, direction, failure) => {
        const { engine, guardrailId, onFailure } = judge;
        note(failureEntry(judge, direction, failure));
        metrics.serviceFailures.add({ engine, on_failure: onFailure });
        log.warn('the service of a guardrail gave no verdict', {
          generation_id: generationId,
          guardrail_id: guardrailId,
          engine,
          direction,
          on_failure: onFailure,
          reason: failure.message,
        });
        if (onFailure === 'closed') throw noVerdictError(judge, failure);
        // A later request may find the service at work.
        context.keepNothing();
      },
    },
    signal,
  );
  const receipt = new Receipt(scan, () => panel.counts, report, context.noteLast);
  const watch: WireWatch = {
    sent: (body) => receipt.sent(body),
    received: (batch) => receipt.received(batch),
    passedError: (texts) => passedError(texts, { scan, panel, note }),
    ended: () => receipt.ended(),
  };
  return { scan, panel, watch };
}

/** An answer whose results of server tools are scanned as they pass. */
async function* guardedResults(
  batches: ReturnType<Next>,
  context: StageContext,
  { scan, panel }: Guarded,
): AsyncGenerator<EventBatch, void, undefined> {
  for await (const batch of batches) {
    if (!batch.some(({ type }) => type === 'server-result')) {
      yield batch;
      continue;
    }
    const passing = await scannedResults(batch, scan, panel);
    try {
      checked(undefined, scan, context);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      yield [{ type: 'failure', error }];
      return;
    }
    yield passing;
  }
}
