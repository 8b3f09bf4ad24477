import type { Egress } from '../../../egress/egress.ts';
import { isJsonObject } from '../../../kit/json/json.ts';
import { PDF_LIMITS, type PdfText } from '../../../web/pdf-text.ts';
import { TextPayment } from '../../../web/text-payment.ts';
import { callService, type ProviderService, serviceFailed } from '../provider-service.ts';

const PATH = '/ocr';

const LIMITS = { totalMs: 120_000, maxBytes: 32 * 1024 * 1024 };

/** The text of a PDF by a service that reads pictures of pages. Rejects as `callService` does. */
export async function ocrText(
  bytes: Uint8Array,
  service: ProviderService,
  signal: AbortSignal,
  egress: Pick<Egress, 'call'>,
): Promise<PdfText> {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  const document = { type: 'document_url', document_url: `data:application/pdf;base64,${data}` };
  const body = { document, include_image_base64: false };
  const { pages } = await callService(service, { path: PATH, body, limits: LIMITS, signal }, egress);
  if (!Array.isArray(pages)) throw serviceFailed(service.provider, PATH, 'its answer has no pages');
  const texts = pages.map((page) =>
    isJsonObject(page) && typeof page.markdown === 'string' ? page.markdown.trim() : '',
  );
  const text = texts.join('\n\n').trim();
  const { characters } = PDF_LIMITS;
  return {
    text: text.slice(0, characters),
    pages: pages.length,
    isCut: text.length > characters,
    payment: new TextPayment(),
  };
}
