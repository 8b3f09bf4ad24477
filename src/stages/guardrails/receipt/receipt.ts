import type { EventBatch } from '../../../ir/events.ts';
import type { PipelineEntry } from '../../../ir/metadata.ts';
import type { WireWatch } from '../../../ir/wire-watch.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import type { JudgedCount } from '../judges/judge-panel.ts';
import { receivedCharacters } from './received-characters.ts';
import { sentCharacters } from './sent-characters.ts';

export interface Unscanned {
  readonly sent: number;
  readonly received: number;
}

export interface ScannerCount {
  /** All texts that were scanned and may be sent, as they may be. */
  sentTexts(): Iterable<string>;
  /** Characters of all legs that were scanned on their way back. */
  readonly receivedCharacters: number;
  /** The rest of an answer was withheld: none of it has to be scanned. */
  readonly isBlocked: boolean;
}

/**
 * How many characters of a generation went out and came back, and how many of them were scanned. What went out and
 * came back is counted beside the scanner: in rendered bodies, and in the events of legs.
 */
export class Receipt implements Omit<WireWatch, 'passedError'> {
  readonly #scanner: ScannerCount;
  readonly #judged: () => readonly JudgedCount[];
  readonly #report: (unscanned: Unscanned) => void;
  readonly #show: (entry: PipelineEntry) => void;
  #sent = 0;
  #sentScanned = 0;
  #received = 0;
  /** Characters that came back before the events in which something was blocked. */
  #receivedUnblocked = 0;
  #isShown = false;

  /** `judged`: what services have judged so far. `show` gets the entry of the pipeline, once something was scanned. */
  constructor(
    scanner: ScannerCount,
    judged: () => readonly JudgedCount[],
    report: (unscanned: Unscanned) => void,
    show: (entry: PipelineEntry) => void,
  ) {
    this.#scanner = scanner;
    this.#judged = judged;
    this.#report = report;
    this.#show = show;
  }

  sent(body: JsonObject): void {
    const { sent, scanned } = sentCharacters(body, this.#scanner.sentTexts());
    this.#sent += sent;
    this.#sentScanned += scanned;
    if (!this.#isShown) {
      this.#isShown = true;
      this.#show(this.#entry());
    }
  }

  received(batch: EventBatch): void {
    if (!this.#scanner.isBlocked) this.#receivedUnblocked = this.#received;
    this.#received += receivedCharacters(batch);
  }

  ended(): void {
    const { isBlocked, receivedCharacters: scanned } = this.#scanner;
    const sent = this.#sent - this.#sentScanned;
    const received = isBlocked ? 0 : this.#received - scanned;
    if (sent !== 0 || received !== 0) this.#report({ sent, received });
  }

  /** The entry of the pipeline. Its counts are those at the time of reading. */
  #entry(): PipelineEntry {
    const data = () => this.#data();
    return {
      type: 'guardrail_receipt',
      name: 'scan-receipt',
      get summary() {
        const { characters_sent: sent, characters_received: received, ...scanned } = data();
        return (
          `Scanned ${scanned.characters_sent_scanned} of ${sent} characters sent, ` +
          `${scanned.characters_received_scanned} of ${received} received`
        );
      },
      get data() {
        return data();
      },
    };
  }

  #data() {
    const services = this.#judged();
    const { isBlocked, receivedCharacters: scanned } = this.#scanner;
    // What a block withheld was not received.
    const received = isBlocked ? Math.max(scanned, this.#receivedUnblocked) : this.#received;
    return {
      characters_sent: this.#sent,
      characters_sent_scanned: this.#sentScanned,
      characters_received: received,
      characters_received_scanned: scanned,
      ...(services.length > 0 && { services: services.map((count) => ({ ...count })) }),
    };
  }
}
