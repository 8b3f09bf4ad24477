import { GatewayError } from '../../../ir/errors.ts';
import type { EventBatch } from '../../../ir/events.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import { type Flow, PeekableFlow } from '../../../kit/frames/flow.ts';
import { SharedTurn } from '../../../kit/loop/turns.ts';
import type { Next, StageContext } from '../../stage.ts';
import type { OpenPartEnd } from './answer-cut.ts';
import { AnswerFilter } from './answer-filter.ts';
import { checked, type Guarded } from './guarded.ts';
import { JudgedHold } from './judged-hold.ts';

/**
 * The events of one leg, scanned as they pass; its request is scanned first, for what stages have added. A leg whose
 * answer is refused ends before the failure is passed on: what it has written is charged, and its endpoint did nothing
 * wrong. One reader pulls it, one step at a time, so it need not be a generator, which costs several promises a step.
 */
export class GuardedLeg implements AsyncIterableIterator<EventBatch, void, undefined>, Flow<EventBatch> {
  readonly #asked: GenerationRequest;
  readonly #next: Next;
  readonly #context: StageContext;
  readonly #guarded: Guarded;
  readonly #isAnswer: boolean;
  readonly #filter: AnswerFilter;
  /** Present if services judge the answer, which takes waiting. */
  readonly #held: JudgedHold | undefined;
  /** The events of the leg, once it has begun. */
  #source: PeekableFlow<EventBatch> | undefined;
  #hasPassed = false;
  #isOver = false;

  /** `isAnswer`: what it writes goes on with the caller's answer. */
  constructor(
    asked: GenerationRequest,
    next: Next,
    context: StageContext,
    guarded: Guarded,
    isAnswer: boolean,
  ) {
    this.#asked = asked;
    this.#next = next;
    this.#context = context;
    this.#guarded = guarded;
    this.#isAnswer = isAnswer;
    this.#filter = new AnswerFilter(guarded.scan);
    this.#held = guarded.panel.isEmpty ? undefined : new JudgedHold(guarded.panel);
  }

  async next(): Promise<IteratorResult<EventBatch, void>> {
    if (this.#isOver) return OVER;
    try {
      this.#source ??= await this.#begin();
      for (;;) {
        const step = await this.#source.next();
        if (step.done === true) return await this.return();
        const passing = this.#passedAtOnce(step.value) ?? (await this.#passed(step.value));
        if (passing instanceof GatewayError) {
          await this.return();
          return { done: false, value: [{ type: 'failure', error: passing }] };
        }
        if (passing.length === 0) continue;
        this.#hasPassed = true;
        this.#isOver = isLast(passing);
        if (this.#isOver && this.#isAnswer) this.#guarded.sentEnd = this.#endOfLeg();
        return { done: false, value: passing };
      }
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  poll(): EventBatch | undefined {
    const source = this.#isOver ? undefined : this.#source;
    for (let batch = source?.peek(); batch !== undefined; batch = source?.peek()) {
      const passing = this.#passedAtOnce(batch);
      if (passing === undefined) return undefined;
      source?.take();
      if (passing.length === 0) continue;
      this.#hasPassed = true;
      return passing;
    }
    return undefined;
  }

  whenReady(wake: () => void): boolean {
    return !this.#isOver && (this.#source?.whenReady(wake) ?? false);
  }

  async return(): Promise<IteratorResult<EventBatch, void>> {
    this.#isOver = true;
    await this.#source?.return();
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #begin(): Promise<PeekableFlow<EventBatch>> {
    const { scan, panel } = this.#guarded;
    // The caller's own texts were scanned before the first leg.
    const request = checked(await scan.request(this.#asked, panel), scan, this.#context, true);
    if (this.#isAnswer) this.#filter.sentEnd = this.#guarded.sentEnd;
    return new PeekableFlow(this.#next(request)[Symbol.asyncIterator]());
  }

  /** The end of its answer, whose items the next leg numbers from 0 again. */
  #endOfLeg(): OpenPartEnd | undefined {
    const end = this.#filter.sentEnd;
    return end && { ...end, item: EARLIER_LEG };
  }

  /** What may pass of a batch that takes no waiting. Undefined = it does, or something in it must not pass. */
  #passedAtOnce(batch: EventBatch): EventBatch | undefined {
    if (this.#held !== undefined || isLast(batch) || !this.#filter.isShort(batch)) return undefined;
    const passing = this.#filter.pushShort(batch);
    return this.#guarded.scan.isBlocked ? undefined : passing;
  }

  /** What may pass of a batch. A refusal is thrown before anything has passed; later it is returned. */
  async #passed(batch: EventBatch): Promise<EventBatch | GatewayError> {
    const { scan } = this.#guarded;
    const filtered = this.#filter.push(batch);
    let passing: EventBatch = Array.isArray(filtered) ? filtered : await new SharedTurn().run(filtered);
    try {
      if (this.#held !== undefined && !scan.isBlocked) {
        passing = await this.#held.push(passing);
        scan.unjudgedCharacters += this.#held.takeUnjudged();
      }
      return scan.isBlocked || isLast(passing) ? checked(passing, scan, this.#context) : passing;
    } catch (error) {
      if (!this.#hasPassed || !(error instanceof GatewayError)) throw error;
      return error;
    }
  }
}

/** Number of an item of an earlier leg, which stands before all items of this one. */
const EARLIER_LEG = -1;

const OVER = { done: true, value: undefined } as const;

function isLast(batch: EventBatch): boolean {
  const last = batch.at(-1);
  return last?.type === 'finish' || last?.type === 'failure';
}
