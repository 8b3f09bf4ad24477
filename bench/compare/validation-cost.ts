import { requestSchema as chatSchema } from '../../src/dialects/chat/wire.ts';
import { requestSchema as messagesSchema } from '../../src/dialects/messages/wire.ts';
import { requestSchema as responsesSchema } from '../../src/dialects/responses/wire.ts';
import { compileValidator } from '../../src/kit/json/validate.ts';
import { LANES, type Lane } from './lanes.ts';
import { requestBody } from './request-body.ts';

/** What reading and checking one request costs, in microseconds, round by round. */
export interface ValidationCost {
  readonly name: string;
  readonly parse: readonly number[];
  readonly validation: readonly number[];
}

const SCHEMAS = { chat: chatSchema, messages: messagesSchema, responses: responsesSchema };
const SIZES = { '2 KB': 2000, '200 KB': 200_000 };
const ROUND_MS = 30;
const WARM_UP_MS = 300;

/** Measures JSON.parse of a request, and the check of what it gives, in turn. */
export function measureValidation(rounds: number): ValidationCost[] {
  return Object.values(LANES).flatMap((lane) =>
    Object.entries(SIZES).map(([size, bytes]) => costOf(`${lane.format}, ${size}`, lane, bytes, rounds)),
  );
}

function costOf(name: string, lane: Lane, bytes: number, rounds: number): ValidationCost {
  const text = requestBody(lane, 'bench/model', '2k', bytes);
  const value: unknown = JSON.parse(text);
  const validator = compileValidator(SCHEMAS[lane.format]('signalbox'));
  const issues = validator.issuesOf(value);
  if (issues.length > 0)
    throw new Error(`the request of the benchmark is not valid: ${JSON.stringify(issues)}`);
  const parse = () => JSON.parse(text) as unknown;
  const validate = () => validator.issuesOf(value);
  micros(parse, WARM_UP_MS);
  micros(validate, WARM_UP_MS);
  const pairs = Array.from({ length: rounds }, () => [micros(parse, ROUND_MS), micros(validate, ROUND_MS)]);
  return {
    name,
    parse: pairs.map(([first = Number.NaN]) => first),
    validation: pairs.map(([, second = Number.NaN]) => second),
  };
}

/** Microseconds a run; the clock is looked at between batches only, because some runs take no longer than that. */
function micros(run: () => unknown, forMs: number): number {
  const batch = 64;
  const start = performance.now();
  let count = 0;
  while (performance.now() - start < forMs) {
    for (let index = 0; index < batch; index++) run();
    count += batch;
  }
  return ((performance.now() - start) * 1000) / count;
}
