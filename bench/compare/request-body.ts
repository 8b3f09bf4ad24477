import { ANSWERS, type AnswerName, type Lane } from './lanes.ts';

/** A question of about so many bytes in the format of a lane, as an assistant in an editor would ask it. */
export function requestBody(lane: Lane, model: string, answer: AnswerName, bytes: number): string {
  const whole = WRITERS[lane.format](turnsOf(bytes));
  return JSON.stringify({ model, ...whole, ...(ANSWERS[answer].streams && { stream: true }) });
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

const INSTRUCTIONS =
  'You are a careful engineer. Answer briefly, show code where it helps, and say so when you are not sure.';
const PIECE =
  'The signal box at the junction sets the points before a train arrives.\nWhy does "clear" wait for the lock? ';

/** What JSON, tools and instructions take of a small request. */
const FRAME_BYTES = 900;
const TURN_BYTES = 400;
const MAX_TURNS = 40;

/** A conversation that ends with the user; long ones have longer turns rather than ever more of them. */
function turnsOf(bytes: number): Turn[] {
  const room = Math.max(TURN_BYTES, bytes - FRAME_BYTES);
  const count = Math.min(MAX_TURNS, Math.ceil(room / TURN_BYTES)) | 1;
  const text = PIECE.repeat(Math.ceil(room / count / PIECE.length)).slice(0, Math.ceil(room / count));
  return Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    text,
  }));
}

const PARAMETERS = {
  type: 'object',
  properties: { path: { type: 'string', description: 'A file of the project' }, line: { type: 'integer' } },
  required: ['path'],
};
const TOOL = { name: 'read_file', description: 'Reads a file of the project from a line on.' };

/** A conversation with one tool, as each format writes it. */
const WRITERS: Record<Lane['format'], (turns: readonly Turn[]) => object> = {
  chat: (turns) => ({
    messages: [
      { role: 'system', content: INSTRUCTIONS },
      ...turns.map(({ role, text }) => ({ role, content: text })),
    ],
    tools: [{ type: 'function', function: { ...TOOL, parameters: PARAMETERS } }],
    temperature: 0.2,
    max_tokens: 500,
  }),
  messages: (turns) => ({
    system: INSTRUCTIONS,
    messages: turns.map(({ role, text }) => ({ role, content: [{ type: 'text', text }] })),
    tools: [{ ...TOOL, input_schema: PARAMETERS }],
    temperature: 0.2,
    max_tokens: 500,
  }),
  responses: (turns) => ({
    instructions: INSTRUCTIONS,
    input: turns.map(({ role, text }) => ({
      type: 'message',
      role,
      content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
    })),
    tools: [{ type: 'function', ...TOOL, parameters: PARAMETERS, strict: false }],
    temperature: 0.2,
    max_output_tokens: 500,
  }),
};
