import type { PipelineEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { countText } from '../../kit/text/count-text.ts';
import type { StageContext } from '../stage.ts';

const FILE_SCAN = 'file-scan';

export interface ReadFiles {
  /** The request with the text of each file in its place. */
  readonly request: GenerationRequest;
  readonly files: readonly { readonly name: string; readonly pages: number; readonly characters: number }[];
  /** Names of files that nothing here can read. */
  readonly unread: readonly string[];
  /** True if the texts are all that the upstream could read in the files. */
  readonly isAllOfThem: boolean;
}

/** Reads the files that would go to the model as they are; undefined = there are none. Rejects with 400. */
export type FilesAsText = (
  request: GenerationRequest,
  context: Pick<StageContext, 'caller' | 'signal'>,
) => Promise<ReadFiles | undefined>;

export interface FileScanning {
  /** Returns the request as it may be sent, or throws. The same request if nothing has to be changed. */
  scanned(request: GenerationRequest): Promise<GenerationRequest>;
  /** Called with the names of files that pass although nothing can scan them. */
  unscanned(names: readonly string[]): void;
}

/**
 * The request with its files as they may be sent. Filters read the texts of the files: if they leave them as they are,
 * the files themselves may go; else their texts go in their place.
 */
export async function withScannedFiles(
  request: GenerationRequest,
  context: Pick<StageContext, 'caller' | 'signal' | 'note'>,
  filesAsText: FilesAsText,
  { scanned, unscanned }: FileScanning,
): Promise<GenerationRequest> {
  const read = await filesAsText(request, context);
  if (read === undefined) return request;
  if (read.unread.length > 0) {
    unscanned(read.unread);
    context.note(unscannedEntry(read.unread));
  }
  if (read.files.length === 0) return request;
  const asText = await scanned(read.request);
  const isSentAsText = asText !== read.request || !read.isAllOfThem;
  context.note(fileScanEntry(read, isSentAsText));
  return isSentAsText ? asText : request;
}

function unscannedEntry(files: readonly string[]): PipelineEntry {
  return {
    type: 'guardrail_receipt',
    name: FILE_SCAN,
    summary: `Passed ${files.length === 1 ? 'a file' : `${files.length} files`} that cannot be scanned`,
    data: { action: 'passed', unscanned: [...files] },
  };
}

function fileScanEntry({ files }: ReadFiles, isSentAsText: boolean): PipelineEntry {
  const characters = files.reduce((sum, file) => sum + file.characters, 0);
  const count = countText(files.length, 'file');
  return {
    type: 'guardrail_receipt',
    name: FILE_SCAN,
    summary: `Scanned ${countText(characters, 'character')} of ${count}, sent as ${isSentAsText ? 'text' : 'they are'}`,
    data: { files: files.map((file) => ({ ...file })), sent_as: isSentAsText ? 'text' : 'file' },
  };
}
