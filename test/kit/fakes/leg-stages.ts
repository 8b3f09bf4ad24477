import { GatewayError } from '../../../src/ir/errors.ts';
import type { EventBatch, Failure, Finish } from '../../../src/ir/events.ts';
import { Fold } from '../../../src/ir/folding/fold.ts';
import { JoinedLegs } from '../../../src/ir/folding/joined-legs.ts';
import type { GenerationRequest } from '../../../src/ir/request.ts';
import { writtenItems } from '../../../src/ir/result.ts';
import type { Next, Stage } from '../../../src/stages/stage.ts';

/**
 * Stages that run legs as the stages of the product will: one after the other, or at the same time. Chosen by `user`.
 */

/** `legs-N`: asks the model N times, each time with all that was said before. */
export const loopStage: Stage = {
  name: 'loop',
  touches: 'answer',
  isActive: (request) => countOf(request, 'legs') > 0,
  around: loop,
};

async function* loop(request: GenerationRequest, next: Next): AsyncGenerator<EventBatch, void, undefined> {
  const count = countOf(request, 'legs');
  const joined = new JoinedLegs();
  let asked = request;
  for (let leg = 1; ; leg++) {
    const fold = new Fold();
    let terminal: Finish | Failure | undefined;
    for await (const batch of next(asked)) {
      fold.pushAll(batch);
      const told = joined.push(batch);
      terminal = told.terminal ?? terminal;
      if (told.passing.length > 0) yield told.passing;
    }
    if (terminal === undefined) return;
    if (leg === count || terminal.type === 'failure' || terminal.reason === 'budget') {
      yield [terminal];
      return;
    }
    joined.begin();
    asked = {
      ...asked,
      items: [
        ...asked.items,
        ...writtenItems(fold.result().items),
        { type: 'message', role: 'user', content: [{ type: 'text', text: 'Go on' }] },
      ],
    };
  }
}

/** `panel-N`: asks N times at once, and then once more for the answer. Members that fail are left out. */
export const panelStage: Stage = {
  name: 'panel',
  touches: 'answer',
  isActive: (request) => countOf(request, 'panel') > 0,
  async *around(request, next) {
    const members = Array.from({ length: countOf(request, 'panel') }, () => spoken(next, request));
    const said = (await Promise.all(members)).filter((text) => text !== undefined);
    yield* next({
      ...request,
      items: [
        ...request.items,
        { type: 'message', role: 'user', content: [{ type: 'text', text: said.join('\n') }] },
      ],
    });
  },
};

async function spoken(next: Next, request: GenerationRequest): Promise<string | undefined> {
  const fold = new Fold();
  try {
    for await (const batch of next({ ...request }, { kind: 'panel' })) fold.pushAll(batch);
  } catch {
    return undefined;
  }
  const { items, failure } = fold.result();
  if (failure !== undefined) return undefined;
  return items
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => JSON.stringify(part))
    .join('');
}

/** `race-2`: asks twice at once, passes on the one that is asked first and forgets the other. */
export const racingStage: Stage = {
  name: 'racing',
  touches: 'answer',
  isActive: (request) => countOf(request, 'race') > 0,
  async *around(request, next) {
    const winner = next(request)[Symbol.asyncIterator]();
    const first = await winner.next();
    const other = next(request, { kind: 'panel' })[Symbol.asyncIterator]();
    // The other one has begun before the first goes on.
    await other.next();
    readToEnd(other).catch(() => {});
    if (first.done !== true) yield first.value;
    yield* { [Symbol.asyncIterator]: () => winner };
  },
};

async function readToEnd(batches: AsyncIterator<EventBatch>): Promise<void> {
  for (let step = await batches.next(); step.done !== true; ) step = await batches.next();
}

/** `alone-1`: answers itself, without a model call. */
export const answeringStage: Stage = {
  name: 'answering',
  touches: 'answer',
  isActive: (request) => countOf(request, 'alone') > 0,
  async *around() {
    yield [
      { type: 'item-start', item: 0, head: { type: 'message' } },
      { type: 'part-start', item: 0, part: 0, kind: 'text' },
      { type: 'text-delta', item: 0, part: 0, kind: 'text', text: 'Ω' },
      { type: 'part-end', item: 0, part: 0, kind: 'text' },
      { type: 'item-end', item: 0 },
      { type: 'finish', reason: 'stop' },
    ];
  },
};

/** `after-KIND`: one leg, and then what no stage should do. */
export const carelessStage: Stage = {
  name: 'careless',
  touches: 'answer',
  isActive: ({ user = '' }) => user.startsWith('after-'),
  async *around(request, next, { signal }) {
    const what = request.user?.slice('after-'.length);
    const joined = new JoinedLegs();
    for await (const batch of next(request)) yield joined.push(batch).passing;
    joined.begin();
    if (what === 'nothing') return;
    if (what === 'bug') throw new TypeError('a bug');
    if (what === 'wait') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (what === 'hang') await new Promise(() => {});
    if (what === 'unknown' || what === 'wait') yield* next({ ...request, models: ['m/unknown'] });
    if (what === 'pinned') yield* next({ ...request }, { isPinned: true });
  },
};

/**
 * `charge-N`: pays N nano-dollars for a search before anything is planned; `refuse-N` does that too and then refuses.
 */
export const chargingStage: Stage = {
  name: 'charging',
  touches: 'request',
  isActive: (request) => countOf(request, 'charge') > 0 || countOf(request, 'refuse') > 0,
  async before(request, { charge }) {
    const nanos = BigInt(countOf(request, 'charge') || countOf(request, 'refuse'));
    if ((await charge('web_search', nanos)) === undefined)
      throw new GatewayError('payment', 'No money to search');
    if (countOf(request, 'refuse') > 0) throw new GatewayError('permission', 'Refused after a search');
    return undefined;
  },
};

function countOf({ user = '' }: GenerationRequest, kind: string): number {
  const [word, count] = user.split('-');
  return word === kind ? Number(count) : 0;
}
