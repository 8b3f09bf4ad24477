import { Counter } from '../../kit/metrics/counter.ts';

/** Counts characters that guardrails did not scan. */
export class GuardrailMetrics {
  readonly unscanned = new Counter({
    name: 'signalbox_guardrail_unscanned_total',
    help:
      'Generations under a guardrail of which some characters were not scanned: by a fault of the gateway, ' +
      'or because a service gave no verdict, or patterns that only flag took too long, and the text passed.',
    labels: ['direction'],
  });
  readonly serviceFailures = new Counter({
    name: 'signalbox_guardrail_service_failures_total',
    help: 'Times that a service of a guardrail gave no verdict, by what becomes of the texts then.',
    labels: ['engine', 'on_failure'],
  });
  readonly unfinishedScans = new Counter({
    name: 'signalbox_guardrail_unfinished_scans_total',
    help:
      'Texts that custom patterns could not read to their end within their limit of work, ' +
      'by what became of them.',
    labels: ['direction', 'outcome'],
  });

  constructor() {
    // Exposed from the start, so that an alert sees the first one too.
    for (const direction of ['sent', 'received']) {
      for (const outcome of ['refused', 'passed']) this.unfinishedScans.of({ direction, outcome });
    }
    this.unscanned.of({ direction: 'sent' });
    this.unscanned.of({ direction: 'received' });
  }

  get families() {
    return [this.unscanned, this.serviceFailures, this.unfinishedScans];
  }
}
