import { isDeepStrictEqual } from 'node:util';
import type { Format } from '../../../src/ir/items.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { FORMATS } from '../matrix/verdict.ts';
import { ANSWER_FORMATS } from './answer-formats.ts';
import type { BodyTypes } from './body-types.ts';
import { type Fate, fateInRequest } from './fate.ts';
import type { Lane, Reply } from './lanes.ts';
import { type Judgeable, judgeEach, type Outcome, type Part } from './outcome.ts';
import { type Probe, probesOf, type Walk } from './probe.ts';
import { BETAS, type PublishedTypes, REQUESTS, ROUTER_REQUESTS } from './published.ts';
import { CATALOGUE_MEMBERS, OWN_MEMBERS, REQUEST_FORMATS } from './request-formats.ts';
import { OTHERS, OWNERS, type Upstream } from './upstreams.ts';

interface Task extends Judgeable {
  readonly part: Part;
  readonly format: Format;
  readonly upstream: Upstream;
  readonly owner: string;
  readonly body: JsonObject;
  readonly without: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one request for each thing that the published types allow, and judges by what upstreams get. */
export async function runRequests(
  lanes: readonly Lane[],
  types: PublishedTypes,
  bodies: BodyTypes,
): Promise<Outcome[]> {
  const tasks = FORMATS.flatMap((format) => [...tasksOf(format, types)]);
  const plain = new Map<string, Promise<Reply>>();
  const isPart = ({ part, format, upstream }: Task, fate: Fate) =>
    (format !== upstream.dialect || part === 'translated requests') && fate === 'refused';
  return judgeEach(lanes, tasks, isPart, async (lane, task) => {
    const { part, format, upstream, name, body, without, headers } = task;
    const isGuarded = part === 'translated requests';
    const { path } = REQUEST_FORMATS[format];
    const answer = ANSWER_FORMATS[upstream.dialect].plain;
    const send = (asked: JsonObject, more?: Task['headers']) =>
      lane.send({ path, upstream, body: asked, answer, headers: more, isGuarded });
    const isRelay = format === upstream.dialect && !isGuarded;
    const asked = { body, without, isRelay, faultsIn: bodies.checkOf(upstream.dialect) };
    const reply = await send(body, headers);
    let judged = headers === undefined ? fateInRequest(asked, reply) : headerFate(headers, reply);
    if (judged === undefined) {
      const key = `${isGuarded} ${upstream.provider} ${JSON.stringify(without)}`;
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
    isFull: false,
    seen: new Set(),
    visited: new Set(),
  };
  const official = REQUESTS[format].flatMap((root) => types.objects(root));
  // The router's types have names of their own, so they are walked through again; what it shares is seen by then.
  const routers = types.objects(ROUTER_REQUESTS[format]);
  const own = OWNERS.filter(({ dialect }) => dialect === format);
  const gemini = OWNERS.filter(({ dialect }) => dialect === 'gemini');
  const columns: readonly (readonly [Part, readonly Upstream[]])[] = [
    ['requests', OWNERS],
    ['translated requests', own],
    ['provider requests', OTHERS.filter(({ dialect }) => dialect === format)],
  ];
  for (const [roots, parts] of [
    [official, columns],
    [routers, [['router requests', [...own, ...gemini]]]],
  ] as const) {
    for (const root of roots) {
      for (const probe of probesOf(root, '', walk)) {
        const body = complete({ ...greeting, ...probe.body });
        const without = withToolsOf(body, complete({ ...greeting, ...probe.without }));
        if (isDeepStrictEqual(body, without)) continue;
        const { name, owner, parent } = probe;
        for (const [part, upstreams] of parts as typeof columns) {
          for (const upstream of upstreamsFor(probe, format, upstreams)) {
            const way = `${part} ${format} ${upstream.provider}`;
            yield { part, format, upstream, way, name, owner, parent, body, without };
          }
        }
      }
    }
  }
  if (format === 'messages') yield* headerTasks(greeting, types);
}

/** The tools that a choice was given stay when the choice is taken away: they are not what is judged. */
function withToolsOf(body: JsonObject, without: JsonObject): JsonObject {
  const isChoice = body.tool_choice !== undefined && without.tool_choice === undefined;
  return isChoice && body.tools !== undefined ? { ...without, tools: body.tools } : without;
}

/** Null says nothing that another dialect could lose: it only must not be refused. */
function upstreamsFor({ value }: Probe, format: Format, upstreams: readonly Upstream[]): readonly Upstream[] {
  return value === null ? upstreams.filter(({ dialect }) => dialect === format) : upstreams;
}

function* headerTasks(greeting: JsonObject, types: PublishedTypes): Generator<Task> {
  const [anthropic] = OWNERS;
  if (anthropic === undefined) return;
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
    const shared = { format: 'messages', owner: 'headers', parent: undefined } as const;
    const label =
      name === 'anthropic-beta' || name === 'anthropic-version'
        ? `header ${name} = ${value}`
        : `header ${name}`;
    for (const part of ['requests', 'translated requests'] as const) {
      yield {
        ...shared,
        part,
        upstream: anthropic,
        way: `${part} headers`,
        name: label,
        body: greeting,
        without: greeting,
        headers: each,
      };
    }
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
