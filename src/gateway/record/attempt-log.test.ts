import { expect, it } from 'vitest';
import type { PipelineEntry, RoutingMetadata } from '../../ir/metadata.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectsAt } from '../../kit/json/members.ts';
import { keptRouting } from './attempt-log.ts';

const entry = (data: JsonObject): PipelineEntry => ({ type: 'guardrail', name: 'content-filter', data });

const kept = (pipeline: readonly PipelineEntry[]) =>
  objectsAt(
    keptRouting({
      requested: 'm',
      strategy: 'direct',
      region: null,
      summary: '',
      attempt: 1,
      is_byok: false,
      endpoints: { total: 0, available: [] },
      pipeline,
    } as RoutingMetadata),
    'pipeline',
  ).map(({ data }) => data);

it('keeps what guardrails refused and changed before what they noted, in the order in which it was', () => {
  const flagged = Array.from({ length: 40 }, (_, step) => entry({ action: 'flagged', step }));
  const redacted = entry({ action: 'redacted', direction: 'sent' });
  const blocked = entry({ action: 'blocked', direction: 'received' });
  const moderated = entry({ flagged: true });
  const data = kept([...flagged, redacted, blocked, moderated]);
  expect(data).toHaveLength(32);
  expect(data.slice(0, 29)).toEqual(flagged.slice(0, 29).map((each) => each.data));
  expect(data.slice(29)).toEqual([redacted.data, blocked.data, moderated.data]);
  expect(kept([...Array.from({ length: 40 }, () => redacted), blocked]).at(-1)).toEqual(blocked.data);
  expect(kept([blocked, ...flagged.slice(0, 3)])).toHaveLength(4);
});
