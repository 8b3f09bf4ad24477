import type { Static } from 'typebox';
import type { healthSchema, readySchema } from '../../../contract/envelopes/health.ts';
import type { creditsSchema } from '../../../contract/workspaces/credits.ts';
import type { startSchema } from '../../openapi/start-page.ts';
import type { RouteExample } from '../../route.ts';

const OK = { status: 'ok' } satisfies Static<typeof healthSchema>;

/** The balance, probes, figures, and the description itself. */
export const OPERATION_EXAMPLES = {
  getCredits: {
    answer: { data: { total_credits: 100, total_usage: 0.000336 } } satisfies Static<typeof creditsSchema>,
  },
  getStart: {
    answer: {
      name: 'Signalbox',
      version: '0.1.0',
      api: '/api/v1',
      models: '/api/v1/models',
      docs: '/docs',
      openapi: '/api/v1/openapi.json',
    } satisfies Static<typeof startSchema>,
  },
  getInterfaceDescription: { answer: { openapi: '3.1.0' } },
  getInterfacePage: { answer: '<!doctype html>\n<html lang="en">...' },
  getMetrics: {
    answer:
      '# HELP signalbox_info The version that runs.\n# TYPE signalbox_info gauge\n' +
      'signalbox_info{version="0.1.0"} 1\n',
  },
  getHealth: { answer: OK },
  getReadiness: {
    answer: {
      ...OK,
      parts: { ledger: OK, store: OK, events: OK, providers: OK },
    } satisfies Static<typeof readySchema>,
  },
} as const satisfies Record<string, RouteExample>;
