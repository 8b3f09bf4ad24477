import type { GatewayError } from '../../ir/errors.ts';
import { HOSTED_PRICES } from '../../ir/hosted-use.ts';
import type { Bill, Usage } from '../../ir/usage.ts';
import { remembered } from '../../kit/collections/remembered.ts';
import { Counter, type Sum } from '../../kit/metrics/counter.ts';
import { DURATION_BOUNDS } from '../../kit/metrics/duration-bounds.ts';
import { type Distribution, Histogram } from '../../kit/metrics/histogram.ts';
import type { MetricFamily } from '../../kit/metrics/metric-family.ts';
import { usdOf } from '../../kit/money.ts';
import type { Leg } from '../leg/leg.ts';
import type { GenerationTimes, PlannedGeneration } from '../record/generation-row.ts';
import { toolUse } from '../record/row-prices.ts';
import type { Settlement } from '../record/settle.ts';

/** Label of generations that called no provider. */
const NO_PROVIDER = 'none';

/** The metrics of one provider, looked up once. */
interface ProviderFigures {
  readonly prompt: Sum;
  readonly completion: Sum;
  readonly cached: Sum;
  readonly reasoning: Sum;
  readonly credits: Sum;
  readonly duration: Distribution;
  /** Completed main legs. */
  readonly answered: Sum;
}

const PRICED_TOOLS = ['web_search', ...HOSTED_PRICES] as const;

/** A bound above any configured number of providers. */
const MAX_PROVIDER_LABELS = 1000;

/** Counts ended generations. Labels come from closed sets: formats, configured providers, kinds of error. */
export class GenerationMetrics {
  readonly #ended = new Counter({
    name: 'signalbox_generations_total',
    help: 'Generations that ended, by how they did and where their usage is from.',
    labels: ['format', 'provider', 'outcome', 'usage_source'],
  });
  readonly #failures = new Counter({
    name: 'signalbox_generation_failures_total',
    help: 'Generations that failed after an upstream was called, by kind of error.',
    labels: ['provider', 'kind'],
  });
  readonly #calls = new Counter({
    name: 'signalbox_upstream_calls_total',
    help: 'Calls of upstreams, by what they answered; where one did not answer, by what that means to the caller.',
    labels: ['provider', 'status'],
  });
  readonly #legs = new Counter({
    name: 'signalbox_legs_total',
    help: 'Model calls inside generations, attempts at one counted as one: by what they were for and how they ended.',
    labels: ['provider', 'kind', 'status'],
  });
  readonly #tokens = new Counter({
    name: 'signalbox_tokens_total',
    help: 'Tokens used. Cached ones are part of prompt, reasoning ones of completion.',
    labels: ['provider', 'kind'],
  });
  readonly #cost = new Counter({
    name: 'signalbox_cost_usd_total',
    help: 'Cost of generations: charged to credits, or at list price where the caller brought the credential.',
    labels: ['provider', 'kind'],
    text: (nanos) => String(usdOf(BigInt(nanos))),
  });
  readonly #unpriced = new Counter({
    name: 'signalbox_unpriced_tool_use_total',
    help: 'What upstreams did with tools of their own that their endpoint has no price for: charged to no account.',
    labels: ['provider', 'tool'],
  });
  readonly #firstContent = new Histogram({
    name: 'signalbox_first_content_seconds',
    help: 'From the request to the first content of its answer.',
    labels: ['provider'],
    bounds: DURATION_BOUNDS,
  });
  readonly #duration = new Histogram({
    name: 'signalbox_generation_seconds',
    help: 'From the request to the end of its answer.',
    labels: ['provider'],
    bounds: DURATION_BOUNDS,
  });

  readonly #refused = new Counter({
    name: 'signalbox_refused_requests_total',
    help: 'Requests of known keys that were refused before an upstream was called, by what their caller got.',
    labels: ['status', 'error_type'],
  });
  readonly #withoutRow = new Counter({
    name: 'signalbox_refused_requests_without_row_total',
    help: 'Those of them without a row of their own: a row of another one stands for them, or none could be stored.',
    labels: [],
  });

  readonly #ofProvider = remembered(
    MAX_PROVIDER_LABELS,
    (provider): ProviderFigures => ({
      prompt: this.#tokens.of({ provider, kind: 'prompt' }),
      completion: this.#tokens.of({ provider, kind: 'completion' }),
      cached: this.#tokens.of({ provider, kind: 'cached' }),
      reasoning: this.#tokens.of({ provider, kind: 'reasoning' }),
      credits: this.#cost.of({ provider, kind: 'credits' }),
      duration: this.#duration.of({ provider }),
      answered: this.#legs.of({ provider, kind: 'main', status: 'completed' }),
    }),
  );

  get families(): readonly MetricFamily[] {
    return [
      this.#ended,
      this.#failures,
      this.#calls,
      this.#legs,
      this.#tokens,
      this.#cost,
      this.#unpriced,
      this.#firstContent,
      this.#duration,
      this.#refused,
      this.#withoutRow,
    ];
  }

  noteRefused({ status, row }: GatewayError): void {
    this.#refused.add({ status: String(status), error_type: row.errorType });
  }

  noteWithoutRow(requests: number): void {
    if (requests > 0) this.#withoutRow.add({}, requests);
  }

  /** Counts a generation that has ended and is recorded. */
  note(
    { input, request, attemptLog }: PlannedGeneration,
    settlement: Settlement,
    times: GenerationTimes,
  ): void {
    const { usage, bill, outcome, error } = settlement;
    const provider = (attemptLog.selected ?? attemptLog.lastCalled)?.endpoint.provider.slug ?? NO_PROVIDER;
    this.#ended.add({ format: input.format, provider, outcome, usage_source: usage.source });
    if (error !== undefined) this.#failures.add({ provider, kind: error.kind });
    for (const { candidate, status } of attemptLog.calls) {
      this.#calls.add({ provider: candidate.endpoint.provider.slug, status: String(status) });
    }
    const { unpriced } = toolUse(attemptLog, request, settlement);
    for (const name in unpriced) {
      // Types of tools that are not known come from callers.
      const tool = (PRICED_TOOLS as readonly string[]).includes(name) ? name : 'other';
      this.#unpriced.add({ provider, tool }, Number(unpriced[name]));
    }
    const isPlain = attemptLog.legs.length === 1;
    for (const leg of attemptLog.legs) {
      // A single leg is counted with the final charge, which a limit may have lowered.
      if (isPlain) this.#noteUse(provider, usage, bill);
      else if (leg.end !== undefined) this.#noteUse(providerOf(leg), leg.end.usage, leg.end.bill);
      this.#noteLeg(leg);
    }
    if (times.firstContentMs !== undefined) {
      this.#firstContent.observe({ provider }, times.firstContentMs / 1000);
    }
    this.#ofProvider(provider).duration.observe(times.endMs / 1000);
  }

  #noteLeg(leg: Leg): void {
    const { end, lastCalled, kind } = leg;
    if (end === undefined || lastCalled === undefined) return;
    const provider = providerOf(leg);
    if (kind === 'main' && end.status === 'completed') this.#ofProvider(provider).answered.add(1);
    else this.#legs.add({ provider, kind, status: end.status });
  }

  #noteUse(provider: string, usage: Usage, bill: Bill): void {
    const figures = this.#ofProvider(provider);
    figures.prompt.add(usage.inputTokens);
    figures.completion.add(usage.outputTokens);
    figures.cached.add(usage.cachedTokens);
    figures.reasoning.add(usage.reasoningTokens);
    figures.credits.add(Number(bill.totalNanos));
    if (bill.isByok) {
      this.#cost.add({ provider, kind: 'byok' }, Number(bill.inputNanos + bill.outputNanos));
    }
  }
}

function providerOf({ selected, lastCalled }: Leg): string {
  return (selected ?? lastCalled)?.endpoint.provider.slug ?? NO_PROVIDER;
}
