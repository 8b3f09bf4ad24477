import {
  end,
  type Step as FakeStep,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  type RecordedRequest,
  write,
} from '../fake-upstream.ts';
import type { OfferedTool, Step, UpstreamDouble } from './upstream-double.ts';

/** What the model wants done next; undefined when none of the tools can do it. */
export type ChooseCall = (
  tools: readonly OfferedTool[],
) => Pick<Step['call'], 'name' | 'namespace' | 'arguments'> | undefined;

/** Thoughts and seal of the first answer. The seal has what base64 has, so that one altered byte shows. */
export const THOUGHTS = 'The word is in the note; I shall look it up, then say it.';
export const SEAL = Buffer.from('sealed by the double: \u00ff\u00fe thoughts ?>~ nobody reads').toString(
  'base64',
);

/** Ids of calls, in no vendor's own form. */
const callId = (index: number) => `call_Z7-double_000${index + 1}`;

/** The id of the call in the first answer. */
export const CALL_ID = callId(0);

/** Calls that a model makes at most before it has its result. */
const MAX_CALLS = 3;

export interface ToolLoopWish {
  readonly choose: ChooseCall;
  readonly pattern: RegExp;
  /** In requests for a title, which agents make beside the loop: they are answered with one. */
  readonly titleRequest?: string | undefined;
}

/**
 * A fake upstream that takes part in a loop: it answers a request by a call, and one whose last result has what
 * `pattern` matches by a sentence with that. Anything else is refused as a bad request, with the reason.
 */
export async function openToolLoop(
  double: UpstreamDouble,
  { choose, pattern, titleRequest }: ToolLoopWish,
): Promise<FakeUpstream> {
  const upstream = await openFakeUpstream();
  upstream.answer((request) => {
    try {
      return streamed(double, answerTo(request));
    } catch (error) {
      return refused(error instanceof Error ? error.message : String(error));
    }
  });
  return upstream;

  function answerTo({ path, body, json }: RecordedRequest): Uint8Array {
    if (path !== `/v1${double.path}`) throw new Error(`no stream is asked for at ${path}`);
    if (titleRequest !== undefined && body.includes(titleRequest)) return double.textStream('Copy of a note');
    const steps = double.stepsOf(json);
    const output = steps.at(-1)?.output;
    const [word] = output?.match(pattern) ?? [];
    if (word !== undefined) return double.textStream(`The note says ${word}.`);
    if (steps.length === MAX_CALLS) throw new Error(`the result is not what the tool gives: ${output}`);
    const tools = double.toolsOf(json);
    const call = choose(tools);
    if (call === undefined) throw new Error(`no such tool among ${tools.map(({ name }) => name).join(', ')}`);
    const thoughts = double.hidesThoughts(json) ? '' : THOUGHTS;
    return double.stepStream({ thoughts, seal: SEAL, call: { id: callId(steps.length), ...call } });
  }
}

function streamed({ mediaType }: UpstreamDouble, bytes: Uint8Array): readonly FakeStep[] {
  return reply(200, { 'content-type': mediaType }, bytes);
}

/** The reason where each of the vendors writes it. */
function refused(message: string): readonly FakeStep[] {
  return reply(400, JSON_TYPE, Buffer.from(JSON.stringify({ message, error: { message } })));
}

/** In three writes, cut where no event ends. */
function reply(status: number, headers: Record<string, string>, bytes: Uint8Array): readonly FakeStep[] {
  const third = Math.ceil(bytes.length / 3);
  return [head(status, headers), write(bytes, [third, 2 * third]), end()];
}
