import type { DialectName, Format } from '../../../src/ir/items.ts';
import { ANSWER_MATRIX } from './answer-matrix.ts';
import { CUSTODY } from './custody.ts';
import { lanesOf, send } from './judge-request.ts';
import type { RequestFeature } from './request-feature.ts';
import { REQUEST_MATRIX } from './request-matrix.ts';
import { FORMATS, UPSTREAMS, verdictIn } from './verdict.ts';

/** Names of the upstream dialects on the page. */
const UPSTREAM_NAMES: Readonly<Record<DialectName, string>> = {
  messages: 'Anthropic',
  responses: 'OpenAI',
  chat: 'Chat',
  gemini: 'Gemini',
  bedrock: 'Bedrock',
};

/** Names of the formats on the page. */
const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  messages: '`/messages` (Claude Code, the Anthropic SDK)',
  responses: '`/responses` (Codex, the OpenAI SDK)',
  chat: '`/chat/completions` (most other clients)',
};

/** Verdicts as the tables show them. */
const SIGNS: Readonly<Record<string, string>> = {
  kept: '✓',
  adapted: '~',
  dropped: '✗',
  refused: '!',
  '-': '·',
};

/** The pages about translation by file name, generated from the tables that the tests check. */
export function translationPages(): ReadonlyMap<string, string> {
  const pages = [
    ['translation.md', [INTRODUCTION, CUSTODY_TEXT, custodyTables(), BAD_INPUT]],
    ...FORMATS.map((format) => [FORMAT_PAGES[format], formatPage(format)] as const),
    ['translation-report.md', [REPORT, requestNotes()]],
  ] as const;
  return new Map(pages.map(([name, parts]) => [name, pageOf(parts)]));
}

/** The page of each format: what becomes of its requests and of answers in it. */
const FORMAT_PAGES: Readonly<Record<Format, string>> = {
  messages: 'translation-messages.md',
  responses: 'translation-responses.md',
  chat: 'translation-chat.md',
};

function pageOf(parts: readonly string[]): string {
  return `${parts.join('\n\n').split('\n').flatMap(wrapped).join('\n')}\n`;
}

function formatPage(format: Format): string[] {
  return [
    `# Translation: ${FORMAT_NAMES[format]}`,
    'Left: what your request says. Across: the upstream that serves it. The signs, and what the columns stand for, ' +
      'are explained in [Translation](translation.md); the words of the report are in ' +
      '[What the report says](translation-report.md).',
    'On this page: [Requests](#requests), [Answers](#answers).',
    '## Requests',
    SIGN_LINE,
    requestTable(format),
    '## Answers',
    'Streams and whole answers contain the same. There is no report for answers: anything without a field in your ' +
      'format is left out.',
    answerTable(format),
    answerNotes(format),
  ];
}

const SIGN_LINE = '✓ kept, ~ adapted, ✗ dropped, ! refused, · not expressible.';

const MAX_LINE_CHARACTERS = 118;

/** The lines of a paragraph or list item; lines of tables stay whole. */
function wrapped(line: string): string[] {
  if (line.startsWith('|') || line.length <= MAX_LINE_CHARACTERS) return [line];
  const indent = ' '.repeat(/^ *(?:- )?/.exec(line)?.[0].length ?? 0);
  const lines: string[] = [];
  let rest = line;
  while (rest.length > MAX_LINE_CHARACTERS) {
    const end = rest.lastIndexOf(' ', MAX_LINE_CHARACTERS);
    lines.push(rest.slice(0, end));
    rest = indent + rest.slice(end + 1);
  }
  return [...lines, rest];
}

const INTRODUCTION = `# Translation

Send requests in one format and have them served by a model that speaks another. These pages show what survives,
pair by pair. Tests compare their tables with what really goes out and comes back.

| Page | Has |
|---|---|
| [From and to \`/messages\`](translation-messages.md) | Claude Code, the Anthropic SDK |
| [From and to \`/responses\`](translation-responses.md) | Codex, the OpenAI SDK |
| [From and to \`/chat/completions\`](translation-chat.md) | most other clients |
| [What the report says](translation-report.md) | every entry of the translation report, with the upstreams that cause it |

The pages are generated: after a change run \`node scripts/translation-page.mjs\`.

On this page: [Signs](#signs), [The translation report](#the-translation-report),
[Moving a workload](#moving-a-workload), [Reasoning in custody](#reasoning-in-custody),
[Input that no upstream would take](#input-that-no-upstream-would-take).

## Signs

| Sign | Verdict | Meaning |
|---|---|---|
| ✓ | kept | It arrives with the same meaning, perhaps under another field name. |
| ~ | adapted | It arrives in another form, which the translation report names. |
| ✗ | dropped | It does not arrive. The translation report gives the reason. |
| ! | refused | You get a 400 with the path; no upstream is called. |
| · | not expressible | One of the two sides has no field for it. |

The columns are the dialects of upstreams:

- **Anthropic** (messages);
- **OpenAI** (responses);
- **Chat** (chat completions: most other providers);
- **Gemini** (generateContent);
- **Bedrock** (Converse, here with a Claude model; models of other makers take less, and the report lists it).

## The translation report

To get the report with an answer, send the header \`X-Signalbox-Metadata: enabled\`.
\`signalbox_metadata.translation\` then lists every field of your request that was dropped, renamed or changed, with its
path in your own body. Every loss has an entry. With more than 100, the last entry gives the number of those not
listed.

Fields that no format documents, such as a mistyped \`temprature\` or \`tools[0].function.strickt\`, have an entry on
every way, at any depth. JSON Schemas, arguments and items that models wrote are not searched, and members of a hosted
tool only where the gateway runs it. So have values and types that a format does not know, of fields that it does: a
new kind of tool, of thinking or of edit. They are refused only where the gateway itself acts on them. The
\`action\` says what became of the field:

| Action | The field |
|---|---|
| \`passed_on\` | went to an upstream of your own format, as it is; the upstream may know it |
| \`dropped\` | was not sent, because the upstream speaks another format |
| \`ignored\` | went to the [simulator](simulator.md), which does not know it; or it is a parameter of the query, or a member of a [tool](tools.md#hosted-names) that the gateway runs and that has no effect there, or of a field for the gateway |

Streams have every event of an upstream of your own format, in order, whether the gateway knows its type or not, and
deltas of \`/messages\` of every type: relayed, and beside guardrails and server tools too. Their \`sequence_number\`,
\`output_index\`, \`item_id\` and \`index\` are those of your stream. Left out are events of calls that the gateway runs, of
thoughts that you exclude, and those whose type is no plain name (at most 128 visible characters of ASCII); an \`error\`
in such an event becomes its \`message\`, because client libraries end the stream there.

Parameters of the query have no effect on a generation. Each is reported with a question mark before its name:
\`?verbose\`. Only \`beta\`, which the Anthropic client adds to its calls, is left out.
\`/messages/count_tokens\` and \`/responses/input_tokens\` have no report. Routes for the catalogue (\`/models\`,
\`/providers\` and below), keys, workspaces, BYOK, credits, files, analytics, datasets, records of generations and
\`/routing/explain\` answer an unknown parameter with a 400 that names it, and the one that was probably meant. So do \`/healthz\`, \`/readyz\`, \`/metrics\` and
\`/openapi.json\`; the pages \`/\` and \`/docs\` take any.

If your format and the upstream's are the same, your body is relayed as you wrote it. Numbers beyond 2^53 keep all
their digits, in your body and in the answer, and one that no double holds (\`1e400\`) stays what it is. So it is with
the input of tool calls and with schemas if the formats differ, where an object becomes text, or text an object. A
fraction below 10^15 is written as the nearest double: \`0.10000000000000000001\` becomes \`0.1\`. What an endpoint does
not take (\`supported_parameters\`), or a provider refuses, is left out with an entry too. So is a service tier or
\`speed: fast\` if the serving endpoint is not of that tier (a tag that ends in \`/flex\` or \`/priority\`): the tables show
endpoints that are.

Some models refuse sampling settings, whichever provider serves them. Recent Claude models take \`temperature\` or
\`top_p\`, not both: \`top_p\` is left out, or a \`temperature\` of 1 if that is what stands beside it. Others, such as
Claude Opus 4.7 and the reasoning models of OpenAI, take neither, and no penalties. While a Claude model thinks, a
temperature other than 1, a \`top_p\` below 0.95 and \`top_k\` are left out. Each is in the report as dropped, relayed
or not. An endpoint that lists a setting in \`supported_parameters\` gets it all the same, except for the pair.

## Moving a workload

**Claude Code to another family.** These survive: tools, parallel calls, results with images and errors, images
(GIF not at Gemini), documents, system prompts (also between turns), structured output, effort and token counts.
Reasoning continues as text if the new family takes it. Signatures stay with the family that made them, and work again
when you return to it.
Cache marks reach only Anthropic and Bedrock: the others cache on their own, and report what they read from their
caches in \`usage\`. \`context_management\` and the search that Anthropic runs are dropped. What its tools left in the
conversation (searches, pages, programs, calls of MCP servers) becomes calls and what their blocks show of the results.

**Codex to another family.** Functions, \`namespace\` groups and free-text tools survive. The latter two become plain
functions on the way out, and calls come back in their original form. Encrypted reasoning goes back only to OpenAI.
Elsewhere verbosity, cache keys and the search that OpenAI runs are dropped; a grammar becomes part of a description.

**Tools that Gemini runs.** A search of the web that Gemini shows in its answer (\`toolCall\` and \`toolResponse\`) is a
\`web_search_call\` on \`/responses\` and a \`server_tool_use\` block with its result on \`/messages\`; in your next turn it
goes back as a call and its result. Gemini's other tools (maps, pages, files, code) have no place in the three formats:
what they show goes back to Gemini as it came while tools of the gateway run, and is not in the answer.`;

function requestTable(format: Format): string {
  const rows = REQUEST_MATRIX.flatMap(({ title, features }) => {
    const said = features.filter(({ asked }) => asked[format] !== undefined);
    const cells = said.map((feature) =>
      line(feature.title, (upstream) => verdictIn(feature.verdicts, format, upstream)),
    );
    return said.length === 0 ? [] : [`| **${title}** |${' |'.repeat(UPSTREAMS.length)}`, ...cells];
  });
  return `${HEAD}\n${rows.join('\n')}`;
}

const HEAD = `| | ${UPSTREAMS.map((upstream) => UPSTREAM_NAMES[upstream]).join(' | ')} |\n|---|${':-:|'.repeat(UPSTREAMS.length)}`;

function line(title: string, verdict: (upstream: DialectName) => string): string {
  return `| ${title} | ${UPSTREAMS.map((upstream) => SIGNS[verdict(upstream)] ?? '?').join(' | ')} |`;
}

function requestNotes(): string {
  const notes = REQUEST_MATRIX.flatMap(({ features }) => features)
    .map((feature) => ({ feature, details: detailsOf(feature) }))
    .filter(({ feature, details }) => feature.note !== undefined || details.length > 0)
    .map(({ feature, details }) => {
      const head = `- **${feature.title}.**${feature.note === undefined ? '' : ` ${feature.note}`}`;
      return [head, ...details.map((detail) => `  - ${detail}`)].join('\n');
    });
  return notes.join('\n');
}

/** The report's sentences about a feature, each once, with the upstreams that cause it. */
function detailsOf(feature: RequestFeature): string[] {
  const upstreams = new Map<string, Set<DialectName>>();
  for (const format of FORMATS) {
    const body = feature.asked[format];
    if (body === undefined) continue;
    for (const upstream of UPSTREAMS) {
      const [lane = 'translate'] = lanesOf(format, upstream);
      for (const { field, action, detail } of send(feature, body, format, upstream, lane).report) {
        const sentence = `${action}: ${lastStep(field)}${detail}`;
        upstreams.set(sentence, (upstreams.get(sentence) ?? new Set()).add(upstream));
      }
    }
  }
  return [...upstreams].map(([sentence, those]) => {
    const names = UPSTREAMS.filter((upstream) => those.has(upstream)).map(
      (upstream) => UPSTREAM_NAMES[upstream],
    );
    return `${names.join(', ')}: ${sentence}`;
  });
}

/** The member that an entry is about; empty if it is about a whole element of a list. */
function lastStep(field: string): string {
  const step = field.split('.').at(-1) ?? '';
  return step.endsWith(']') ? '' : `\`${step}\`, `;
}

const REPORT = `# What the translation report says

Every feature of a request that some upstream cannot take as it is, in the order of the tables, with the entry of the
report ([how to ask for it](translation.md#the-translation-report)) and the upstreams that cause it.`;

function answerTable(format: Format): string {
  const rows = answersIn(format).map(({ title, verdicts }) =>
    line(title, (upstream) => verdictIn(verdicts, format, upstream)),
  );
  return `${HEAD}\n${rows.join('\n')}`;
}

/** Features of answers that at least one upstream can bring into a format. */
function answersIn(format: Format) {
  return ANSWER_MATRIX.filter(({ verdicts }) =>
    UPSTREAMS.some((upstream) => verdictIn(verdicts, format, upstream) !== '-'),
  );
}

function answerNotes(format: Format): string {
  const noted = answersIn(format).filter(({ note }) => note !== undefined);
  return noted.map(({ title, note }) => `- **${title}.** ${note}`).join('\n');
}

const CUSTODY_TEXT = `## Reasoning in custody

Models seal their reasoning: with a signature, encrypted, or redacted. You receive the seal and send it back in your
next request. The gateway forwards it byte for byte to the family that made it, and to no other: others would refuse
the whole request. Keep answers unchanged in your history: the seals of other families are in it, wrapped, and work
again when you return to their maker.

The table shows what becomes of a seal when another family serves the next turn; it is the same in all three formats.
Here ~ means that the text of the reasoning arrives without the seal.`;

function custodyTables(): string {
  return CUSTODY.map(({ title, note, answered, verdicts }) => {
    const rows = UPSTREAMS.filter((maker) => answered[maker] !== undefined).map((maker) =>
      line(
        `made by ${UPSTREAM_NAMES[maker]}`,
        (upstream) => verdicts[maker]?.trim().split(/\s+/)[UPSTREAMS.indexOf(upstream)] ?? '',
      ),
    );
    return `### ${title}\n\n${note === undefined ? '' : `${note}\n\n`}${HEAD}\n${rows.join('\n')}`;
  }).join('\n\n');
}

const BAD_INPUT = `## Input that no upstream would take

- **A seal of another family**, an encrypted or redacted one too: as above, with an entry. Reasoning with an empty
  seal goes to OpenAI and Gemini as text; for others it is left out, with an entry.
- **A result without its call**, or a second result of one call, becomes user text. A call without its result gets one
  that says so. This applies to relayed bodies too.
- **An unreadable image** (broken or empty base64, a data URL without base64, an invalid address or one that begins
  with anything but \`http\`, \`https\`, \`gs\` or \`s3\`): 400 with its path. Of large images only samples are checked.
- **A word that the upstream does not know** (effort or verbosity \`xhigh\`, \`max\`) becomes the nearest known one, with
  an entry.
- **Betas** (\`anthropic-beta\`) go to Anthropic unchanged, and to Claude on Bedrock as far as Bedrock takes them. Other
  upstreams have none. The report lists those that do not arrive.
- **Arguments that are not JSON** become \`{"raw": "..."}\` if the upstream needs an object, and stay unchanged
  elsewhere.
- **An image for a model that reads only text**: the endpoint is ruled out before anything is sent. If no other is
  left, a 404 lists the endpoints with the reason for each.
- **An image or file of a type that the dialect does not read**, or one that another provider stores under its own id:
  left out, with an entry.
- **A file that this gateway stores** (\`file_...\`) is sent as its content, so the rows for images, PDF, text and audio
  apply to it. An id of this form that is not in the key's workspace is a 404 with every upstream. See
  [Files](files.md).
- **Items of an unknown type** go to upstreams of the same format, which may know them. Elsewhere they are left out,
  with an entry. On \`/messages\` and \`/chat/completions\` their text is sent if they have some, and a model's
  endpoints of the same format are tried first.`;
