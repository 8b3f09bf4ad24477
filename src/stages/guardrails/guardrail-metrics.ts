import { Counter } from '../../kit/metrics/counter.ts';

/** Counts characters that guardrails did not scan. */
export class GuardrailMetrics {
  readonly unscanned = new Counter({
    name: 'signalbox_guardrail_unscanned_total',
    help:
      'Generations under a guardrail of which some characters were not scanned: by a fault of the gateway, ' +
      'or because a service gave no verdict and its guardrail lets texts pass then.',
    labels: ['direction'],
  });
  readonly serviceFailures = new Counter({
    name: 'signalbox_guardrail_service_failures_total',
    help: 'Times that a service of a guardrail gave no verdict, by what becomes of the texts then.',
    labels: ['engine', 'on_failure'],
  });

  constructor() {
    // Exposed from the start, so that an alert sees the first one too.
    this.unscanned.of({ direction: 'sent' });
    this.unscanned.of({ direction: 'received' });
  }

  get families() {
    return [this.unscanned, this.serviceFailures];
  }
}
