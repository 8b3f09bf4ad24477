import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import {
  type GenerationCountsQuery,
  type GenerationsQuery,
  generationCountsQuerySchema,
  generationCountsReplySchema,
  generationsQuerySchema,
  generationsReplySchema,
  LOG_COLUMN_NAMES,
  type LoggedGenerationObject,
} from '../../contract/generations/generation-log.ts';
import {
  type RunningGenerationsQuery,
  runningGenerationsQuerySchema,
  runningGenerationsReplySchema,
} from '../../contract/generations/running-generation.ts';
import { csvLine, plainNumber } from '../../kit/text/csv.ts';
import type { LogViewer } from '../../manage/generations/generation-log.ts';
import type { Call, Route } from '../route.ts';
import {
  ANALYTICS_WARNING_HEADER,
  analyticsWarning,
  callerOf,
  errors,
  ok,
  READ,
  withQuery,
} from './row-parts.ts';
import { withinQueryTime } from './within-query-time.ts';

const LOG = { ...READ, tag: 'Generations', auth: 'any', rateClass: 'management' } as const;

/** The log of generations. */
export const GENERATION_LOG_ROUTES: readonly Route[] = [
  {
    ...LOG,
    path: '/generations',
    operationId: 'listGenerations',
    summary: 'The log of generations: newest first, filtered, page by page or as an export',
    request: withQuery(generationsQuerySchema),
    responseHeaders: ANALYTICS_WARNING_HEADER,
    responses: {
      200: ok(generationsReplySchema),
      ...errors(errorEnvelopeSchema, [400, 401, 408, 500, 503]),
    },
    handler: async (call) => {
      const query = call.query as GenerationsQuery;
      const format = EXPORTS[query.format ?? 'json'];
      if (format !== undefined) return exportRows(call, query, format);
      const headers = analyticsWarning(call);
      const page = await withinQueryTime(call, (signal) =>
        call.services.generationLog.list(viewerOf(call), query, signal),
      );
      call.exchange.reply.json(200, page, headers());
    },
  },
  {
    ...LOG,
    path: '/generations/counts',
    operationId: 'countGenerations',
    summary: 'How many generations the log has, over time',
    request: withQuery(generationCountsQuerySchema),
    responseHeaders: ANALYTICS_WARNING_HEADER,
    responses: {
      200: ok(generationCountsReplySchema),
      ...errors(errorEnvelopeSchema, [400, 401, 408, 500, 503]),
    },
    handler: async (call) => {
      const headers = analyticsWarning(call);
      const data = await withinQueryTime(call, (signal) =>
        call.services.generationLog.counts(viewerOf(call), call.query as GenerationCountsQuery, signal),
      );
      call.exchange.reply.json(200, { data }, headers());
    },
  },
  {
    ...LOG,
    path: '/generations/running',
    operationId: 'listRunningGenerations',
    summary: 'Generations that have begun and not ended, newest first',
    request: withQuery(runningGenerationsQuerySchema),
    responses: {
      200: ok(runningGenerationsReplySchema),
      ...errors(errorEnvelopeSchema, [400, 401, 500, 503]),
    },
    handler: async (call) => {
      const query = call.query as RunningGenerationsQuery;
      call.exchange.reply.json(200, await call.services.runningGenerations.list(viewerOf(call), query));
    },
  },
];

/** Management keys see their account, others themselves. */
function viewerOf(call: Call): LogViewer {
  const { accountId, key } = callerOf(call);
  return { accountId, keyHash: key.isManagement ? null : key.hash };
}

/** A format of exports. */
interface ExportFormat {
  readonly contentType: string;
  readonly extension: string;
  /** The first line; empty = none. */
  readonly head: string;
  readonly line: (row: LoggedGenerationObject) => string;
}

const EXPORTS: Readonly<Record<string, ExportFormat>> = {
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    extension: 'ndjson',
    head: '',
    line: (row) => `${withPlainAmounts(JSON.stringify(row))}\n`,
  },
  csv: {
    contentType: 'text/csv; charset=utf-8',
    extension: 'csv',
    head: csvLine(LOG_COLUMN_NAMES),
    line: (row) => csvLine(LOG_COLUMN_NAMES.map((name) => row[name])),
  },
};

/** Amounts below a millionth of a dollar without an exponent. Inside texts quotes are escaped, so none matches. */
function withPlainAmounts(json: string): string {
  return json.replace(
    /("(?:byok_)?cost":)([\d.]+e-\d+)/g,
    (_, name: string, amount: string) => name + plainNumber(Number(amount)),
  );
}

/** Writes rows as they are read; a slow reader holds up the reading. */
async function exportRows(
  call: Call,
  query: GenerationsQuery,
  { contentType, extension, head, line }: ExportFormat,
): Promise<void> {
  const { reply, signal } = call.exchange;
  const parts = call.services.generationLog.export(viewerOf(call), query, signal);
  // The first part is read before the head is written: a refusal still has its own status.
  let part = await parts.next();
  reply.beginDownload(contentType, `generations.${extension}`);
  let text = head;
  while (part.done !== true && !reply.gone && !signal.aborted) {
    text += part.value.map(line).join('');
    if (!reply.send(text)) await reply.drained(signal);
    text = '';
    part = await parts.next();
  }
  reply.end(text);
}
