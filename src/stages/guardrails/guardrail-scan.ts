import type { GenerationRequest } from '../../ir/request.ts';
import { nextTurn } from '../../kit/loop/turns.ts';
import type { FilterSet } from './filters/filter-set.ts';
import { type Finding, redacted, type TextPlace } from './filters/finding.ts';
import type { ScannerCount } from './receipt.ts';
import { ReceivedText } from './received-text.ts';
import type { PlacedFinding } from './refusals.ts';
import { mapRequest, type TextRole } from './texts/request-texts.ts';

/** Findings that are kept until they are taken. Further ones act all the same. */
const MAX_FINDINGS = 1000;

/** Milliseconds after which scanning a request lets others run. */
const TURN_MS = 5;

const RECEIVED: TextPlace = { role: 'assistant', direction: 'received' };

/** Scans the texts of one generation, each once, and keeps what was found. */
export class GuardrailScan implements ScannerCount {
  readonly #filters: FilterSet;
  /** What scanned texts became, by role. */
  readonly #sent = new Map<TextRole, Map<string, string>>();
  /** JSON whose texts were scanned. */
  readonly #json = new Set<string>();
  #findings: PlacedFinding[] = [];
  #isBlocked = false;
  /** Characters of all legs that were scanned on their way back. */
  receivedCharacters = 0;

  constructor(filters: FilterSet) {
    this.#filters = filters;
  }

  /** The request as it may be sent. Texts that were scanned before are not scanned again. */
  async request(request: GenerationRequest): Promise<GenerationRequest> {
    const unknown: { readonly text: string; readonly role: TextRole }[] = [];
    mapRequest(request, {
      change: (text, role) => {
        if (this.#known(role).get(text) === undefined) unknown.push({ text, role });
        return text;
      },
      changedJson: () => {},
    });
    let began = performance.now();
    for (const { text, role } of unknown) {
      const steps = this.#filters.scanInSlices(text, { role, direction: 'sent' });
      let step = steps.next();
      while (step.done !== true) {
        if (performance.now() - began > TURN_MS) {
          await nextTurn();
          began = performance.now();
        }
        step = steps.next();
      }
      this.#keep(text, role, step.value);
    }
    return mapRequest(request, {
      change: (text, role) => this.#known(role).get(text) ?? text,
      changedJson: (json) => this.#json.add(json),
    });
  }

  /** A whole text that came back, as it may be passed on. */
  receivedText(text: string): string {
    const findings = this.#filters.scan(text, RECEIVED);
    if (findings.length === 0) return text;
    this.note(findings, 'received');
    return redacted(text, findings);
  }

  /** Scans a text that comes back in pieces. */
  receivedPieces(): ReceivedText {
    return new ReceivedText(this.#filters.stream(RECEIVED), (findings) => this.note(findings, 'received'));
  }

  note(findings: readonly Finding[], direction: TextPlace['direction']): void {
    for (const finding of findings) {
      if (finding.action === 'block') this.#isBlocked = true;
      if (this.#findings.length < MAX_FINDINGS || finding.action === 'block') {
        this.#findings.push({ finding, direction });
      }
    }
  }

  /** Something was found that must not pass. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** What was found since the last call. */
  take(): PlacedFinding[] {
    const taken = this.#findings;
    this.#findings = [];
    return taken;
  }

  /** All texts that may be sent, as they may be. */
  *sentTexts(): Generator<string> {
    for (const known of this.#sent.values()) yield* known.values();
    yield* this.#json;
  }

  #known(role: TextRole): Map<string, string> {
    let known = this.#sent.get(role);
    if (known === undefined) {
      known = new Map();
      this.#sent.set(role, known);
    }
    return known;
  }

  #keep(text: string, role: TextRole, findings: readonly Finding[]): void {
    const known = this.#known(role);
    // The same text may stand in several places.
    if (known.has(text)) return;
    this.note(findings, 'sent');
    const result = findings.length === 0 ? text : redacted(text, findings);
    known.set(text, result);
    known.set(result, result);
  }
}
