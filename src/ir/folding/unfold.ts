import { compact } from '../../kit/json/members.ts';
import type { Event, PartKind, Seal } from '../events.ts';
import type { ItemStatus, OutputItem, Part } from '../items.ts';
import type { Result } from '../result.ts';

/**
 * A whole answer as events: the inverse of folding. Each item begins, is said in one piece and ends before the next one
 * begins. What folding left out, and an upstream's own body, cannot be told again.
 */
export function unfold(result: Result): Event[] {
  const { upstreamId, upstreamModel, vectors, usage, finish, failure, settled } = result;
  const events: Event[] = [compact({ type: 'start', upstreamId, upstreamModel })];
  result.items.forEach((item, index) => {
    events.push(...itemEvents(item, index));
  });
  if (vectors !== undefined) events.push({ type: 'vectors', vectors });
  if (usage !== undefined) events.push({ type: 'usage', usage });
  if (finish !== undefined) events.push(compact({ ...finish, settled: settled ?? finish.settled }));
  else if (failure !== undefined) events.push(compact({ type: 'failure', error: failure, settled }));
  return events;
}

function itemEvents(entry: OutputItem, item: number): Event[] {
  switch (entry.type) {
    case 'message': {
      const { id, phase, ext, status } = entry;
      return [
        { type: 'item-start', item, head: compact({ type: 'message', id, phase, ext }) },
        ...entry.content.flatMap((part, index) => partEvents(part, item, index)),
        ...ending(item, status),
      ];
    }
    case 'reasoning': {
      const { id, ext, status, signature, encrypted, format, givenBy } = entry;
      return [
        { type: 'item-start', item, head: compact({ type: 'reasoning', id, ext }) },
        ...entry.text.flatMap((text, part) => textEvents(item, part, 'thought', text)),
        ...entry.summary.flatMap((text, part) => textEvents(item, part, 'summary', text)),
        ...sealing(item, compact({ signature, encrypted, format, givenBy })),
        ...ending(item, status),
      ];
    }
    case 'tool-call': {
      const { kind, callId, name, namespace, id, ext, status, input } = entry;
      const { signature, signatureFormat: format, signatureGivenBy: givenBy } = entry;
      return [
        {
          type: 'item-start',
          item,
          head: compact({ type: 'tool-call', kind, callId, name, namespace, id, ext }),
        },
        ...(input === '' ? [] : [{ type: 'tool-input-delta', item, text: input } as const]),
        ...sealing(item, compact({ signature, format, givenBy })),
        ...ending(item, status),
      ];
    }
    case 'image': {
      const { id, ext, source, status } = entry;
      return [
        { type: 'item-start', item, head: compact({ type: 'image', id, ext }) },
        { type: 'image-data', item, source },
        ...ending(item, status),
      ];
    }
    case 'server-call': {
      const { output, shown, status, ...head } = entry;
      const isFailed = status === 'failed';
      return [
        { type: 'item-start', item, head },
        ...(output === undefined ? [] : [{ type: 'server-result', item, output, shown, isFailed } as const]),
        ...(status === 'in_progress' ? [] : [{ type: 'item-end', item } as const]),
      ];
    }
    case 'opaque':
      return [
        { type: 'item-start', item, head: { type: 'opaque', item: entry } },
        { type: 'item-end', item },
      ];
    case 'tool-result':
      // Results are what callers send, never what models write.
      return [];
  }
}

/** An item that was never ended has no end here either. */
function ending(item: number, status: ItemStatus | undefined): Event[] {
  if (status === 'in_progress') return [];
  return [compact({ type: 'item-end', item, status })];
}

function sealing(item: number, seal: Seal): Event[] {
  return Object.keys(seal).length === 0 ? [] : [{ type: 'seal', item, seal }];
}

/** Models write text and refusals; parts of other kinds come from callers. */
function partEvents(written: Part, item: number, part: number): Event[] {
  if (written.type === 'refusal') return textEvents(item, part, 'refusal', written.refusal, written);
  if (written.type !== 'text') return [];
  const [begin, ...rest] = textEvents(item, part, 'text', written.text, written);
  const annotations = (written.annotations ?? []).map(
    (annotation): Event => ({ type: 'annotation', item, part, annotation }),
  );
  return [...(begin === undefined ? [] : [begin]), ...rest.slice(0, -1), ...annotations, ...rest.slice(-1)];
}

function textEvents(
  item: number,
  part: number,
  kind: PartKind,
  text: string,
  { ext, logprobs }: Pick<Extract<Part, { type: 'text' }>, 'ext' | 'logprobs'> = {},
): Event[] {
  const isSaid = text !== '' || logprobs !== undefined;
  return [
    compact({ type: 'part-start', item, part, kind, ext }),
    ...(isSaid ? [compact({ type: 'text-delta' as const, item, part, kind, text, logprobs })] : []),
    { type: 'part-end', item, part, kind },
  ];
}
