import { type AnswerContent, chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import {
  openTestGateway,
  readEvents,
  type TestGateway,
  type TestOptions,
} from '../../kit/gateway-harness.ts';

/** A model for each dialect of upstreams, and its answers. */
const UPSTREAMS = {
  'm/chat': chatAnswer,
  'm/responses': responsesAnswer,
  'm/messages': messagesAnswer,
} as const;

export type ToolModel = keyof typeof UPSTREAMS;

export const PATHS = ['/chat/completions', '/responses', '/messages'] as const;
export type Path = (typeof PATHS)[number];

export const QUESTION = {
  '/chat/completions': { messages: [{ role: 'user', content: 'What is it?' }] },
  '/responses': { input: 'What is it?' },
  '/messages': { max_tokens: 99, messages: [{ role: 'user', content: 'What is it?' }] },
} as const;

/** A gateway in front of a scripted upstream of three dialects. */
export interface ToolGateway {
  readonly gateway: TestGateway;
  readonly upstream: FakeUpstream;
  /** Answers of the upstream, in the order of its requests. */
  answers(model: ToolModel, ...contents: AnswerContent[]): void;
  ask(path: Path, model: ToolModel, body: object): Promise<{ status: number; body: any }>;
  stream(path: Path, model: ToolModel, body: object): Promise<{ event?: string | undefined; data: any }[]>;
  close(): Promise<void>;
}

const PRICING = { prompt: '0.000001', completion: '0.000002' };

/** `ofProviders`: further members of each provider. */
export async function openToolGateway(
  config: object = {},
  options: TestOptions = {},
  ofProviders: object = {},
): Promise<ToolGateway> {
  const upstream = await openFakeUpstream();
  const model = (id: string, provider: string, more: object = {}) => ({
    id,
    endpoints: [{ provider, model: 'one', pricing: PRICING }],
    ...more,
  });
  const provider = (slug: string, dialect: string) => ({
    slug,
    dialect,
    base_url: upstream.url,
    api_key: 'k',
    data_policy: { training: false, retains_prompts: false },
    ...ofProviders,
  });
  const gateway = await openTestGateway(
    {
      providers: [
        provider('chatter', 'openai-chat'),
        provider('responder', 'openai-responses'),
        provider('messenger', 'anthropic-messages'),
      ],
      models: [
        model('m/chat', 'chatter'),
        model('m/responses', 'responder'),
        model('m/messages', 'messenger'),
        model('m/other', 'chatter'),
        model('m/image', 'chatter', { output_modalities: ['text', 'image'] }),
      ],
      ...config,
    } as never,
    options,
  );
  const post = (path: Path, model: ToolModel, body: object) =>
    gateway.post(path, { model, ...QUESTION[path], ...body }, { 'x-signalbox-metadata': 'enabled' });
  return {
    gateway,
    upstream,
    answers(model, ...contents) {
      for (const content of contents) upstream.answer(UPSTREAMS[model](content));
    },
    async ask(path, model, body) {
      const response = await post(path, model, body);
      return { status: response.status, body: await response.json() };
    },
    async stream(path, model, body) {
      return readEvents(await post(path, model, { ...body, stream: true }));
    },
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
}

/** The last tool result in a request to a chat model. */
export function lastToolResult(request: { json: any } | undefined): any {
  const { content } = request?.json.messages.at(-1) ?? {};
  return JSON.parse(typeof content === 'string' ? content : content.at(-1).text);
}

/** The shown text of an answer. */
export const textOf: Record<Path, (body: any) => string> = {
  '/chat/completions': (body) => body.choices[0].message.content,
  '/responses': (body) =>
    body.output
      .filter(({ type }: any) => type === 'message')
      .flatMap(({ content }: any) => content)
      .map((part: any) => part.text)
      .join(''),
  '/messages': (body) => (body.content ?? []).map((block: any) => block.text ?? '').join(''),
};
