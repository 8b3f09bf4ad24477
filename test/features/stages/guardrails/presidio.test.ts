import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer } from '../../../kit/fakes/answers.ts';
import {
  type FakeUpstream,
  never,
  openFakeUpstream,
  reply,
  type Step,
} from '../../../kit/fakes/fake-upstream.ts';
import { FORMATS, PATHS, WAYS } from '../plugins/formats.ts';
import {
  expectComplete,
  type GuardedGateway,
  openGuardedGateway,
  receiptIn,
  shownText,
  stagesIn,
} from './guarded-gateway.ts';

let guarded: GuardedGateway;
let presidio: FakeUpstream;

beforeAll(async () => {
  presidio = await openFakeUpstream();
  guarded = await openGuardedGateway({ guardrails: { presidio_url: `${presidio.url}/` } });
});
beforeEach(() => {
  presidio.clear();
  presidio.answer(({ json }) => reply(200, analyzed(json)) as readonly Step[]);
  guarded.upstream.clear();
});
afterAll(async () => {
  await guarded.close();
  await presidio.close();
});

const KNOWN = { PERSON: ['Ada Lovelace', 'Bob'], LOCATION: ['Main Street 5'] };

/** What Presidio would answer: positions in code points, of the entities that were asked for. */
function analyzed({ text, entities }: { text: string; entities: (keyof typeof KNOWN)[] }) {
  return entities.flatMap((entity_type) =>
    KNOWN[entity_type].flatMap((name) =>
      [...text.matchAll(new RegExp(name, 'g'))].map(({ index }) => {
        const start = [...text.slice(0, index)].length;
        return { entity_type, start, end: start + [...name].length, score: 0.85 };
      }),
    ),
  );
}

type Action = 'block' | 'redact' | 'flag';
const guard = (name: Action, address: Action) =>
  guarded.guard({
    content_filter_builtins: [
      { slug: 'person-name', action: name },
      { slug: 'address', action: address },
    ],
  });

const PROMPT = '👩‍🚀🎉 Ask Ada Lovelace 🎈 of Main Street 5 \u{1f600}\u{1f600} and Bob!';
const REDACTED = '👩‍🚀🎉 Ask [PERSON_NAME] 🎈 of [ADDRESS] \u{1f600}\u{1f600} and [PERSON_NAME]!';

describe.each(WAYS)('%s, stream %s', (path, stream) => {
  const body = { model: 'm/openai-chat', stream, ...FORMATS[path].of(PROMPT) };

  it('redacts names and addresses at the right places, both ways', async () => {
    guarded.upstream.answer(chatAnswer({ text: `So: ${PROMPT} Fine.` }));
    const key = await guard('redact', 'redact');
    const answer = await guarded.ask(key, path, body);
    expect(answer.status, answer.text).toBe(200);
    expect(presidio.requests[0]).toMatchObject({ path: '/v1/analyze', json: { language: 'en' } });
    expect(presidio.requests[0]?.json.entities).toEqual(['PERSON', 'LOCATION']);
    const sent = guarded.upstream.requests[0]?.body ?? '';
    expect(sent).toContain(JSON.stringify(REDACTED).slice(1, -1));
    expect(shownText(answer)).toContain(`So: ${REDACTED} Fine.`);
    expect(answer.text).not.toMatch(/Ada|Bob!|Main Street/);
    const record = await guarded.recordOf(answer, key);
    expectComplete(receiptIn(record));
    const stages = stagesIn(record).filter(({ name }) => name === 'content-filter');
    expect(stages.map(({ data }) => [data.action, data.direction, data.engines, data.patterns])).toEqual([
      ['redacted', 'sent', ['nlp'], ['PERSON', 'LOCATION']],
      ['redacted', 'received', ['nlp'], ['PERSON', 'LOCATION']],
    ]);
  });

  it('blocks, and flags', async () => {
    const blocked = await guarded.ask(await guard('block', 'redact'), path, body);
    expect(blocked.status).toBe(403);
    expect(blocked.body.error.message).toBe('Blocked PII detected: PERSON');
    if (path !== '/messages') expect(blocked.body.error.metadata.patterns).toEqual(['PERSON']);
    expect(guarded.upstream.requests).toEqual([]);
    guarded.upstream.answer(chatAnswer({ text: 'Hello Bob.' }));
    const key = await guard('flag', 'flag');
    const flagged = await guarded.ask(key, path, body);
    expect(shownText(flagged)).toContain('Hello Bob.');
    expect(guarded.upstream.requests[0]?.body).toContain('Ada Lovelace');
    const stages = stagesIn(await guarded.recordOf(flagged, key));
    expect(stages.filter(({ data }) => data.action === 'flagged').length).toBe(2);
  });
});

it('finds names in long texts, and in many at once, with few calls', async () => {
  guarded.upstream.answer(chatAnswer({ text: 'ok' }));
  const long = `${'🎉 words of a long text '.repeat(3000)}Ada Lovelace ${'and more '.repeat(9000)}Bob.`;
  const messages = [long, ...Array.from({ length: 50 }, (_, index) => `Message ${index} is for Bob`)];
  const answer = await guarded.ask(await guard('redact', 'redact'), '/chat/completions', {
    model: 'm/openai-chat',
    messages: messages.map((content) => ({ role: 'user', content })),
  });
  expect(answer.status).toBe(200);
  const sent = guarded.upstream.requests[0]?.json.messages.map(({ content }: any) => content);
  expect(sent).toEqual(
    messages.map((text) => text.replace('Ada Lovelace', '[PERSON_NAME]').replace('Bob', '[PERSON_NAME]')),
  );
  expect(presidio.requests.length).toBeLessThan(8);
});

describe('a service that does not answer as it should', () => {
  it.each<[string, readonly Step[]]>([
    ['fails', reply(500, 'no') as readonly Step[]],
    ['answers nonsense', reply(200, { person: 'Ada' }) as readonly Step[]],
    ['is slow', [never()]],
  ])('%s: texts pass, and never silently', async (_, script) => {
    presidio.clear();
    presidio.answer(script);
    guarded.upstream.answer(chatAnswer({ text: `Hello Bob. ${'A sentence for Bob. '.repeat(200)}` }));
    const key = await guard('block', 'redact');
    const [path = '/responses'] = PATHS;
    const body = { model: 'm/openai-chat', stream: true, ...FORMATS[path].of(PROMPT) };
    const answer = await guarded.ask(key, path, body);
    expect(answer.status, answer.text).toBe(200);
    expect(shownText(answer)).toContain('Hello Bob.');
    // Once for what is sent, and once for an answer of several windows.
    expect(presidio.requests.length).toBe(2);
    const record = await guarded.recordOf(answer, key);
    const { characters_sent: sent, characters_sent_scanned: scanned } = receiptIn(record);
    expect(scanned).toBeLessThan(sent);
    const stage = stagesIn(record).find(({ data }) => data.action === 'passed');
    expect(stage).toMatchObject({ name: 'content-filter', data: { engines: ['nlp'], direction: 'sent' } });
    const failures = 'signalbox_guardrail_service_failures_total{engine="nlp",on_failure="open"}';
    expect(await guarded.metric(failures)).toBeGreaterThan(0);
  });
});
