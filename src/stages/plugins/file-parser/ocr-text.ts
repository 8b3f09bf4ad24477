import { isJsonObject } from '../../../kit/json/json.ts';
import { numberAt, objectAt } from '../../../kit/json/members.ts';
import type { Egress } from '../../../net/egress/egress.ts';
import { PDF_LIMITS, type PdfText } from '../../../web/pdf-text.ts';
import { callService, type ProviderService, ServiceFailed } from '../provider-service.ts';

const PATH = '/ocr';

const LIMITS = { totalMs: 120_000, maxBytes: 32 * 1024 * 1024 };

export interface OcrFile {
  readonly bytes: Uint8Array;
  /** Pages that are paid: the service is asked for no others. */
  readonly pages: number;
}

/** The text of a PDF, and the pages that the service says it has read. Rejects as `callService` does. */
export async function ocrText(
  { bytes, pages: paid }: OcrFile,
  service: ProviderService,
  signal: AbortSignal,
  egress: Pick<Egress, 'call'>,
): Promise<PdfText & { readonly billedPages: number }> {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  const document = { type: 'document_url', document_url: `data:application/pdf;base64,${data}` };
  const numbers = Array.from({ length: paid }, (_, index) => index);
  const body = { document, include_image_base64: false, pages: numbers };
  const answer = await callService(service, { path: PATH, body, limits: LIMITS, signal }, egress);
  const { pages } = answer;
  if (!Array.isArray(pages)) {
    throw new ServiceFailed(service.provider, PATH, 'its answer has no pages', true);
  }
  const texts = pages.map((page) =>
    isJsonObject(page) && typeof page.markdown === 'string' ? page.markdown.trim() : '',
  );
  const text = texts.join('\n\n').trim();
  const { characters } = PDF_LIMITS;
  const reported = numberAt(objectAt(answer, 'usage_info') ?? {}, 'pages_processed') ?? 0;
  return {
    text: text.slice(0, characters),
    pages: pages.length,
    isCut: text.length > characters,
    billedPages: Math.max(pages.length, Number.isSafeInteger(reported) ? reported : 0),
  };
}
