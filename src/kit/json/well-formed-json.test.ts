import { expect, it } from 'vitest';
import { wellFormedJson } from './well-formed-json.ts';

it.each([
  ['a\ud800b', 'a\ufffdb'],
  ['\udfff', '\ufffd'],
  ['\ude00\ud83d', '\ufffd\ufffd'],
  ['\u{1f600}', '\u{1f600}'],
  ['\\ud800', '\\ud800'],
  ['\\\ud800\\', '\\\ufffd\\'],
  ['\n\u0000\ud800"', '\n\u0000\ufffd"'],
])('writes %j as JSON of %j', (given, written) => {
  expect(JSON.parse(wellFormedJson({ [given]: [given] }))).toEqual({ [written]: [written] });
});
