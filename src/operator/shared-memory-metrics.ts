import { gauge } from '../kit/metrics/gauge.ts';
import type { MetricFamily } from '../kit/metrics/metric-family.ts';
import type { NewsExchanger } from '../routing/news/news-exchanger.ts';

export interface SharedMemorySources {
  readonly shared: { readonly kind: string; isUp(): boolean };
  readonly limiter: { readonly decidedAlone: number };
  readonly news: Pick<NewsExchanger, 'gateways' | 'received'>;
}

/** Metrics of what gateways share; a gateway that shares nothing has none of them. */
export function sharedMemoryMetrics({ shared, limiter, news }: SharedMemorySources): MetricFamily[] {
  return [
    gauge({
      name: 'signalbox_shared_memory_available',
      help: '1 while the store of shared limits and routing answers, 0 while each gateway goes on alone.',
      read: () => [[{ store: shared.kind }, shared.isUp() ? 1 : 0]],
    }),
    gauge({
      name: 'signalbox_gateways',
      help: 'Gateways that share the store, this one included, as of the last exchange with it.',
      read: () => news.gateways,
    }),
    gauge({
      name: 'signalbox_limits_decided_alone_total',
      help: 'Requests that were counted against the share of this gateway, because the store did not answer.',
      type: 'counter',
      read: () => limiter.decidedAlone,
    }),
    gauge({
      name: 'signalbox_health_reports_received_total',
      help: 'Reports of other gateways about endpoints.',
      type: 'counter',
      read: () => news.received,
    }),
  ];
}
