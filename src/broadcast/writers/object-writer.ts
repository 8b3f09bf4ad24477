import { hash } from 'node:crypto';
import { SharedTurn } from '../../kit/loop/turns.ts';
import type { ObjectTarget } from '../destination-target.ts';
import { encodeTraces } from '../encode-traces.ts';
import type { FilterFacts } from '../filter-fields.ts';
import { objectFolder } from '../object-folder.ts';
import { s3Request } from '../s3-request.ts';
import type { Write, WriterDependencies } from './writer.ts';

/** Writes to a bucket: an object for each folder, with what OTLP in JSON would send. */
export function objectWriter(target: ObjectTarget, { send, sent, version, now }: WriterDependencies): Write {
  return async (generations, signal) => {
    for (const [folder, inFolder] of byFolder(target, generations)) {
      const traces = encodeTraces(inFolder, { sent, version }, 'json');
      const { body, contentType } = await new SharedTurn(signal).run(traces);
      const key = `${folder === '' ? '' : `${folder}/`}${objectName(inFolder)}`;
      const { url, headers } = await s3Request(target, { method: 'PUT', key, body, contentType }, now());
      await send(url, { method: 'PUT', headers, body }, signal);
    }
  };
}

function byFolder(target: ObjectTarget, generations: readonly FilterFacts[]): Map<string, FilterFacts[]> {
  const folders = new Map<string, FilterFacts[]>();
  for (const facts of generations) {
    const folder = objectFolder(target, {
      atMs: facts.generation.settledAtMs,
      apiKeyName: facts.apiKeyName,
    });
    const known = folders.get(folder);
    if (known === undefined) folders.set(folder, [facts]);
    else known.push(facts);
  }
  return folders;
}

/** Names an object: the same generations get the same name, so that the new object replaces the old one. */
function objectName(generations: readonly FilterFacts[]): string {
  const ids = generations.map(({ generation }) => generation.id).join('\n');
  const firstMs = generations[0]?.generation.settledAtMs ?? 0;
  const time = new Date(firstMs).toISOString().replaceAll(/[-:]/g, '');
  return `traces-${time}-${hash('sha256', ids).slice(0, 16)}.json`;
}
