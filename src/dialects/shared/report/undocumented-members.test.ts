import { describe, expect, it } from 'vitest';
import { Places } from '../../../ir/places.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { facts } from '../../chat/facts.ts';
import { undocumentedEntries } from './undocumented-members.ts';

function request(paths: readonly string[], value: unknown = 1): GenerationRequest {
  const undocumented = paths.map((path) => ({
    path,
    name: path.slice(path.lastIndexOf('.') + 1),
    value,
    isForGateway: path.startsWith('usage'),
  }));
  return {
    formatFacts: facts.request,
    places: new Places(),
    unknownFields: ['reasoning.known'],
    undocumented,
  } as unknown as GenerationRequest;
}

const inFormat = (body: JsonObject) => ({ body, isOfFormat: true });

const dropped = (field: string) => ({ field, action: 'dropped', detail: 'x' }) as const;

describe('undocumentedEntries', () => {
  it('says what was passed on, wherever it stands now, what was dropped, and what the gateway ignored', () => {
    const sent = { input: [{ deep: { moved: 1, other: 2 } }] };
    const asked = request(['messages[0].moved', 'messages[0].other', 'messages[0].gone', 'usage.zz']);
    const entries = undocumentedEntries(asked, inFormat(sent), []);
    expect(entries.map(({ field, action }) => `${field} ${action}`)).toEqual([
      'messages[0].moved passed_on',
      'messages[0].other dropped',
      'messages[0].gone dropped',
      'usage.zz ignored',
    ]);
    const list = undocumentedEntries(request(['a.list'], [1]), inFormat({ b: { list: [1] } }), []);
    expect(list.map(({ action }) => action)).toEqual(['passed_on']);
  });

  it('says the same of unknown values, and of those in lists', () => {
    const values = [
      { path: 'speed', name: 'speed', value: 'warp', isValue: true, isForGateway: false },
      { path: 'include[1]', name: 'include', value: 'all', isValue: true, isForGateway: false },
      { path: 'thinking.type', name: 'type', value: 'deep', isValue: true, isForGateway: false },
    ];
    const asked = { ...request([]), undocumented: values } as unknown as GenerationRequest;
    const sent = { speed: 'warp', include: ['some', 'all'], thinking: { type: 'enabled' } };
    expect(undocumentedEntries(asked, inFormat(sent), [])).toEqual([
      { field: 'speed', action: 'passed_on', detail: 'not a known value: the upstream got it as it is' },
      { field: 'include[1]', action: 'passed_on', detail: 'not a known value: the upstream got it as it is' },
      {
        field: 'thinking.type',
        action: 'dropped',
        detail: 'the gateway writes this part of the request itself, with what it knows',
      },
    ]);
    expect(
      undocumentedEntries(asked, { body: {}, isOfFormat: false }, []).map(({ detail }) => detail),
    ).toEqual(values.map(() => 'an unknown value: passed on only to upstreams of the same format'));
  });

  it('says of a body in another format that it has a value, but never that it has a member', () => {
    const values = [
      { path: 'text.verbosity', name: 'verbosity', value: 'epic', isValue: true, isForGateway: false },
      { path: 'input[0].mood', name: 'mood', value: 'good', isForGateway: false },
    ];
    const asked = { ...request([]), undocumented: values } as unknown as GenerationRequest;
    const body = { verbosity: 'epic', messages: [{ mood: 'good' }] };
    const entries = undocumentedEntries(asked, { body, isOfFormat: false }, []);
    expect(entries.map(({ field, action }) => `${field} ${action}`)).toEqual([
      'text.verbosity passed_on',
      'input[0].mood dropped',
    ]);
  });

  it('repeats no entry, nor what is inside something that was dropped', () => {
    const asked = request(['reasoning.known', 'tools[0].told', 'tools[1].inside', 'tools[10].left']);
    const told = [dropped('tools[0].told'), dropped('tools[1]')];
    expect(undocumentedEntries(asked, inFormat({}), told).map(({ field }) => field)).toEqual([
      'tools[10].left',
    ]);
  });

  it('takes no longer for names of a million dots', () => {
    const long = request([`tools[1]${'.'.repeat(1_000_000)}`]);
    const told = Array.from({ length: 100 }, (_, at) => dropped(`tools[${at + 2}]`));
    expect(undocumentedEntries(long, inFormat({}), told)).toHaveLength(1);
  });
});
