import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { messagesAnswer, responsesAnswer, sse } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  type RecordedRequest,
  SSE,
  type Step,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { awsEvent } from '../../kit/fixtures/bedrock/aws-events.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';
import { bedrockAnswer } from '../../laws/matrix/answers/bedrock.ts';
import { geminiAnswer } from '../../laws/matrix/answers/gemini.ts';
import type { WireAnswer } from '../../laws/matrix/answers/wire-answer.ts';

const ANALYSIS = {
  consensus: ['It is blue.'],
  contradictions: [],
  partial_coverage: [],
  unique_insights: [],
  blind_spots: ['Sunsets.'],
};
const JUDGEMENT = JSON.stringify(ANALYSIS);
const DIALECTS = ['responses', 'messages', 'gemini', 'bedrock'] as const;
type Dialect = (typeof DIALECTS)[number];
const PANEL = DIALECTS.map((dialect) => `p/${dialect}`);

let upstream: FakeUpstream;
let gateway: TestGateway;

/** An answer of the matrix as an upstream sends it. */
function served({ body, frames }: WireAnswer, { json, path }: RecordedRequest): readonly Step[] {
  if (path.endsWith('/converse-stream')) {
    const bytes = frames.map(({ event = '', data }) => awsEvent(event, JSON.parse(data) as JsonObject));
    const type = { 'content-type': 'application/vnd.amazon.eventstream' };
    return [head(200, type), write(Buffer.concat(bytes)), end()];
  }
  return json?.stream === true || path.includes('alt=sse')
    ? [head(200, SSE), write(sse(frames as never)), end()]
    : [head(200, JSON_TYPE), write(JSON.stringify(body)), end()];
}

const ANSWERS: Readonly<Record<Dialect, (text: string, request: RecordedRequest) => readonly Step[]>> = {
  responses: (text, request) =>
    (responsesAnswer({ text }) as (of: RecordedRequest) => readonly Step[])(request),
  messages: (text, request) =>
    (messagesAnswer({ text }) as (of: RecordedRequest) => readonly Step[])(request),
  gemini: (text, request) => served(geminiAnswer([{ text }]), request),
  bedrock: (text, request) => served(bedrockAnswer([{ text }]), request),
};

/** The dialect of a request, and whether it goes to the model that judges. */
function addressed({ path, json }: RecordedRequest): {
  readonly dialect: Dialect;
  readonly isJudge: boolean;
} {
  const dialect = path.includes('/converse')
    ? 'bedrock'
    : path.includes('enerateContent')
      ? 'gemini'
      : path.endsWith('/messages')
        ? 'messages'
        : 'responses';
  return { dialect, isJudge: `${path} ${json.model}`.includes('judge') };
}

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const AWS = JSON.stringify({ accessKeyId: 'AKID', secretAccessKey: 'aws-secret', region: 'us-east-1' });
  const provider = (slug: Dialect, dialect: string, api_key = 'k') => ({
    slug,
    dialect,
    base_url: upstream.url,
    api_key,
  });
  const pricing = { prompt: '0.000001', completion: '0.000002' };
  gateway = await openTestGateway({
    providers: [
      provider('responses', 'openai-responses'),
      provider('messages', 'anthropic-messages'),
      provider('gemini', 'google-gemini'),
      provider('bedrock', 'aws-bedrock', AWS),
    ],
    models: DIALECTS.flatMap((dialect) => [
      { id: `p/${dialect}`, endpoints: [{ provider: dialect, model: 'member', pricing }] },
      { id: `j/${dialect}`, endpoints: [{ provider: dialect, model: 'judge', pricing }] },
    ]),
  } as never);
});
beforeEach(() => {
  upstream.clear();
  upstream.answer((request) => {
    const { dialect, isJudge } = addressed(request);
    const isJudging = isJudge && !request.body.includes('Answer the request yourself');
    return ANSWERS[dialect](isJudging ? JUDGEMENT : `Blue, says ${dialect}.`, request);
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const settings = (judge: string) => ({
  plugins: [{ id: 'fusion', analysis_models: PANEL, model: judge, tools: [] }],
});

describe.each(DIALECTS)('fusion with a judge of %s', (dialect) => {
  const judge = `j/${dialect}`;

  it.each([false, true])('has the answers of members of all dialects, stream %s', async (stream) => {
    const asked = { model: judge, input: 'What colour is the sky?', stream, ...settings(judge) };
    const response = await gateway.post('/responses', asked);
    const id = response.headers.get('x-generation-id');
    const body = stream
      ? (await readEvents(response)).at(-2)?.data.response
      : ((await response.json()) as any);
    expect(body.status, JSON.stringify(body)).toBe('completed');
    const [panel, message] = body.output;
    expect(panel).toMatchObject({ type: 'signalbox:fusion', status: 'completed', analysis: ANALYSIS });
    expect(panel.failed_models ?? []).toEqual([]);
    expect(panel.responses).toEqual(
      DIALECTS.map((each) => ({ model: `p/${each}`, content: `Blue, says ${each}.` })),
    );
    expect(message.content[0].text).toBe(`Blue, says ${dialect}.`);
    const record = ((await (await gateway.fetch(`/generation?id=${id}`)).json()) as any).data;
    expect(record.legs.map(({ kind, status }: any) => [kind, status])).toEqual([
      ...DIALECTS.map(() => ['panel', 'completed']),
      ['judge', 'completed'],
      ['main', 'completed'],
    ]);
    expect(body.usage.cost).toBeCloseTo(
      record.legs.reduce((sum: number, { cost }: any) => sum + cost, 0),
      9,
    );
  });
});
