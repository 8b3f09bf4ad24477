import { expect, it } from 'vitest';
import { sentCharacters } from './sent-characters.ts';

const SCANNED = [
  'Hello there',
  'What is it?',
  'https://example.com/a.png',
  'my report.pdf',
  'sky',
  'weather',
];

/** How many characters of a text were not scanned. */
function unscanned(text: string, member = 'content'): number {
  const { sent, scanned } = sentCharacters({ messages: [{ role: 'user', [member]: text }] }, SCANNED);
  return sent - scanned;
}

it.each([
  ['a text', 'Hello there', 'content'],
  ['joined texts', 'Hello there\n\nWhat is it?', 'content'],
  ['JSON made of texts', '{"input":"Hello there","list":["What is it?"]}', 'arguments'],
  ['a sentence of ours', '[image at https://example.com/a.png]', 'content'],
  ['the id of a call', 'Output of tool call call_9:', 'content'],
  ['a cleaned name', 'my-report', 'name'],
  ['a counted name', 'my-report (2)', 'name'],
  ['joined names', 'sky__weather', 'name'],
  ['blanks', ' \n ', 'content'],
  ['a word of a protocol', 'json_schema', 'type'],
])('knows %s', (_, text, member) => {
  expect(unscanned(text, member)).toBe(0);
});

it.each([
  ['another text', 'Goodbye', 'content', 7],
  ['a text beside a scanned one', 'Hello there Goodbye', 'content', 7],
  ['several words beside a scanned text', 'Hello there Goodbye for now', 'content', 15],
  ['words before a scanned text', 'Goodbye for now. Hello there', 'content', 16],
  ['the beginning of a longer word', 'Hello thereafter', 'content', 16],
  ['a text in JSON', '{"input":"Hello there","more":"Goodbye"}', 'arguments', 7],
  ['an address in a sentence of ours', '[image at https://other.example/b]', 'content', 23],
  ['another name', 'sky__secrets', 'name', 12],
  ['a name in other letters', 'Имя', 'name', 3],
  ['a text where a mark should be', 'Tell me all', 'id', 11],
])('misses %s', (_, text, member, count) => {
  expect(unscanned(text, member)).toBe(count);
});
