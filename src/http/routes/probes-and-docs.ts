import Type from 'typebox';
import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import {
  healthSchema,
  notReadySchema,
  readinessQuery,
  readySchema,
} from '../../contract/envelopes/health.ts';
import { EXPOSITION_TYPE } from '../../kit/metrics/exposition.ts';
import { FRAMELESS_HEADERS } from '../access/frameless-headers.ts';
import { carriesToken } from '../access/metrics-token.ts';
import { startPage, startSchema } from '../openapi/start-page.ts';
import { type Route, route } from '../route.ts';
import { readinessOf, readinessOfPart, UNKNOWN_PARTS } from './readiness.ts';
import { errors, NOTHING_DECLARED, ok, READ } from './row-parts.ts';

const PROBE = {
  ...READ,
  mount: 'root',
  tag: 'Operation',
  rateClass: 'probe',
  request: NOTHING_DECLARED,
} as const;

/** Headers of pages that need nothing but themselves, and link to other hosts. */
const PAGE_HEADERS = { ...FRAMELESS_HEADERS, 'Cache-Control': 'no-cache', 'Referrer-Policy': 'no-referrer' };

/** Health, readiness, metrics, and the description of the interface. */
export const PROBE_AND_DOCS_ROUTES: readonly Route[] = [
  route({
    ...READ,
    path: '/openapi.json',
    operationId: 'getInterfaceDescription',
    summary: 'This description',
    permission: 'interface.read',
    tag: 'Operation',
    request: NOTHING_DECLARED,
    responses: {
      200: ok(Type.Object({ openapi: Type.String() })),
      ...errors(errorEnvelopeSchema, [400, 431, 500]),
    },
    handler: ({ exchange, server }) => exchange.reply.jsonText(200, server.document()),
  }),
  route({
    ...PROBE,
    path: '/',
    operationId: 'getStart',
    summary: 'Where everything is: a page for browsers, JSON for others',
    permission: 'interface.read',
    rateClass: 'public',
    responses: {
      200: {
        description: 'Addresses',
        content: { 'application/json': startSchema, 'text/html': Type.String() },
      },
      ...errors(errorEnvelopeSchema, [500]),
    },
    handler: ({ exchange, settings }) => {
      const { html, contentSecurityPolicy, addresses } = startPage(settings);
      if (exchange.request.header('accept')?.includes('text/html') !== true) {
        return exchange.reply.json(200, addresses);
      }
      exchange.reply.html(html, {
        ...PAGE_HEADERS,
        'Content-Security-Policy': contentSecurityPolicy,
        Vary: 'Accept',
      });
    },
  }),
  route({
    ...PROBE,
    path: '/docs',
    operationId: 'getInterfacePage',
    summary: 'This description as a page',
    permission: 'interface.read',
    rateClass: 'public',
    responses: {
      200: { description: 'The page', content: { 'text/html': Type.String() } },
      ...errors(errorEnvelopeSchema, [431, 500]),
    },
    handler: ({ exchange, server }) => {
      const { html, contentSecurityPolicy } = server.page();
      exchange.reply.html(html, {
        ...PAGE_HEADERS,
        'Content-Security-Policy': contentSecurityPolicy,
      });
    },
  }),
  route({
    ...PROBE,
    path: '/metrics',
    operationId: 'getMetrics',
    summary:
      'Figures of this process, in the text format of Prometheus, for `metrics.token` and for management keys of the ' +
      'first account',
    permission: 'metrics.read',
    isPublic: ({ areMetricsPublic, metricsToken }, request) =>
      areMetricsPublic || carriesToken(request, metricsToken),
    responses: {
      200: { description: 'The figures', content: { 'text/plain': Type.String() } },
      ...errors(errorEnvelopeSchema, [400, 401, 403, 500, 503]),
    },
    handler: async ({ exchange, services }) => exchange.reply.text(await services.metrics(), EXPOSITION_TYPE),
  }),
  route({
    ...PROBE,
    path: '/healthz',
    operationId: 'getHealth',
    summary: 'Whether the process is alive',
    permission: 'probes.read',
    responses: { 200: ok(healthSchema), ...errors(errorEnvelopeSchema, [400, 431, 500]) },
    handler: ({ exchange }) => exchange.reply.json(200, { status: 'ok' }),
  }),
  route({
    ...PROBE,
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Whether the gateway takes requests, and the state of its parts',
    permission: 'probes.read',
    request: { ...NOTHING_DECLARED, query: readinessQuery },
    responses: {
      200: ok(readySchema),
      503: {
        description: 'Starting, draining, to be restarted, or no generation can be admitted',
        content: { 'application/json': notReadySchema },
      },
      ...errors(errorEnvelopeSchema, [400, 431, 500]),
    },
    handler: ({ exchange, server, services, query }) => {
      const isStarting = server.state === 'starting';
      const parts = isStarting ? UNKNOWN_PARTS : services.readiness();
      const { part } = query;
      const { status, body } =
        part === undefined
          ? readinessOf({
              state: server.state,
              restartReason: isStarting ? null : (services.restartReason?.() ?? null),
              parts,
            })
          : readinessOfPart(part, parts);
      exchange.reply.json(status, body, status === 200 ? {} : { 'Retry-After': '1' });
    },
  }),
];
