import type { DialectName, Format } from '../../src/ir/items.ts';
import { FORMATS, UPSTREAMS } from '../matrix/verdict.ts';
import { EXPECTED, expectedOf } from './expected.ts';
import { FATES, type Fate } from './fate.ts';
import type { Outcome, Part } from './outcome.ts';

const UPSTREAM_NAMES: Readonly<Record<DialectName, string>> = {
  messages: 'Anthropic',
  responses: 'OpenAI',
  chat: 'Chat',
  gemini: 'Gemini',
  bedrock: 'Bedrock',
};

const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  messages: '`/messages`',
  responses: '`/responses`',
  chat: '`/chat/completions`',
};

const SIGNS: Readonly<Record<Fate, string>> = {
  passed: '✓',
  carried: '~',
  dropped: '✗',
  'left out': '-',
  refused: '!',
  lost: '?',
};

/** The page about today's published types. `versions`: of the packages, by name. */
export function currentPage(
  outcomes: readonly Outcome[],
  versions: readonly (readonly [string, string])[],
): string {
  return `${[
    INTRODUCTION,
    CONTENTS,
    table(
      ['Package', 'Version'],
      versions.map(([name, version]) => [`\`${name}\``, version]),
    ),
    SIGN_TEXT,
    '## How much arrives',
    summary(outcomes),
    '## Refused or lost, and why',
    reasons(outcomes),
    '## Left out of answers',
    LEFT_OUT,
    leftOut(outcomes),
    '## Requests, object by object',
    OBJECT_TEXT,
    ...FORMATS.flatMap((format) => [`### ${FORMAT_NAMES[format]}`, objects(outcomes, format)]),
  ].join('\n\n')}\n`;
}

const INTRODUCTION = `# Today's clients

The official SDKs publish types of all that a request may say and an answer may bring. A test makes one request for
each member, each value and each kind of object of their requests, and one answer for each of their answers and events.
It sends each through a gateway to an upstream of each dialect, and compares what arrives with what arrives without it.
The page is what it found: \`npm run test:types -- --write\` writes it.`;

const CONTENTS = `On this page: [How much arrives](#how-much-arrives),
[Refused or lost, and why](#refused-or-lost-and-why), [Left out of answers](#left-out-of-answers),
[Requests, object by object](#requests-object-by-object).`;

const SIGN_TEXT = `| Sign | Fate | |
|---|---|---|
| ✓ | passed | It arrives as it was said, at the same place. |
| ~ | carried | Something arrives because of it: another field, another word, a text. |
| ✗ | dropped | With and without it the same arrives, and the [translation report](translation.md#the-translation-report) says so. |
| - | left out | With and without it the caller of another format gets the same answer: the format has no place for it, or it says what is taken for granted, such as an ordinary end. Answers have no report. |
| ! | refused | The caller gets an error that names it. The reason stands below. |
| ? | lost | With and without it the same arrives, and no report says so. The reason stands below. |

What has no reason fails the test. What is part of something that is dropped, refused or left out shares its fate and is
not sent by itself. A type that stands in several places is tried in one of them. Names: the object by its type or
place, its member, and a value (\`=\`) or a kind of object (\`:\`). [Plugins](plugins.md) are not tried.`;

const LEFT_OUT = `Kinds and values of answers by which the answers to callers of another format do not differ.`;

const OBJECT_TEXT = `Objects with the number of their members and values by fate; one sign alone: all of them.`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`, ...rows.map(rowOf)].join('\n');
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

const PARTS: readonly (readonly [title: string, parts: readonly Part[]])[] = [
  ['Requests', ['requests']],
  ["Requests of a hosted router's SDK", ['router requests']],
  ['Answers', ['answers']],
  ['Events of streams', ['events']],
];

function summary(outcomes: readonly Outcome[]): string {
  return PARTS.map(([title, parts]) => {
    const rows = FORMATS.flatMap((format) =>
      UPSTREAMS.flatMap((upstream) => {
        const these = outcomes.filter(
          (each) => parts.includes(each.part) && each.format === format && each.upstream === upstream,
        );
        if (these.length === 0) return [];
        const counts = FATES.map((fate) => String(these.filter((each) => each.fate === fate).length || ''));
        return [[FORMAT_NAMES[format], UPSTREAM_NAMES[upstream], ...counts]];
      }),
    );
    return `### ${title}\n\n${table(['Caller', 'Upstream', ...FATES], rows)}`;
  }).join('\n\n');
}

function reasons(outcomes: readonly Outcome[]): string {
  const these = outcomes.filter((each) => isUnwanted(each) && each.sharedWith === undefined);
  const rows = EXPECTED.map((expected) => {
    const ways = byWay(these.filter((each) => expectedOf(each) === expected));
    return [expected.reason, ways.map(([way, names]) => `${way}: ${names}`).join('<br>')];
  });
  return table(['Reason', 'On which way, and what'], rows);
}

/** True for fates that need a reason. */
export function isUnwanted({ fate }: Outcome): boolean {
  return fate === 'refused' || fate === 'lost';
}

function leftOut(outcomes: readonly Outcome[]): string {
  const these = outcomes.filter(({ fate, sharedWith }) => fate === 'left out' && sharedWith === undefined);
  return table(['On the way', 'What'], byWay(these));
}

/** Names by the ways on which they share a fate. */
function byWay(outcomes: readonly Outcome[]): [way: string, names: string][] {
  const ways = new Map<string, Map<string, Set<string>>>();
  for (const { name, format, upstream, fate, part } of outcomes) {
    const isAnswer = part === 'answers' || part === 'events';
    const from = isAnswer ? UPSTREAM_NAMES[upstream] : FORMAT_NAMES[format];
    const to = isAnswer ? FORMAT_NAMES[format] : UPSTREAM_NAMES[upstream];
    const ends = ways.get(name) ?? new Map<string, Set<string>>();
    const begin = `${SIGNS[fate]} ${from}`;
    ends.set(begin, (ends.get(begin) ?? new Set()).add(to));
    ways.set(name, ends);
  }
  const names = new Map<string, string[]>();
  for (const [name, ends] of ways) {
    const way = [...ends].map(([from, to]) => `${from} to ${[...to].sort().join(', ')}`).join('; ');
    names.set(way, [...(names.get(way) ?? []), `\`${name}\``]);
  }
  return [...names].map(([way, those]) => [way, those.join(', ')]);
}

function objects(outcomes: readonly Outcome[], format: Format): string {
  const these = outcomes.filter((each) => each.part === 'requests' && each.format === format);
  const owners = [...new Set(these.map(({ owner }) => owner))];
  const alike = new Map<string, string[]>();
  for (const owner of owners) {
    const own = these.filter((each) => each.owner === owner);
    const cells = UPSTREAMS.map((upstream) => cell(own.filter((each) => each.upstream === upstream)));
    const key = cells.join(' | ');
    alike.set(key, [...(alike.get(key) ?? []), owner === '' ? 'the request' : `\`${owner}\``]);
  }
  const rows = [...alike].map(([cells, those]) => [cells, those.join(', ')]);
  return table([...UPSTREAMS.map((upstream) => UPSTREAM_NAMES[upstream]), 'Objects'], rows);
}

function cell(outcomes: readonly Outcome[]): string {
  const present = FATES.filter((fate) => outcomes.some((each) => each.fate === fate));
  const [only] = present;
  if (only === undefined) return '';
  if (present.length === 1) return SIGNS[only];
  return present
    .map((fate) => `${SIGNS[fate]} ${outcomes.filter((each) => each.fate === fate).length}`)
    .join(' ');
}
