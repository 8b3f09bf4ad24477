import { end, head, JSON_TYPE, type RecordedRequest, type Step, write } from '../fake-upstream.ts';
import type { UpstreamDouble } from './upstream-double.ts';
import { type Said, WHOLE_ANSWERS } from './whole-answers.ts';

/** One answer of a double. The request decides whether it streams. */
export function doubleAnswer(
  double: UpstreamDouble,
  said: Said,
): (request: RecordedRequest) => readonly Step[] {
  const whole = WHOLE_ANSWERS[double.dialect];
  if (whole === undefined) throw new Error(`${double.dialect} has no whole answers`);
  return ({ path, json }) => {
    const streams = whole.path === double.path ? json.stream === true : path === `/v1${double.path}`;
    if (streams) {
      const bytes = 'call' in said ? double.stepStream(said) : double.textStream(said.says);
      return [head(200, { 'content-type': double.mediaType }), write(bytes), end()];
    }
    return path === `/v1${whole.path}`
      ? [head(200, JSON_TYPE), write(JSON.stringify(whole.bodyOf(said))), end()]
      : [head(404, JSON_TYPE), write('{}'), end()];
  };
}
