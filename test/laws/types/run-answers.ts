import type { DialectName, Format } from '../../../src/ir/items.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import type { WireAnswer } from '../matrix/answers/wire-answer.ts';
import { FORMATS } from '../matrix/verdict.ts';
import { ANSWER_FORMATS, graft } from './answer-formats.ts';
import { at, differences, type Fate, isEqualAt, type Judged, refusalIn, type Steps } from './fate.ts';
import type { Lane, Reply } from './lanes.ts';
import { type Judgeable, judgeEach, type Outcome, type Part } from './outcome.ts';
import { type Probe, probesOf, type Walk } from './probe.ts';
import { ANSWERS, EVENTS, type PublishedTypes } from './published.ts';
import { REQUEST_FORMATS } from './request-formats.ts';
import { minimalOf } from './sample.ts';
import { type ObjectShape, tagOf } from './shape.ts';
import { OWNERS, type Upstream } from './upstreams.ts';

interface Task extends Judgeable {
  readonly part: Part;
  readonly format: Format;
  readonly upstream: Upstream;
  readonly owner: string;
  readonly isStreamed: boolean;
  /** What is said, and where in it the probe stands. */
  readonly said: JsonObject;
  readonly places: readonly Steps[];
  readonly answer: WireAnswer;
  readonly without: WireAnswer;
}

/** Has upstreams answer with each thing that their published types allow, and judges by what callers get. */
export async function runAnswers(lanes: readonly Lane[], types: PublishedTypes): Promise<Outcome[]> {
  const tasks = OWNERS.flatMap((upstream) => [...tasksOf(upstream, types)]);
  const plain = new Map<string, Promise<Reply>>();
  const isPart = (task: Task, fate: Fate) => !isRelayed(task) && fate === 'refused';
  return judgeEach(lanes, tasks, isPart, async (lane, task) => {
    const { part, format, upstream, isStreamed, answer, without } = task;
    const { path, greeting } = REQUEST_FORMATS[format];
    const isGuarded = part === 'translated answers';
    const body = { ...greeting, stream: isStreamed };
    const ask = (given: WireAnswer) => lane.send({ path, upstream, body, answer: given, isGuarded });
    const reply = await ask(answer);
    const judged = fateInAnswer(task, reply);
    if (judged !== undefined) return judged;
    const key = `${part} ${format} ${upstream.provider} ${JSON.stringify(isStreamed ? without.frames : without.body)}`;
    if (!plain.has(key)) plain.set(key, ask(without));
    const text = shown(reply, answer);
    const fate = text !== shown(await plain.get(key), without) ? 'carried' : lostIn(task);
    return { fate, shown: text };
  });
}

function lostIn(task: Task): Fate {
  return isRelayed(task) ? 'lost' : 'left out';
}

function isRelayed({ part, format, upstream }: Task): boolean {
  return part !== 'translated answers' && format === upstream.dialect;
}

function* tasksOf(upstream: Upstream, types: PublishedTypes): Generator<Task> {
  const name = upstream.dialect;
  const dialect = ANSWER_FORMATS[name];
  const walk: Walk = {
    anchors: (member) => dialect.anchors[member] ?? [],
    isPossible: (owner, member, said) =>
      !(member === 'model' && said.startsWith('=')) && !dialect.isEcho(owner, member),
    isFull: !isFormat(name),
    seen: new Set(),
    visited: new Set(),
  };
  for (const root of types.objects(ANSWERS[name])) {
    for (const probe of probesOf(root, '', walk)) {
      const places = differences(probe.body, probe.without);
      if (places.length === 0) continue;
      const base = dialect.baseFor(probe.name);
      const said = graft(base, probe.body, places);
      const other = graft(base, probe.without, places);
      const { owner, parent } = probe;
      for (const [part, format, isStreamed] of waysFor(probe, upstream)) {
        const way = `${part} ${format} ${upstream.provider} ${isStreamed}`;
        const shared = { part, format, upstream, way, name: probe.name, owner, parent };
        // What stands beside a probe would move it: a relay is seen without.
        const isAlone = part === 'answers' && format === name;
        const [answer, without] = [said, other].map((body) =>
          dialect.whole(isAlone ? body : dialect.complete(body)),
        ) as [WireAnswer, WireAnswer];
        yield { ...shared, isStreamed, said, places, answer, without };
      }
    }
  }
  if (!isFormat(name)) return;
  for (const root of EVENTS[name]) {
    for (const event of types.objects(root)) yield* eventTasks(upstream, event, walk);
  }
}

/** Events reach callers of the same format only: other formats have events of their own. */
function* eventTasks(upstream: Upstream, event: ObjectShape, walk: Walk): Generator<Task> {
  const format = upstream.dialect as Format;
  const dialect = ANSWER_FORMATS[format];
  const tag = tagOf(event)?.value;
  const owner = tag ?? 'chunk';
  const streamed = (frames: WireAnswer['frames']): WireAnswer => ({ ...dialect.plain, frames });
  const way = `${format} events`;
  const shared = { part: 'events', format, upstream, way, isStreamed: true } as const;
  if (tag !== undefined && !walk.seen.has(`event ${tag}`)) {
    walk.seen.add(`event ${tag}`);
    const said = minimalOf(event, 0, owner);
    const answer = streamed(dialect.withEvent(said, []));
    const named = { name: `event ${tag}`, owner, parent: undefined };
    yield { ...shared, ...named, said, places: [], answer, without: dialect.plain };
  }
  for (const { name, owner: holder, parent, body, without } of probesOf(event, owner, walk)) {
    const places = differences(body, without);
    if (places.length === 0) continue;
    const named = { name, owner: holder, parent };
    const answer = streamed(dialect.withEvent(body, places));
    yield {
      ...shared,
      ...named,
      said: body,
      places,
      answer,
      without: streamed(dialect.withEvent(without, places)),
    };
  }
}

/**
 * Callers of the same format get everything: streamed where the format has typed events, and kinds and values in whole
 * answers too; where nothing is relayed, in whole answers. Callers of other formats are asked about kinds and values in
 * whole answers, and about all members of Gemini and Bedrock, whose kinds of parts are members.
 */
function waysFor({ name, value }: Probe, { dialect }: Upstream): (readonly [Part, Format, boolean])[] {
  const isKind = / [:=] /.test(name) && value !== null;
  const isOnlyUpstream = !isFormat(dialect);
  return FORMATS.flatMap((format): (readonly [Part, Format, boolean])[] => {
    if (format !== dialect) {
      return isKind || (isOnlyUpstream && value !== null) ? [['answers', format, false]] : [];
    }
    const guarded = ['translated answers', format, false] as const;
    const whole = ['answers', format, false] as const;
    if (dialect === 'chat') return [whole, guarded];
    const streamed = ['answers', format, true] as const;
    return isKind ? [streamed, whole, guarded] : [streamed, guarded];
  });
}

function isFormat(dialect: DialectName): dialect is Format {
  return (FORMATS as readonly DialectName[]).includes(dialect);
}

function fateInAnswer(task: Task, reply: Reply): Judged | undefined {
  const { said, places, isStreamed, part, upstream } = task;
  if (reply.status !== 200) return { fate: 'refused', refusal: refusalIn(reply) };
  if (places.length > 0 && places.every((place) => at(said, place) === null)) return { fate: 'passed' };
  if (task.format !== upstream.dialect) return undefined;
  if (!isStreamed) {
    const body = JSON.parse(reply.text);
    return places.every((place) => isEqualAt(said, body, place)) ? { fate: 'passed' } : undefined;
  }
  const events = eventsIn(reply.text);
  if (part === 'answers')
    return hasInStream(events, said, places, upstream.dialect) ? { fate: 'passed' } : undefined;
  const same = events.filter(({ type }) => type === said.type);
  const own = places.filter(([first]) => !PLACED.has(String(first)));
  const passed = same.some((event) => own.every((place) => isEqualAt(said, event, place)));
  return passed ? { fate: 'passed' } : undefined;
}

/** Members by which a stream puts its events into order. */
const PLACED = new Set(['index', 'content_index', 'output_index', 'item_id', 'sequence_number']);

/** True if a stream ends with the whole answer, or brings the block in which a probe stands. */
function hasInStream(
  events: readonly any[],
  said: any,
  places: readonly Steps[],
  upstream: DialectName,
): boolean {
  if (upstream === 'responses') {
    const last = events.at(-1)?.response;
    return places.every((place) => isEqualAt(said, last, place));
  }
  if (upstream !== 'messages') return false;
  const start = events.find(({ type }) => type === 'message_start')?.message;
  const end = events.find(({ type }) => type === 'message_delta');
  return places.every((place) => {
    const [first, ...rest] = place;
    if (first !== 'content') return [start, end?.delta, end].some((holder) => isEqualAt(said, holder, place));
    const [index, ...inner] = rest;
    const block = events.find(
      (event) => event.type === 'content_block_start' && event.index === index,
    )?.content_block;
    return isEqualAt(said, { content: { [index as number]: block } }, ['content', index as number, ...inner]);
  });
}

function eventsIn(text: string): any[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

/** An answer without what differs from one to the next: ids and times that the upstream did not say, and the report. */
function shown(reply: Reply | undefined, answer: WireAnswer): string {
  const given = JSON.stringify(answer);
  return (reply?.text ?? '')
    .replace(/"signalbox_metadata":.*$/gm, '')
    .replace(
      /"(id|item_id|response_id|created|created_at|completed_at|model|provider)":("[^"]*"|[\d.]+)/g,
      (whole, name, value) => (name.endsWith('id') && given.includes(value) ? whole : ''),
    )
    .replace(/"sequence_number":\d+/g, '')
    .replace(/gen-[\w-]+/g, '');
}
