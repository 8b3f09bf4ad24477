import {
  head,
  JSON_TYPE,
  type RecordedRequest,
  type Script,
  SSE,
  type Step,
  type Turn,
  write,
} from '../../kit/fakes/fake-upstream.ts';

/** Nano-dollars of a token of output where answers cost 0.00004 USD a token; prompts cost nothing. */
export const NANOS_PER_TOKEN = 40_000n;

/** What an upstream knows of one request: its own log. */
export interface SentAnswer {
  readonly user: string;
  /** Tokens of the whole answer. */
  readonly wanted: number;
  /** Tokens, a piece each, that were given to the socket by now, and when. */
  readonly given: { readonly tokens: number; readonly atMs: number }[];
  /** Tokens whose sending has begun: the last piece may be on its way when the connection closes. */
  begun: number;
  /** Whether the usage was given to the socket too. */
  isWhole: boolean;
}

/** Tokens that are sent at a time. */
const AT_A_TIME = 10;

/**
 * Answers with as many tokens as the prompt says (`<user>; <tokens>`, or `<user>; <tokens>; <milliseconds between
 * pieces>`), and notes what was given to the socket.
 */
export function loggedAnswer(log: SentAnswer[]): Script {
  return (recorded: RecordedRequest) => {
    const [user = '', tokens = '0', pauseMs = ''] = String(recorded.json.messages[0].content).split('; ');
    const sent: SentAnswer = { user, wanted: Number(tokens), given: [], begun: 0, isWhole: false };
    log.push(sent);
    return recorded.json.stream === true ? streamed(sent, Number(pauseMs)) : whole(sent);
  };
}

/** Tokens that an upstream had given to the socket at a moment. */
export function tokensBy({ given }: SentAnswer, atMs: number): number {
  return given.filter((piece) => piece.atMs <= atMs).reduce((sum, { tokens }) => sum + tokens, 0);
}

function streamed(sent: SentAnswer, pauseMs: number): Step[] {
  const pieces = Array.from({ length: sent.wanted / AT_A_TIME }, () => async (turn: Turn) => {
    if (turn.socket.destroyed) return;
    sent.begun += AT_A_TIME;
    await write(Array.from({ length: AT_A_TIME }, () => frame({ content: 'word ' })).join(''))(turn);
    sent.given.push({ tokens: AT_A_TIME, atMs: performance.now() });
    await pause(pauseMs);
  });
  return [
    head(200, SSE),
    ...pieces,
    async (turn) => {
      if (turn.socket.destroyed) return;
      await write(`${frame({}, 'stop', sent.wanted)}data: [DONE]\n\n`)(turn);
      sent.isWhole = true;
      turn.response.end();
    },
  ];
}

function whole(sent: SentAnswer): Step[] {
  const message = { role: 'assistant', content: 'word '.repeat(sent.wanted) };
  const body = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'one',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: usageOf(sent.wanted),
  };
  return [
    () => pause(),
    head(200, JSON_TYPE),
    async (turn) => {
      await write(JSON.stringify(body))(turn);
      sent.isWhole = true;
      turn.response.end();
    },
  ];
}

function frame(delta: object, finish: string | null = null, output?: number): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'one', choices };
  return `data: ${JSON.stringify({ ...chunk, ...(output !== undefined && { usage: usageOf(output) }) })}\n\n`;
}

function usageOf(output: number) {
  return { prompt_tokens: 5, completion_tokens: output, total_tokens: output + 5 };
}

async function pause(atLeastMs = 0): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, atLeastMs + 1 + Math.random() * 3));
}
