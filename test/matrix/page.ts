import type { DialectName, Format } from '../../src/ir/items.ts';
import { ANSWER_MATRIX } from './answer-matrix.ts';
import { CUSTODY } from './custody.ts';
import { lanesOf, send } from './judge-request.ts';
import type { RequestFeature } from './request-feature.ts';
import { REQUEST_MATRIX } from './request-matrix.ts';
import { FORMATS, UPSTREAMS, verdictIn } from './verdict.ts';

/** What people call the upstream dialects. */
const UPSTREAM_NAMES: Readonly<Record<DialectName, string>> = {
  messages: 'Anthropic',
  responses: 'OpenAI',
  chat: 'Chat',
  gemini: 'Gemini',
  bedrock: 'Bedrock',
};

/** What callers call the formats. */
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

/** The page about translation, made of the tables that the tests hold true. */
export function translationPage(): string {
  return `${[INTRODUCTION, requestTables(), requestNotes(), ANSWERS, answerTables(), answerNotes(), CUSTODY_TEXT, custodyTables(), BAD_INPUT].join('\n\n')}\n`;
}

const INTRODUCTION = `# Translation

You speak one format to the gateway; the model that answers may speak another. This page says what survives, pair by pair.
It is made from the table that the tests check against what really goes out and comes back, so it cannot drift: after a
change, \`node scripts/translation-page.mjs\` writes it anew.

| Sign | Verdict | Meaning |
|---|---|---|
| ✓ | kept | It arrives and means the same. That a field has another name there is no change. |
| ~ | adapted | It arrives in another form. The translation report says which. |
| ✗ | dropped | It does not arrive. The translation report says so, and why. |
| ! | refused | The request is answered with 400 that names the place; no upstream is called. |
| · | not expressible | One of the two sides has no word for it. |

The **translation report** comes with each answer: send the header \`X-Signalbox-Metadata: enabled\`, and
\`signalbox_metadata.translation\` lists every field of your request that was dropped, renamed or changed, with its path in your
own body. Nothing is lost without an entry; of more than 100 the last says how many are not listed.

The columns are the dialects that upstreams speak: **Anthropic** (messages), **OpenAI** (responses), **Chat** (chat completions:
most other providers), **Gemini** (generateContent), **Bedrock** (Converse, here with a Claude model; models of other makers take
less, and the report tells). Where your format and the upstream's are the same, your body is passed on as you wrote it.
What one endpoint does not take (\`supported_parameters\`), or one provider refuses, is left out with an entry too. So is a
service tier or \`speed: fast\` where the endpoint that serves is not of that tier (a tag that ends in \`/flex\` or
\`/priority\`): the tables show endpoints that are.

## Moving a workload

**Claude Code to another family.** Tools, parallel calls, results with images and errors, images, documents, system prompts (also
those between turns), structured output, effort and token counts survive. Thinking goes on as text where the new family takes
it; signatures stay with the family that made them, and work again when you go back. Cache marks reach Anthropic and Bedrock
only: the others cache on their own, and what they read from their caches is in \`usage\`. \`context_management\` and the search that
Anthropic runs are dropped.

**Codex to another family.** Functions, \`namespace\` groups and free-text tools survive: the latter two become plain functions on
the way out, and calls come back in your own words. Encrypted reasoning goes back only to OpenAI. Verbosity, cache keys and the
search that OpenAI runs are dropped elsewhere; a grammar is told to the model in words.

## Requests`;

function requestTables(): string {
  return FORMATS.map((format) => {
    const rows = REQUEST_MATRIX.flatMap(({ title, features }) => {
      const said = features.filter(({ asked }) => asked[format] !== undefined);
      const cells = said.map((feature) =>
        line(feature.title, (upstream) => verdictIn(feature.verdicts, format, upstream)),
      );
      return said.length === 0 ? [] : [`| **${title}** |${' |'.repeat(UPSTREAMS.length)}`, ...cells];
    });
    return `### From ${FORMAT_NAMES[format]}\n\n${HEAD}\n${rows.join('\n')}`;
  }).join('\n\n');
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
  return `### What the report says\n\n${notes.join('\n')}`;
}

/** What the report says of a feature, each sentence once, with those who make it necessary. */
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

/** The member that an entry is about; none where it is about a whole thing in a list. */
function lastStep(field: string): string {
  const step = field.split('.').at(-1) ?? '';
  return step.endsWith(']') ? '' : `\`${step}\`, `;
}

const ANSWERS = `## Answers

Streams and whole answers hold the same. There is no report for answers: what your format has no word for is left out of
it, and the page says so.`;

function answerTables(): string {
  return FORMATS.map((format) => {
    const rows = ANSWER_MATRIX.map((feature) => ({
      title: feature.title,
      verdict: (upstream: DialectName) => verdictIn(feature.verdicts, format, upstream),
    })).filter(({ verdict }) => UPSTREAMS.some((upstream) => verdict(upstream) !== '-'));
    return `### To ${FORMAT_NAMES[format]}\n\n${HEAD}\n${rows.map(({ title, verdict }) => line(title, verdict)).join('\n')}`;
  }).join('\n\n');
}

function answerNotes(): string {
  const noted = ANSWER_MATRIX.filter(({ note }) => note !== undefined);
  return noted.map(({ title, note }) => `- **${title}.** ${note}`).join('\n');
}

const CUSTODY_TEXT = `## Reasoning in custody

Models seal their thoughts: with a signature, encrypted, or redacted. Such a seal travels through you and comes back in your next
request. It goes byte for byte to the family that made it, and to nobody else: others would refuse the whole request. The table
says what becomes of it when the next turn is served by another family; it is the same in all three formats. Here ~ means
that the text of the thoughts arrives without the seal. Keep what you got in your history as it came: the seals of other families are
in it, wrapped, and work again when you go back to their maker.`;

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

- **A signature of another family**, an empty one, an encrypted or redacted thought: as above, with an entry.
- **A result without its call**, or a second result of one call, becomes what the user says; a call without its result gets one
  that says so. This holds where your body is passed on as you wrote it, too.
- **An image that nobody can read** (broken or empty base64, a data URL without base64, an address that is none or that begins with
  anything but \`http\`, \`https\`, \`gs\` or \`s3\`): 400 that names its place. Of large images only samples are looked at.
- **A word that the upstream does not know** (effort or verbosity \`xhigh\`, \`max\`) becomes the nearest that it knows, with an entry.
- **Betas** (\`anthropic-beta\`) go to Anthropic as they are, and to Claude on Bedrock as far as Bedrock takes them. Other upstreams
  have none. What does not arrive is in the report.
- **Arguments that are not JSON** become \`{"raw": "..."}\` where the upstream wants an object, and stay as they are elsewhere.
- **An image for a model that reads only text**: the endpoint is ruled out before anything is sent. When no other is left, 404
  says which endpoints there were and why each of them is out.
- **An image or file of a type that the dialect does not read**, or one that another provider keeps under an id of its own: left out,
  with an entry.
- **A file that this gateway stores** (\`file_...\`) is sent as its content, so the rows for images, PDF, text and sound hold for it. An id of
  this form that is not in the workspace of the key is a 404, whoever serves. [Files](files.md) says more.
- **Items of an unknown type**: 400 that names the place, unless an upstream of the same format serves, which may know them.`;
