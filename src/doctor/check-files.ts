import { join } from 'node:path';
import type { BucketView } from '../control/bucket-view.ts';
import { countText } from '../kit/text/count-text.ts';
import { examineFiles, type FileFacts } from '../store/examine/examine-files.ts';
import { type CheckFinding, fine, problem } from './finding.ts';
import type { Database, Situation } from './situation.ts';

const MAX_LISTED_IDS = 3;

export async function checkFiles(situation: Situation): Promise<CheckFinding[]> {
  const { directory, runtime, database, lookAgain } = situation;
  const bucket = await situation.bucket();
  if (bucket !== null) return [ofBucket(bucket)];
  const found = await database.catch(() => undefined);
  if (directory.kind !== 'there' || found?.facts === undefined) return [];
  const contents = join(runtime.dataDir, 'files');
  const facts = await examineFiles(contents, found.facts.files);
  const stillThere = new Set(
    facts.missing.length === 0 ? [] : (await lookAgain()).facts?.files.map(({ id }) => id),
  );
  const missing = facts.missing.filter((id) => stillThere.has(id));
  return judge(contents, { ...facts, missing }, found);
}

/** Which of the files are in the bucket is not counted: it may have very many, of several gateways. */
function ofBucket({ name, problem: failure }: BucketView): CheckFinding {
  return failure === null
    ? fine(`the bucket ${name} can be read; it has the files and the content of new generations`)
    : problem(
        `the bucket ${name} cannot be read: ${failure}`,
        'check storage.s3 and the rights of its access key; uploads and reads of files get 503 meanwhile',
      );
}

function judge(contents: string, facts: FileFacts, { kind, facts: known }: Database): CheckFinding[] {
  const { missing, cut, withoutFile = 0 } = facts;
  const files = known?.files.length ?? 0;
  const figures = {
    files,
    without_content: missing.length,
    cut_contents: cut.length,
    contents_without_file: withoutFile,
  };
  // Gateways that share a database each hold the content of their own uploads.
  const elsewhere = kind === 'postgres' ? missing.length : 0;
  const wrong = elsewhere > 0 ? cut : [...missing, ...cut];
  if (wrong.length > 0) {
    return [
      problem(
        `${wrong.length} of ${countText(files, 'stored file')} ${wrong.length === 1 ? 'has' : 'have'} no ` +
          `content, or content of another length, in ${contents}: ${named(wrong)}`,
        'restore the content from a backup, or delete those files and upload them again; requests that name them fail',
        figures,
      ),
    ];
  }
  if (files + withoutFile === 0) return [];
  const here =
    `${files - elsewhere} of ${countText(files, 'stored file')} ${files === 1 ? 'has its' : 'have their'} ` +
    `content in ${contents}`;
  const others =
    elsewhere > 0 ? '; the content of the others is at the gateways to which they were uploaded' : '';
  const swept =
    withoutFile > 0
      ? `; ${countText(withoutFile, 'content')} of deleted files ${withoutFile === 1 ? 'is' : 'are'} ` +
        'removed within an hour of running'
      : '';
  return [fine(`${here}${others}${swept}`, figures)];
}

function named(ids: readonly string[]): string {
  const shown = ids.slice(0, MAX_LISTED_IDS).join(', ');
  return ids.length > MAX_LISTED_IDS ? `${shown} and others` : shown;
}
