import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../../test/kit/builders/catalog.ts';
import { requestOf } from '../../../test/kit/builders/request.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import type { Headroom, ReserveOutcome } from '../../ports/money/ledger.ts';
import { Prompt } from '../../tokens/prompt.ts';
import { type AdmitDependencies, type Applicant, admit } from './admit.ts';
import { answersOf, LearntLengths } from './learnt-lengths.ts';

const PLENTY: Headroom = {
  affordable: { creditNanos: 10n ** 18n, totalNanos: null },
  unspent: { creditNanos: 10n ** 18n, totalNanos: null },
};

const KEY = 'key';
const MODEL = 'acme/large';

const NO_LIMIT: Headroom = {
  affordable: { creditNanos: null, totalNanos: null },
  unspent: { creditNanos: null, totalNanos: null },
};

interface Given {
  readonly headroom?: Headroom;
  readonly request?: Partial<GenerationRequest>;
  /** Tokens of the prompt as our tokenizer counts it; absent = it is not asked. */
  readonly counted?: number;
  /** How many times our own count an upstream counted lately. */
  readonly promptRatio?: number;
}

/** Assumed cost of a request, of a limited key if nothing else is said. */
async function factsOf({ request: changes = {}, counted, promptRatio, headroom = PLENTY }: Given) {
  const request = requestOf(changes);
  const endpoint = endpointOf();
  const learnt = new LearntLengths();
  if (promptRatio !== undefined) learnt.learn(answersOf(KEY, MODEL), { outputTokens: 1, promptRatio });
  let asked = 0;
  const reservation: AdmitDependencies['reservation'] = {
    isBoundByMax: false,
    async hold(_, size): Promise<ReserveOutcome> {
      const amount = size(headroom);
      const isRefused = counted !== undefined && asked++ === 0;
      if (amount !== null && !isRefused) return { ok: true, reserved: amount };
      return { ok: false, refusal: { scope: 'key', window: 'daily', limitNanos: 1n, leftNanos: 0n } };
    },
  };
  const applicant = {
    input: {
      caller: { key: { hash: KEY }, scopes: {}, limits: { key: [], workspace: [] } },
      generationId: 'g',
      acceptedAtMs: 0,
    },
    request,
    prompt: new Prompt(request),
    plan: {
      candidates: [
        { model: modelOf({ id: MODEL }), endpoint, access: { kind: 'shared' }, lane: 'translate' },
      ],
    },
    pricedAtMs: 0,
    row: () => ({}),
  } as unknown as Applicant;
  const dependencies = {
    reservation,
    tokenizer: { count: async () => counted ?? Number.NaN, close: async () => {} },
    learnt,
    byokFee: 0,
  } satisfies AdmitDependencies;
  return (await admit(applicant, dependencies)).facts;
}

const text = (text: string): Partial<GenerationRequest> => ({
  items: [{ type: 'message', role: 'user', content: [{ type: 'text', text }] }],
});

describe('the prompt of a request without a limit', () => {
  const factsFor = (items: GenerationRequest['items']) => factsOf({ headroom: NO_LIMIT, request: { items } });

  it('is a token for each character, so that a crash writes no less off than a call may cost', async () => {
    const { promptTokens } = await factsOf({ headroom: NO_LIMIT, request: text('word '.repeat(1000)) });
    expect(promptTokens).toBeGreaterThanOrEqual(5000);
    expect(promptTokens).toBeLessThan(5100);
  });

  it('has its images, whose tokens depend on the model', async () => {
    const image = { type: 'image', source: { kind: 'url', url: 'https://a.test/a.png' } } as const;
    const { images, mayFillContext } = await factsFor([
      { type: 'message', role: 'user', content: [image, image] },
    ]);
    expect({ images, mayFillContext }).toEqual({ images: [undefined, undefined], mayFillContext: false });
  });

  it('may fill the context with a file', async () => {
    const file = { type: 'file', source: { kind: 'url', url: 'https://a.test/a.pdf' } } as const;
    const { mayFillContext } = await factsFor([{ type: 'message', role: 'user', content: [file] }]);
    expect(mayFillContext).toBe(true);
  });
});

const TOOL: Tool = { type: 'function', name: 'f', parameters: {} } as Tool;

describe('the prompt of a limited request', () => {
  it('is taken for its bytes while it is not counted, whatever its script', async () => {
    const { promptTokens } = await factsOf({ request: text('ᚠ'.repeat(1000)) });
    expect(promptTokens).toBeGreaterThanOrEqual(3000);
    expect(promptTokens).toBeLessThan(3100);
  });

  it('pays for a tokenizer that counts half as much again as ours', async () => {
    const { promptTokens } = await factsOf({ request: text('word '.repeat(1000)), counted: 1000 });
    expect(promptTokens).toBeGreaterThanOrEqual(1500);
    expect(promptTokens).toBeLessThan(1600);
  });

  it('pays for a token of each digit, of which ours makes one of three', async () => {
    const { promptTokens } = await factsOf({ request: text('123 '.repeat(1000)), counted: 1000 });
    // 3000 digits and the spaces, which belong to them.
    expect(promptTokens).toBeGreaterThanOrEqual(3000);
  });

  it('never comes to more than it has bytes, whatever was learnt and however many digits it has', async () => {
    const bytes = 5000;
    const { promptTokens } = await factsOf({
      request: text('9'.repeat(bytes)),
      counted: 1667,
      promptRatio: 40,
    });
    expect(promptTokens).toBeGreaterThanOrEqual(bytes);
    expect(promptTokens).toBeLessThan(bytes + 50);
  });

  it('pays for what upstreams write to explain tools, once', async () => {
    const extraOf = async (tools: readonly Tool[], counted?: number) => {
      const request = { ...text('word '.repeat(1000)), tools };
      const { promptTokens } = await factsOf({ request, ...(counted !== undefined && { counted }) });
      return (
        promptTokens - (counted === undefined ? new Prompt(requestOf(request)).worst.bytes : 1.5 * counted)
      );
    };
    const [plain, one, two] = [await extraOf([]), await extraOf([TOOL]), await extraOf([TOOL, TOOL])];
    // The longest known preambles have some 530 tokens.
    expect(one - plain).toBeGreaterThanOrEqual(530);
    expect(two).toBe(one);
    expect((await extraOf([TOOL], 1000)) - (await extraOf([], 1000))).toBe(one - plain);
  });

  it('pays for seals and what we do not model beside the text that was counted', async () => {
    const plain = await factsOf({ request: text('word '.repeat(1000)), counted: 1000 });
    const sealed = await factsOf({
      request: {
        items: [
          ...(text('word '.repeat(1000)).items ?? []),
          { type: 'reasoning', text: [], summary: [], encrypted: 's'.repeat(8000) },
        ],
        body: { extra: { note: 'x'.repeat(500) } },
        unknownFields: ['extra'],
      },
      counted: 1000,
    });
    expect(sealed.promptTokens - plain.promptTokens).toBeGreaterThanOrEqual(2000 + 500);
  });
});

describe('the output limit that is paid for', () => {
  const both = { max_completion_tokens: 10, max_tokens: 5000 };

  it('is the higher one where a chat body has both names', async () => {
    const facts = (body: Partial<typeof both>, requestedOutputTokens: number | undefined) =>
      factsOf({
        request: {
          format: 'chat',
          body,
          ...(requestedOutputTokens !== undefined && { requestedOutputTokens }),
        },
      });
    expect(await facts(both, 10)).toMatchObject({ requestedOutputTokens: 5000 });
    expect(await facts({ ...both, max_tokens: 3 }, 10)).toMatchObject({ requestedOutputTokens: 10 });
    expect(await facts({ max_completion_tokens: 10 }, 10)).toMatchObject({ requestedOutputTokens: 10 });
    expect((await facts({}, undefined)).requestedOutputTokens).toBeUndefined();
  });

  it('is the only one of other formats', async () => {
    expect(
      await factsOf({ request: { format: 'responses', body: both, requestedOutputTokens: 10 } }),
    ).toMatchObject({
      requestedOutputTokens: 10,
    });
  });
});
