import type { Item } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { SharedTurn, type Sliced } from '../../kit/loop/turns.ts';
import { ReceivedText } from './answer/received-text.ts';
import { type AdjoiningTexts, type Crossing, type CutScanner, crossingsOf } from './filters/crossings.ts';
import type { FilterSet } from './filters/filter-set.ts';
import { type Finding, redacted, type TextPlace } from './filters/finding.ts';
import { ScanBudget } from './filters/scan-budget.ts';
import type { StreamScan } from './filters/stream-scan.ts';
import type { JudgedRow } from './judges/joined-texts.ts';
import type { JudgedText } from './judges/judge.ts';
import type { JudgePanel } from './judges/judge-panel.ts';
import type { ScannerCount } from './receipt/receipt.ts';
import type { PlacedFinding } from './refusals.ts';
import { type AdjoiningText, AdjoiningTextsOf, withAdjoiningTexts } from './texts/adjoining-texts.ts';
import { mapRequest, type TextRole } from './texts/request-texts.ts';

/** Findings that are kept for `take`. Further ones still block or redact. */
const MAX_FINDINGS = 1000;

const RECEIVED: TextPlace = { role: 'assistant', direction: 'received' };

type UnfinishedListener = (finding: Finding, direction: TextPlace['direction']) => void;

interface NewText {
  readonly text: string;
  readonly role: TextRole;
  readonly owner: Item | string;
}

/** The texts that were not scanned before, and all that stand beside others. */
interface RequestTexts {
  readonly unknown: readonly NewText[];
  readonly chains: readonly (readonly AdjoiningText[])[];
}

/** Scans the texts of one generation, each once, and keeps what was found. */
export class GuardrailScan implements ScannerCount {
  readonly #filters: FilterSet;
  readonly #signal: AbortSignal | undefined;
  /** Scanned texts and their replacements, by role. */
  readonly #sent = new Map<TextRole, Map<string, string>>();
  readonly #json = new Set<string>();
  /** Texts and JSON that may be sent although a service gave no verdict. */
  readonly #unjudged = new Set<string>();
  /** Numbers of texts that stand beside others, and the rows of such texts that were scanned for what spans them. */
  readonly #numbers = new Map<string, number>();
  readonly #scannedRows = new Set<string>();
  /** Rows of such texts that services have judged. */
  readonly #judgedRows = new Set<string>();
  /** Requests as they may be sent. */
  readonly #passed = new WeakSet<GenerationRequest>();
  readonly #unfinished: UnfinishedListener;
  /** Work left for the request and the answer of the current leg. */
  #budget = new ScanBudget();
  #findings: PlacedFinding[] = [];
  #isBlocked = false;
  /** Characters of all legs that the filters have read on their way back. */
  filteredCharacters = 0;
  /** Characters of all legs that came back and passed without a verdict of a service, or unread by custom patterns. */
  unjudgedCharacters = 0;

  /**
   * `unfinished` is called when custom patterns could not read all of a text. `signal`: aborted when the caller leaves,
   * who then needs no further scan of the request.
   */
  constructor(filters: FilterSet, unfinished: UnfinishedListener, signal?: AbortSignal) {
    this.#filters = filters;
    this.#unfinished = unfinished;
    this.#signal = signal;
  }

  /** The request as it may be sent. Texts that were scanned before are not scanned again. */
  async request(request: GenerationRequest, panel: JudgePanel): Promise<GenerationRequest> {
    this.#budget = new ScanBudget();
    if (this.#passed.has(request)) return request;
    const turn = new SharedTurn(this.#signal);
    const first = await turn.run(this.#unknownTexts(request));
    const results = await turn.run(this.#filtered(first.unknown));
    if (this.#isBlocked) return request;
    const passed = new FilteredTexts(first.unknown, results);
    const chains = this.#filters.reads('sent') ? first.chains : [];
    const rows = chains.filter((chain) => !this.#scannedRows.has(this.#rowOf(chain)));
    const replaced = rows.length === 0 ? undefined : await turn.run(this.#scannedAcross(rows, passed));
    if (this.#isBlocked) return request;
    const filtered = replaced === undefined ? request : await turn.run(withAdjoiningTexts(request, replaced));
    const texts = filtered === request ? first : await turn.run(this.#unknownTexts(filtered));
    const { asked, isJudged } = await this.#judged(filtered, texts, passed, panel);
    return await turn.run(
      mapRequest(asked, {
        change: (text, role) => this.#known(role).get(text) ?? text,
        changedJson: (json) => {
          if (this.#json.has(json)) return;
          if (isJudged && !this.#budget.isSpent) this.#json.add(json);
          else this.#unjudged.add(json);
        },
      }),
    );
  }

  /** Has services judge the texts, and what stands around their cuts. Returns the request with what spans these. */
  async #judged(
    request: GenerationRequest,
    { unknown, chains }: RequestTexts,
    passed: FilteredTexts,
    panel: JudgePanel,
  ): Promise<{ readonly asked: GenerationRequest; readonly isJudged: boolean }> {
    const given = unknown.map(({ text, role, owner }): JudgedText => {
      return { text: passed.of(role, text) ?? text, role, place: placeOf(owner, request) };
    });
    // Lists are no prose: services get their texts alone.
    const rows = panel.isEmpty
      ? []
      : chains.filter(
          (chain) => typeof chain[0]?.owner !== 'string' && !this.#judgedRows.has(this.#rowOf(chain)),
        );
    const context = this.#contextOf(rows, unknown, passed, request);
    const verdict = panel.isEmpty
      ? { texts: given.map(({ text }) => text), rows: [], isJudged: true }
      : await panel.judge(given, 'sent', context);
    const release = (role: TextRole, text: string, result: string) => {
      const known = this.#known(role);
      known.set(text, result);
      known.set(result, result);
      if (!verdict.isJudged) this.#unjudged.add(result);
    };
    for (const [index, { text, role }] of unknown.entries()) {
      release(role, text, verdict.texts[index] as string);
    }
    const all = [...verdict.texts, ...context.judgedBefore.map(({ text }) => text)];
    const replaced = new Map<Item | string, Map<number, string>>();
    for (const [number, chain] of rows.entries()) {
      const results = verdict.rows[number] ?? [];
      for (const [at, { owner, ordinal, role }] of chain.entries()) {
        const result = results[at] as string;
        if (result === all[context.rows[number]?.texts[at] as number]) continue;
        release(role, result, result);
        replaced.set(owner, (replaced.get(owner) ?? new Map<number, string>()).set(ordinal, result));
      }
      const row = this.#rowOf(chain.map((each, at) => ({ ...each, text: results[at] as string })));
      this.#judgedRows.add(this.#rowOf(chain)).add(row);
      this.#scannedRows.add(row);
    }
    const asked =
      replaced.size === 0
        ? request
        : await new SharedTurn(this.#signal).run(withAdjoiningTexts(request, replaced));
    return { asked, isJudged: verdict.isJudged };
  }

  /** Rows as services get them: texts that were judged before stand behind the unknown ones. */
  #contextOf(
    rows: readonly (readonly AdjoiningText[])[],
    unknown: readonly NewText[],
    passed: FilteredTexts,
    request: GenerationRequest,
  ): { readonly rows: readonly JudgedRow[]; readonly judgedBefore: readonly JudgedText[] } {
    if (rows.length === 0) return { rows: [], judgedBefore: [] };
    const keyOf = ({ role, text }: Pick<NewText, 'role' | 'text'>) => `${role} ${text}`;
    const indexes = new Map(unknown.map((each, index) => [keyOf(each), index]));
    const judgedBefore: JudgedText[] = [];
    const judgedRows = rows.map((chain): JudgedRow => {
      const texts = chain.map((each) => {
        const { role, owner } = each;
        const known = indexes.get(keyOf(each));
        if (known !== undefined) return known;
        const text = passed.of(role, each.text) ?? this.#known(role).get(each.text) ?? each.text;
        const index = unknown.length + judgedBefore.push({ text, role, place: placeOf(owner, request) }) - 1;
        indexes.set(keyOf(each), index);
        return index;
      });
      return { texts, items: adjoiningTexts(chain).items };
    });
    return { rows: judgedRows, judgedBefore };
  }

  /** Notes a request of which all texts were scanned: until it is changed there is nothing to scan. */
  notePassed(request: GenerationRequest): GenerationRequest {
    this.#passed.add(request);
    return request;
  }

  *#unknownTexts(request: GenerationRequest): Sliced<RequestTexts> {
    const unknown: NewText[] = [];
    const seen = new Map<TextRole, Set<string>>();
    const adjoining = new AdjoiningTextsOf();
    yield* mapRequest(request, {
      change: (text, role, owner, member) => {
        adjoining.add(text, role, owner, member);
        if (this.#known(role).has(text)) return text;
        // The same text may stand in several places.
        const ofRole = seen.get(role) ?? new Set();
        if (!ofRole.has(text)) unknown.push({ text, role, owner });
        seen.set(role, ofRole.add(text));
        return text;
      },
      changedJson: () => {},
    });
    return { unknown, chains: adjoining.chains };
  }

  /** Scans texts that stand beside each other for what spans them. Returns those that change, without it. */
  *#scannedAcross(
    chains: readonly (readonly AdjoiningText[])[],
    passed: FilteredTexts,
  ): Sliced<ReadonlyMap<Item | string, ReadonlyMap<number, string>> | undefined> {
    const replaced = new Map<Item | string, Map<number, string>>();
    for (const chain of chains) {
      this.#scannedRows.add(this.#rowOf(chain));
      const after = chain.map(
        ({ text, role }) => passed.of(role, text) ?? this.#known(role).get(text) ?? text,
      );
      const scanner = this.#scannerFor({ role: (chain[0] as AdjoiningText).role, direction: 'sent' });
      const crossings = yield* crossingsOf(adjoiningTexts(chain), scanner);
      for (const [index, pieces] of this.#crossed(crossings, 'sent')) {
        const { text, owner, ordinal, role } = chain[index] as AdjoiningText;
        const own = yield* this.#filters.scanInSlices(text, { role, direction: 'sent' }, this.#budget);
        const result = redacted(text, [...own, ...pieces]);
        passed.add(role, result);
        after[index] = result;
        const ofOwner = replaced.get(owner) ?? new Map<number, string>();
        replaced.set(owner, ofOwner.set(ordinal, result));
      }
      this.#scannedRows.add(
        this.#rowOf(chain.map((each, index) => ({ ...each, text: after[index] as string }))),
      );
    }
    return replaced.size === 0 ? undefined : replaced;
  }

  /** Notes what spans several texts. Returns the pieces that are to be replaced, by the places of their texts. */
  #crossed(crossings: readonly Crossing[], direction: TextPlace['direction']): Map<number, Finding[]> {
    const pieces = new Map<number, Finding[]>();
    for (const { finding, pieces: spans, isLonger } of crossings) {
      if (!isLonger) this.note([finding], direction);
      if (finding.action !== 'redact') continue;
      for (const { index, start, end, redaction } of spans) {
        const piece = { ...finding, start, end, redaction };
        const ofText = pieces.get(index);
        if (ofText === undefined) pieces.set(index, [piece]);
        else ofText.push(piece);
      }
    }
    return pieces;
  }

  #scannerFor(place: TextPlace): CutScanner {
    return {
      scan: (text) => this.#filters.scanInSlices(text, place, this.#budget),
      scanForLong: (text) => this.#filters.scanForLong(text, this.#budget),
    };
  }

  /** Equal for texts that stand beside each other in the same way. */
  #rowOf(chain: readonly AdjoiningText[]): string {
    let owner: Item | string | undefined;
    let row = '';
    for (const each of chain) {
      let number = this.#numbers.get(each.text);
      if (number === undefined) {
        number = this.#numbers.size;
        this.#numbers.set(each.text, number);
      }
      row += `${each.owner === owner ? '+' : ` ${each.role} `}${number}`;
      owner = each.owner;
    }
    return row;
  }

  *#filtered(texts: readonly NewText[]): Sliced<string[]> {
    const results: string[] = [];
    for (const { text, role } of texts) {
      const findings = yield* this.#filters.scanInSlices(text, { role, direction: 'sent' }, this.#budget);
      yield;
      this.note(findings, 'sent');
      const result = findings.length === 0 ? text : redacted(text, findings);
      if (findings.some(isUnfinished)) this.#unjudged.add(result);
      results.push(result);
    }
    return results;
  }

  /** What filters find in a text of an error that came back. It is not noted. */
  findingsInError(text: string): Promise<Finding[]> {
    return new SharedTurn().run(this.#filters.scanInSlices(text, RECEIVED, this.#budget));
  }

  /** A text of an error that was cut at its end, without the last characters if they may be part of a match. */
  withoutOpenEnd(text: string): string {
    return this.#filters.stream(RECEIVED, this.#budget).push(text).release;
  }

  get sliceCharacters(): number {
    return this.#filters.sliceCharacters;
  }

  get patternWork(): number {
    return this.#budget.spent;
  }

  /** Call before some characters are scanned that came back. */
  countReceived(characters: number): void {
    this.filteredCharacters += characters;
    if (this.#budget.isSpent) this.unjudgedCharacters += characters;
  }

  /** A whole text that came back, as it may be passed on. */
  *receivedText(text: string): Sliced<string> {
    const findings = yield* this.#filters.scanInSlices(text, RECEIVED, this.#budget);
    if (findings.length === 0) return text;
    this.note(findings, 'received');
    return redacted(text, findings);
  }

  /** Scans texts that came back beside each other for what spans them; returns what is to be replaced in each. */
  *receivedAcross(texts: AdjoiningTexts): Sliced<ReadonlyMap<number, readonly Finding[]>> {
    return this.#crossed(yield* crossingsOf(texts, this.#scannerFor(RECEIVED)), 'received');
  }

  /** Follows a text that comes back in pieces, for where its open end begins. */
  receivedStream(): StreamScan {
    return this.#filters.stream(RECEIVED, this.#budget);
  }

  receivedPieces(): ReceivedText {
    const scan = this.#filters.stream(RECEIVED, this.#budget);
    return new ReceivedText(scan, (findings) => this.note(findings, 'received'));
  }

  note(findings: readonly Finding[], direction: TextPlace['direction']): void {
    for (const finding of findings) {
      if (finding.action === 'block') this.#isBlocked = true;
      if (isUnfinished(finding)) this.#unfinished(finding, direction);
      if (this.#findings.length < MAX_FINDINGS || finding.action === 'block') {
        this.#findings.push({ finding, direction });
      }
    }
  }

  /** Something was found that must not pass. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** New findings since the last call. */
  take(): PlacedFinding[] {
    const taken = this.#findings;
    this.#findings = [];
    return taken;
  }

  /** All texts that were scanned and may be sent, as they may be. */
  *sentTexts(): Generator<string> {
    for (const known of this.#sent.values()) {
      for (const text of known.values()) if (!this.#unjudged.has(text)) yield text;
    }
    for (const json of this.#json) if (!this.#unjudged.has(json)) yield json;
  }

  get receivedCharacters(): number {
    return Math.max(0, this.filteredCharacters - this.unjudgedCharacters);
  }

  #known(role: TextRole): Map<string, string> {
    let known = this.#sent.get(role);
    if (known === undefined) {
      known = new Map();
      this.#sent.set(role, known);
    }
    return known;
  }
}

function isUnfinished({ kind }: Finding): boolean {
  return kind === 'unfinished-scan';
}

class FilteredTexts {
  readonly #results = new Map<TextRole, Map<string, string>>();

  constructor(texts: readonly NewText[], results: readonly string[]) {
    for (const [index, { text, role }] of texts.entries())
      this.#ofRole(role).set(text, results[index] as string);
  }

  add(role: TextRole, text: string): void {
    this.#ofRole(role).set(text, text);
  }

  /** Undefined = it was not filtered now. */
  of(role: TextRole, text: string): string | undefined {
    return this.#ofRole(role).get(text);
  }

  #ofRole(role: TextRole): Map<string, string> {
    const known = this.#results.get(role) ?? new Map<string, string>();
    this.#results.set(role, known);
    return known;
  }
}

function adjoiningTexts(chain: readonly AdjoiningText[]): AdjoiningTexts {
  const items: number[] = [];
  for (const [index, { owner }] of chain.entries()) {
    const before = items[index - 1] ?? 0;
    // What a list has are texts of their own.
    const isOther = typeof owner === 'string' || owner !== chain[index - 1]?.owner;
    items.push(index > 0 && isOther ? before + 1 : before);
  }
  return { texts: chain.map(({ text }) => text), items, isOpen: false };
}

/** The path of an item in the caller's body, or the name of a member as callers write it. */
function placeOf(owner: Item | string, { places }: GenerationRequest): string {
  if (typeof owner !== 'string') return places.of(owner) ?? 'added';
  return owner.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
