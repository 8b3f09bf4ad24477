import type { TestGateway } from '../../../kit/gateway-harness.ts';
import { readEvents } from '../../../kit/gateway-harness.ts';

/** One user message in each of the three formats. */
export const FORMATS = {
  '/chat/completions': {
    of: (text: string) => ({ messages: [{ role: 'user', content: text }] }),
    textOf: (answer: any): string => answer.choices[0].message.content,
  },
  '/responses': {
    of: (text: string) => ({ input: text }),
    textOf: (answer: any): string => answer.output[0].content[0].text,
  },
  '/messages': {
    of: (text: string) => ({ max_tokens: 99, messages: [{ role: 'user', content: text }] }),
    textOf: (answer: any): string => answer.content[0].text,
  },
} as const;

export type Path = keyof typeof FORMATS;
export const PATHS = Object.keys(FORMATS) as Path[];
export const WAYS = PATHS.flatMap((path) => [[path, false] as const, [path, true] as const]);

const TOLD = { 'x-signalbox-metadata': 'enabled' };

/** The status, and the reply: the body, or of a stream all its events in one text. */
export async function ask(gateway: TestGateway, path: Path | '/embeddings', body: object) {
  const response = await gateway.post(path, body, TOLD);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const events = isStream ? await readEvents(response) : [];
  const answer = isStream ? undefined : ((await response.json()) as any);
  const metadata = isStream
    ? events.map(({ data }) => data?.response?.signalbox_metadata ?? data?.signalbox_metadata).find(Boolean)
    : answer.signalbox_metadata;
  return { status: response.status, answer, events, metadata, headers: response.headers };
}
