/** A way through the gateway: the format that comes in, and the dialect of the upstream. */
export interface Lane {
  readonly name: string;
  readonly format: keyof typeof FORMATS;
  readonly upstream: 'chat' | 'messages';
}

/**
 * The formats that callers write: their path, and what marks an event of text and the end of a stream in each. In
 * chat the first and the last chunk have a text too, an empty one, and every word of the upstream ends with a space.
 */
export const FORMATS = {
  chat: { path: '/chat/completions', event: ' "},"finish_reason":null', end: 'data: [DONE]' },
  messages: { path: '/messages', event: '"type":"text_delta"', end: '"type":"message_stop"' },
  responses: {
    path: '/responses',
    event: '"type":"response.output_text.delta"',
    end: '"type":"response.completed"',
  },
} as const;

/** The lanes that are measured. */
export const LANES = {
  relay: { name: 'relay', format: 'chat', upstream: 'chat' },
  messagesToChat: { name: 'messages to chat', format: 'messages', upstream: 'chat' },
  responsesToMessages: { name: 'responses to messages', format: 'responses', upstream: 'messages' },
} as const satisfies Record<string, Lane>;

/** What the upstream answers, by the marker in the name of its model, and how many events of text that has. */
export const ANSWERS = {
  '2k': { streams: false, events: 0 },
  '200k': { streams: false, events: 0 },
  burst: { streams: true, events: 200 },
  paced: { streams: true, events: 100 },
  idle: { streams: true, events: 1 },
} as const;

export type AnswerName = keyof typeof ANSWERS;

/** Milliseconds between two events of a paced stream. */
export const PACE_MS = 20;
