import { GatewayError } from '../../../ir/errors.ts';
import type { PaidCharge } from '../../../ir/leg.ts';
import type { Nanos } from '../../../kit/money.ts';
import type { StageContext } from '../../stage.ts';
import { ServiceFailed } from '../provider-service.ts';

/**
 * Pays for the pages of one file of a request: for all of them, before a service reads them. The text is kept, so of
 * requests that bring the same file at the same time only the one stays charged that has it read.
 */
export class PagePayment {
  readonly #pageNanos: Nanos;
  readonly #context: Pick<StageContext, 'charge' | 'writeOff'>;
  #paid: PaidCharge | undefined;
  #pages = 0;
  #isRead = false;

  constructor(pageNanos: Nanos, context: Pick<StageContext, 'charge' | 'writeOff'>) {
    this.#pageNanos = pageNanos;
    this.#context = context;
  }

  /** Pays for so many pages. Throws if the limits do not leave so much. */
  async begin(pages: number): Promise<void> {
    this.#pages = pages;
    if (this.#pageNanos === 0n) return;
    this.#paid = await this.#context.charge('file_page', BigInt(pages) * this.#pageNanos);
    if (this.#paid !== undefined) return;
    throw new GatewayError('payment', 'What is left of the limits does not pay for the pages of the file');
  }

  /** Runs the service. What it reads beyond the paid pages is written off. */
  async reading<T extends { readonly billedPages: number }>(read: (pages: number) => Promise<T>): Promise<T> {
    this.#isRead = true;
    const text = await read(this.#pages);
    const beyond = text.billedPages - this.#pages;
    if (beyond > 0) this.#context.writeOff({ cause: 'tools', nanos: BigInt(beyond) * this.#pageNanos });
    return text;
  }

  /** Ends the payment. Returns what the pages cost this request. */
  async finish(): Promise<Nanos> {
    if (this.#isRead) return BigInt(this.#pages) * this.#pageNanos;
    await this.#paid?.waive();
    return 0n;
  }

  /** The file was not read. If the service may have begun, or the caller has left, it stays paid. */
  async giveUp(problem: unknown): Promise<void> {
    const isBilled = this.#isRead && (!(problem instanceof ServiceFailed) || problem.mayBeBilled);
    if (!isBilled) await this.#paid?.waive();
  }
}
