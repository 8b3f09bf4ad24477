import {
  fileAnnotation,
  type ParsedFile,
  writtenFile,
} from '../../../dialects/shared/answers/file-annotation.ts';
import { invalidRequest } from '../../../ir/errors.ts';
import type { Event, EventBatch } from '../../../ir/events.ts';
import { isPluginOff, pluginIn, pluginPlace } from '../../../ir/plugins.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import { objectAt, textAt } from '../../../kit/json/members.ts';
import { type Nanos, usdOf } from '../../../kit/money.ts';
import { countText } from '../../../kit/text/count-text.ts';
import type { Egress } from '../../../net/egress/egress.ts';
import { pdfPages } from '../../../web/pdf-text.ts';
import { textOwner } from '../../../web/text-owner.ts';
import type { Stage, StageContext } from '../../stage.ts';
import { type ProviderService, usableProvider, wantedService } from '../provider-service.ts';
import { fileRefused } from './file-refused.ts';
import { type FileReader, type FileTexts, localReader, parsedFile, partOf } from './file-texts.ts';
import { type FilePart, hasParsableFile, withFilesReplaced } from './find-files.ts';
import { ocrText } from './ocr-text.ts';
import { PagePayment } from './page-payment.ts';

export const FILE_PARSER = 'file-parser';

/** The reader of the files of a request. `local`: a process of the gateway. */
type Engine = { readonly kind: 'local' } | OcrEngine;

interface OcrEngine {
  readonly kind: 'ocr';
  readonly service: ProviderService;
  readonly pageNanos: Nanos;
}

/** Pages of one file that a service reads: more than services take in one call. */
const MAX_OCR_PAGES = 1000;

/** Name of the service in requests. */
const OCR = 'mistral-ocr';

const LOCAL: Engine = { kind: 'local' };

/**
 * Puts the text of PDF files in their place, if the plugin asks for it or no endpoint takes files. Answers name the
 * files in formats that can (`namesParsedFiles`), and so do failures.
 */
export function fileParserStage(egress: Egress, texts: FileTexts): Stage {
  const parsedFor = new WeakMap<StageContext, readonly ParsedFile[]>();
  return {
    name: FILE_PARSER,
    touches: 'request',
    relaysUnchanged: true,
    isActive: (request) =>
      hasParsableFile(request) ? !isPluginOff(request, FILE_PARSER) : engineIn(request) === OCR,
    async before(request, context) {
      if (!hasParsableFile(request)) {
        configuredOcr(request, context);
        return undefined;
      }
      const engine = await engineFor(request, context);
      if (engine === undefined) return undefined;
      const parsed = new Map<FilePart, ParsedFile>();
      for (const file of texts.filesIn(request)) parsed.set(file, await parse(file, engine, context));
      const all = [...parsed.values()];
      parsedFor.set(context, all);
      context.addFailureMetadata({ file_annotations: all.map(writtenFile) });
      return { request: withFilesReplaced(request, (file) => partOf(file, parsed.get(file))) };
    },
    around(request, next, context) {
      const isNamed = request.formatFacts.conversation?.namesParsedFiles === true;
      const files = isNamed ? parsedFor.get(context) : undefined;
      return files === undefined ? next(request) : annotated(next(request), files);
    },
    endsWithLeg: () => true,
  };

  async function parse(file: FilePart, engine: Engine, context: StageContext): Promise<ParsedFile> {
    const { signal, note } = context;
    const { read, nanos } =
      engine.kind === 'ocr'
        ? await readForMoney(file, engine, context)
        : { read: await texts.of(file, localReader(context), signal), nanos: 0n };
    const { name, text, pages, isCut } = read;
    const data = {
      engine: engine.kind === 'ocr' ? OCR : 'cloudflare-ai',
      pages,
      characters: text.length,
      ...(nanos > 0n && { cost: usdOf(nanos) }),
    };
    const summary = isCut
      ? `Read the first ${countText(pages, 'page')} of a file`
      : `Read ${countText(pages, 'page')} of a file`;
    note({ type: 'plugin', name: FILE_PARSER, summary, data: { ...data, file: name, truncated: isCut } });
    return parsedFile(read);
  }

  async function readForMoney(file: FilePart, { service, pageNanos }: OcrEngine, context: StageContext) {
    const payment = new PagePayment(pageNanos, context);
    const reader: FileReader = {
      kind: 'ocr',
      async begin(bytes, name) {
        const pages = await pdfPages(bytes, { signal: context.signal, owner: textOwner(context.caller) });
        if (pages > MAX_OCR_PAGES) {
          throw fileRefused(name, `has ${pages} pages: mistral-ocr reads at most ${MAX_OCR_PAGES}`);
        }
        await payment.begin(pages);
      },
      read: (bytes, signal) => payment.reading((pages) => ocrText({ bytes, pages }, service, signal, egress)),
    };
    const read = await texts.of(file, reader, context.signal).catch(async (problem: unknown) => {
      await payment.giveUp(problem);
      throw problem;
    });
    return { read, nanos: await payment.finish() };
  }
}

/** The reader for a request; undefined: its files go to the model as they are. */
async function engineFor(request: GenerationRequest, context: StageContext): Promise<Engine | undefined> {
  switch (engineIn(request)) {
    case 'native':
      return undefined;
    case OCR:
      return ocrFor(request, context);
    case 'cloudflare-ai':
    case 'pdf-text':
      return LOCAL;
    default:
      return (await needsText(request, context)) ? LOCAL : undefined;
  }
}

function engineIn(request: GenerationRequest): string | undefined {
  const plugin = pluginIn(request, FILE_PARSER);
  return plugin && textAt(objectAt(plugin, 'pdf') ?? {}, 'engine');
}

/** Whether endpoints could serve the request if its files were text, and none can as it is. */
async function needsText(request: GenerationRequest, { endpointsFor }: StageContext): Promise<boolean> {
  if ((await endpointsFor(request)).length > 0) return false;
  const asText = withFilesReplaced(request, () => ({ type: 'text', text: '' }));
  return (await endpointsFor(asText)).length > 0;
}

/** What the service is called with. Throws 400 without it. */
function configuredOcr(request: GenerationRequest, { settings }: StageContext) {
  const { ocr, catalog } = settings;
  const plugin = pluginIn(request, FILE_PARSER) ?? {};
  const path = `${pluginPlace(request, plugin)}.pdf.engine`;
  const provider = ocr && usableProvider(ocr.provider, catalog);
  if (ocr === undefined || provider === undefined) {
    const message = 'mistral-ocr is not configured on this gateway (plugins.file-parser.ocr)';
    throw invalidRequest([{ path, message }]);
  }
  return { ...ocr, provider, plugin, path };
}

async function ocrFor(request: GenerationRequest, context: StageContext): Promise<Engine> {
  const { provider, model, pageNanos, plugin, path } = configuredOcr(request, context);
  const service = wantedService(request, plugin, { provider, model }, context);
  if (pageNanos === undefined && !(await context.isUnlimited())) {
    const message =
      'mistral-ocr has no price on this gateway (plugins.file-parser.ocr.price_per_page), so it serves no key, ' +
      'workspace or account with a limit or a balance';
    throw invalidRequest([{ path, message }], 'permission');
  }
  return { kind: 'ocr', service, pageNanos: pageNanos ?? 0n };
}

/** The answer with the files as annotations of its first text. */
async function* annotated(
  batches: AsyncIterable<EventBatch>,
  files: readonly ParsedFile[],
): AsyncGenerator<EventBatch, void, undefined> {
  let isDone = false;
  for await (const batch of batches) {
    const at = isDone ? -1 : batch.findIndex((event) => event.type === 'part-end' && event.kind === 'text');
    const end = batch[at];
    if (end?.type !== 'part-end') {
      yield batch;
      continue;
    }
    isDone = true;
    const { item, part } = end;
    const named = files.map((file): Event => {
      return { type: 'annotation', item, part, annotation: fileAnnotation(file) };
    });
    yield [...batch.slice(0, at), ...named, ...batch.slice(at)];
  }
}
