import { GatewayError } from '../../../ir/errors.ts';
import type { PaidCharge } from '../../../ir/leg.ts';
import type { Nanos } from '../../../kit/money.ts';
import type { PdfText } from '../../../web/pdf-text.ts';
import type { StageContext } from '../../stage.ts';

/**
 * Pays for the pages of one file of a request. How many pages a file has is known when it has been read: the first one
 * is paid before, so that a caller without money has nothing read.
 */
export class PagePayment {
  readonly #pageNanos: Nanos;
  readonly #context: Pick<StageContext, 'charge' | 'signal'>;
  #first: PaidCharge | undefined;

  constructor(pageNanos: Nanos, context: Pick<StageContext, 'charge' | 'signal'>) {
    this.#pageNanos = pageNanos;
    this.#context = context;
  }

  /** Pays for the first page. Throws if the limits do not leave so much. */
  async begin(): Promise<void> {
    this.#first = await this.#pay(1);
  }

  /** Pays for the other pages, unless the text was paid for already. Returns what all of them cost this request. */
  async finish({ pages, payment }: Pick<PdfText, 'pages' | 'payment'>): Promise<Nanos> {
    const before = this.#first === undefined ? 0 : 1;
    const isPaid = await payment?.once(async () => void (await this.#pay(pages - before)));
    if (isPaid === true && pages > 0) return BigInt(pages) * this.#pageNanos;
    await this.#first?.waive();
    return 0n;
  }

  /** The file was not read. If the caller left, the service was asked in vain and is paid. */
  async giveUp(): Promise<void> {
    if (!this.#context.signal.aborted) await this.#first?.waive();
  }

  async #pay(pages: number): Promise<PaidCharge | undefined> {
    if (pages <= 0 || this.#pageNanos === 0n) return undefined;
    const paid = await this.#context.charge('file_page', BigInt(pages) * this.#pageNanos);
    if (paid !== undefined) return paid;
    throw new GatewayError('payment', 'What is left of the limits does not pay for the pages of the file');
  }
}
