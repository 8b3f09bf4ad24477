import type { Format } from '../../../src/ir/items.ts';
import { FORMATS } from '../matrix/verdict.ts';
import { TOLERATED } from './body-types.ts';
import { EXPECTED, expectedOf, isUnwanted } from './expected.ts';
import { FATES, type Fate } from './fate.ts';
import { isAnswer, isTranslated, type Outcome, type Part } from './outcome.ts';
import { OTHERS, OWNERS, type Upstream } from './upstreams.ts';

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
    '## Bodies and their types',
    TYPES_TEXT,
    table(
      ['Where an API takes something else than its types say', 'Not checked'],
      TOLERATED.map(({ reason, members }) => [reason, members.map((each) => `\`${each}\``).join(', ')]),
    ),
    '## Other providers',
    OTHERS_TEXT,
    others(outcomes),
    '## Left out of answers',
    LEFT_OUT,
    leftOut(outcomes),
  ].join('\n\n')}\n`;
}

/** The page about the requests alone, object by object. */
export function currentRequestsPage(outcomes: readonly Outcome[]): string {
  return `${[
    REQUESTS_INTRODUCTION,
    ...FORMATS.flatMap((format) => [`## ${FORMAT_NAMES[format]}`, objects(outcomes, format)]),
  ].join('\n\n')}\n`;
}

const INTRODUCTION = `# Today's clients

The official SDKs publish types of all that a request may say and an answer may bring. A test makes one request for
each member, each value and each kind of object of their requests, and one answer for each of their answers and events.
It sends each through a gateway to an upstream of each dialect, and compares what arrives with what arrives without it.
The page is what it found: \`npm run test:types -- --write\` writes it.`;

const CONTENTS = `On this page: [How much arrives](#how-much-arrives),
[Refused or lost, and why](#refused-or-lost-and-why), [Bodies and their types](#bodies-and-their-types),
[Other providers](#other-providers), [Left out of answers](#left-out-of-answers).
The requests [object by object](translation-current-requests.md) have a page of their own.`;

const SIGN_TEXT = `| Sign | Fate | |
|---|---|---|
| ✓ | passed | It arrives as it was said, at the same place. |
| ~ | carried | Something arrives because of it or of something in it: another field, another word, a text. A value of an answer is carried too if another value of its member arrives otherwise. |
| ✗ | dropped | With and without it the same arrives, and the [translation report](translation.md#the-translation-report) says so: of it, of all that it is part of, or of each thing in it. |
| - | left out | With and without it the caller gets the same answer, which the gateway writes itself for another format or *translated*: there is no place for it, it says what is taken for granted, or it tells how the upstream worked (tools, diagnostics, moderation). Answers have no report. |
| ! | refused | The caller gets an error that names it, or the upstream would refuse the body by its published types. The reason stands below. |
| ? | lost | With and without it the same arrives, and the report does not say so of it. The reason stands below. |

What has no reason fails the test. What is part of something that is refused shares its fate and is not sent by itself;
all else is. A type that stands in several places is tried in one of them. Objects of Gemini's and Bedrock's answers,
whose members are optional, are shown with all of their members, and what has no content is not judged. Names: the
object by its type or place, its member, and a value (\`=\`) or a kind of object (\`:\`). [Plugins](plugins.md) are not
tried, nor are streams to callers of other formats.

Columns: Anthropic, OpenAI, Gemini and Bedrock are these providers as the built-in table has them, Chat is a server of
that dialect that the table does not know. A request to an upstream of its own format is relayed. *Translated*: the same
upstream, under a [guardrail](guardrails.md) that finds nothing, so that nothing is relayed.`;

const TYPES_TEXT = `Every body that is not relayed is checked against the types of the request that the owner of the
dialect publishes: members, kinds and values. A body that they would refuse counts as refused. Gemini's SDK publishes no
type of the whole body: its parts are checked (contents, settings, tools).`;

const OTHERS_TEXT = `Providers that do something otherwise than the owner of their dialect: one for each set of
differences in the built-in table that shows in a request of its own format. The table lists what has another fate than
at the upstream of that dialect above.`;

const LEFT_OUT = `Kinds and values of answers, and all members of the answers of Gemini and Bedrock, by which the
answers to callers do not differ.`;

const REQUESTS_INTRODUCTION = `# Requests of today's clients

What becomes of each object of a request at each upstream: how many of its members and values have which fate; one sign
alone: all of them. [Today's clients](translation-current.md) says what the signs and columns mean, and gives the
reasons for what is refused or lost. \`npm run test:types -- --write\` writes both pages.

On this page: [/messages](#messages), [/responses](#responses), [/chat/completions](#chatcompletions).`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`, ...rows.map(rowOf)].join('\n');
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

const PARTS: readonly (readonly [title: string, parts: readonly Part[]])[] = [
  ['Requests', ['requests', 'translated requests']],
  ["Requests of a hosted router's SDK", ['router requests']],
  ['Answers', ['answers', 'translated answers']],
  ['Events of streams', ['events']],
];

function summary(outcomes: readonly Outcome[]): string {
  return PARTS.map(([title, parts]) => {
    const rows = FORMATS.flatMap((format) =>
      OWNERS.flatMap((upstream) =>
        parts.flatMap((part) => {
          const these = outcomes.filter(
            (each) => each.part === part && each.format === format && each.upstream === upstream,
          );
          const [first] = these;
          if (first === undefined) return [];
          return [[FORMAT_NAMES[format], upstreamName(first), ...countsOf(these)]];
        }),
      ),
    );
    return `### ${title}\n\n${table(['Caller', 'Upstream', ...FATES], rows)}`;
  }).join('\n\n');
}

function countsOf(outcomes: readonly Outcome[]): string[] {
  return FATES.map((fate) => String(outcomes.filter((each) => each.fate === fate).length || ''));
}

function upstreamName({ part, upstream }: Outcome): string {
  return isTranslated(part) ? `${upstream.name}, translated` : upstream.name;
}

/** What other providers do otherwise than the owner of their dialect. */
function others(outcomes: readonly Outcome[]): string {
  const usual = new Map(
    outcomes
      .filter(({ part, format, upstream }) => part === 'requests' && format === upstream.dialect)
      .map(({ format, name, fate }) => [`${format} ${name}`, fate]),
  );
  const rows = OTHERS.map((upstream) => {
    const these = outcomes.filter((each) => each.part === 'provider requests' && each.upstream === upstream);
    const differing = these.filter(({ format, name, fate }) => usual.get(`${format} ${name}`) !== fate);
    const fates = FATES.flatMap((fate) => {
      const names = differing.filter((each) => each.fate === fate).map(({ name }) => `\`${name}\``);
      return names.length === 0 ? [] : [`${SIGNS[fate]} ${names.join(', ')}`];
    });
    return [providerName(upstream), fates.join('<br>') || 'nothing'];
  });
  return table(['Provider', 'What has another fate'], rows);
}

function providerName({ name, dialect }: Upstream): string {
  const [owner] = OWNERS.filter((each) => each.dialect === dialect);
  return `${name} (${owner?.name})`;
}

function reasons(outcomes: readonly Outcome[]): string {
  const these = outcomes.filter((each) => isUnwanted(each) && each.sharedWith === undefined);
  const rows = EXPECTED.map((expected) => {
    const ways = byWay(these.filter((each) => expectedOf(each) === expected));
    return [expected.reason, ways.map(([way, names]) => `${way}: ${names}`).join('<br>')];
  });
  return table(['Reason', 'On which way, and what'], rows);
}

function leftOut(outcomes: readonly Outcome[]): string {
  const these = outcomes.filter(({ fate, sharedWith }) => fate === 'left out' && sharedWith === undefined);
  return table(['On the way', 'What'], byWay(these));
}

/** Names by the ways on which they share a fate. */
function byWay(outcomes: readonly Outcome[]): [way: string, names: string][] {
  const ways = new Map<string, Map<string, Set<string>>>();
  for (const outcome of outcomes) {
    const { name, format, fate, part } = outcome;
    const [from, to] = isAnswer(part)
      ? [upstreamName(outcome), FORMAT_NAMES[format]]
      : [FORMAT_NAMES[format], upstreamName(outcome)];
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
  const these = outcomes.filter((each) => each.format === format && !isAnswer(each.part));
  const columns = [
    ...OWNERS.map((upstream) => ({ part: 'requests', upstream, title: upstream.name })),
    ...OWNERS.filter(({ dialect }) => dialect === format).map((upstream) => {
      return { part: 'translated requests', upstream, title: `${upstream.name}, translated` };
    }),
  ];
  const shown = these.filter(({ part }) => columns.some((column) => column.part === part));
  const alike = new Map<string, string[]>();
  for (const owner of new Set(shown.map((each) => each.owner))) {
    const own = shown.filter((each) => each.owner === owner);
    const key = columns
      .map(({ part, upstream }) =>
        cell(own.filter((each) => each.part === part && each.upstream === upstream)),
      )
      .join(' | ');
    alike.set(key, [...(alike.get(key) ?? []), owner === '' ? 'the request' : `\`${owner}\``]);
  }
  const rows = [...alike].map(([cells, those]) => [cells, those.join(', ')]);
  return table([...columns.map(({ title }) => title), 'Objects'], rows);
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
