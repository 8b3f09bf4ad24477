import { isDeepStrictEqual } from 'node:util';
import type { DialectName, Format } from '../../src/ir/items.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { FORMATS, UPSTREAMS } from '../matrix/verdict.ts';
import { ANSWER_FORMATS } from './answer-formats.ts';
import { type Fate, fateInRequest } from './fate.ts';
import type { Lane, Reply } from './lanes.ts';
import { type Judgeable, judgeEach, type Outcome, type Part } from './outcome.ts';
import { type Probe, probesOf, type Walk } from './probe.ts';
import { BETAS, type PublishedTypes, REQUESTS, ROUTER_REQUESTS } from './published.ts';
import { CATALOGUE_MEMBERS, OWN_MEMBERS, REQUEST_FORMATS } from './request-formats.ts';

interface Task extends Judgeable {
  readonly part: Part;
  readonly format: Format;
  readonly upstream: DialectName;
  readonly owner: string;
  readonly body: JsonObject;
  readonly without: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one request for each thing that the published types allow, and judges by what upstreams get. */
export async function runRequests(lanes: readonly Lane[], types: PublishedTypes): Promise<Outcome[]> {
  const tasks = FORMATS.flatMap((format) => [...tasksOf(format, types)]);
  const plain = new Map<string, Promise<Reply>>();
  const isPart = ({ format, upstream }: Task, fate: Fate) =>
    format !== upstream && (fate === 'dropped' || fate === 'refused');
  return judgeEach(lanes, tasks, isPart, async (lane, task) => {
    const { format, upstream, name, body, without, headers } = task;
    const send = (asked: JsonObject, more?: Task['headers']) =>
      lane.send(REQUEST_FORMATS[format].path, upstream, asked, ANSWER_FORMATS[upstream].plain, more);
    const asked = { body, without, isRelay: format === upstream };
    const reply = await send(body, headers);
    let judged = headers === undefined ? fateInRequest(asked, reply) : headerFate(headers, reply);
    if (judged === undefined) {
      const key = `${upstream} ${JSON.stringify(without)}`;
      if (!plain.has(key)) plain.set(key, send(without));
      judged = fateInRequest(asked, reply, await plain.get(key));
    }
    if (judged === undefined) throw new Error(`no verdict about ${name}`);
    return judged;
  });
}

function* tasksOf(format: Format, types: PublishedTypes): Generator<Task> {
  const { greeting, complete, anchors, isPossible } = REQUEST_FORMATS[format];
  const walk: Walk = {
    anchors,
    isPossible(owner, member, said) {
      if (owner === '' && OWN_MEMBERS.has(member)) return false;
      return !(CATALOGUE_MEMBERS.has(member) && said.startsWith('=')) && isPossible(owner, member, said);
    },
    seen: new Set(),
    visited: new Set(),
  };
  const official = REQUESTS[format].flatMap((root) => types.objects(root));
  // The router's types have names of their own, so they are walked through again; what it shares is seen by then.
  const routers = types.objects(ROUTER_REQUESTS[format]);
  for (const [part, roots, upstreams] of [
    ['requests', official, UPSTREAMS],
    ['router requests', routers, [format, 'gemini']],
  ] as const) {
    for (const root of roots) {
      for (const probe of probesOf(root, '', walk)) {
        const body = complete({ ...greeting, ...probe.body });
        const without = complete({ ...greeting, ...probe.without });
        if (isDeepStrictEqual(body, without)) continue;
        for (const upstream of upstreamsFor(probe, format, upstreams)) {
          const { name, owner, parent } = probe;
          yield { part, format, upstream, way: `${format} ${upstream}`, name, owner, parent, body, without };
        }
      }
    }
  }
  if (format === 'messages') yield* headerTasks(greeting, types);
}

/** Null says nothing that another dialect could lose: it only must not be refused. */
function upstreamsFor(
  { value }: Probe,
  format: Format,
  upstreams: readonly DialectName[],
): readonly DialectName[] {
  return value === null ? [format] : upstreams;
}

function* headerTasks(greeting: JsonObject, types: PublishedTypes): Generator<Task> {
  const betas = types
    .shapes(BETAS)
    .flatMap((shape) => (shape.kind === 'literal' ? [String(shape.value)] : []));
  const headers = [
    ...betas.map((beta) => ({ 'anthropic-beta': beta })),
    { 'anthropic-version': '2026-10-21' },
    { 'anthropic-user-profile-id': 'uprof_1' },
    { 'anthropic-workspace-id': 'wrkspc_1' },
  ];
  for (const each of headers as Record<string, string>[]) {
    const [[name = '', value = ''] = []] = Object.entries(each);
    const shared = { part: 'requests', format: 'messages', owner: 'headers', parent: undefined } as const;
    const label =
      name === 'anthropic-beta' || name === 'anthropic-version'
        ? `header ${name} = ${value}`
        : `header ${name}`;
    yield {
      ...shared,
      upstream: 'messages',
      way: 'headers',
      name: label,
      body: greeting,
      without: greeting,
      headers: each,
    };
  }
}

/** A header passes as it is, among others of its name perhaps. */
function headerFate(headers: Readonly<Record<string, string>>, { status, received, text }: Reply) {
  if (status !== 200) return { fate: 'refused', refusal: text } as const;
  const arrives = Object.entries(headers).every(([name, value]) =>
    String(received?.headers[name] ?? '')
      .split(/, */)
      .includes(value),
  );
  return {
    fate: arrives ? 'passed' : /"translation":\[[^\]]*anthropic-/.test(text) ? 'dropped' : 'lost',
  } as const;
}
