import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import { useAddress } from '../../address/address.ts';
import type { FileObject } from '../../api/contract.ts';
import { useCurrentKey } from '../../api/current-key.ts';
import { ask, send } from '../../api/request.ts';
import { bytes, count, percent } from '../../format/numbers.ts';
import { dateTime } from '../../format/times.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useShortcut } from '../../parts/keyboard.ts';
import { RowMenu } from '../../parts/row-menu.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { toast } from '../../parts/toast.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { WorkspaceChoice } from '../../parts/workspace-choice.tsx';
import { type RunningUpload, useUploads } from './use-uploads.ts';

interface FilePage {
  readonly data: readonly FileObject[];
  readonly cursor: string | null;
}

/** Files of a workspace, which requests can name. */
export function Files() {
  const isManager = useCurrentKey().is_management_key;
  const workspaceId = useAddress().query.get('workspace') ?? undefined;
  const queries = useQueryClient();
  const chooser = useRef<HTMLInputElement>(null);
  const [deleting, setDeleting] = useState<FileObject | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const { uploads, start, retry, forget } = useUploads(workspaceId);
  const read = useInfiniteQuery<
    FilePage,
    Error,
    InfiniteData<FilePage>,
    readonly unknown[],
    string | undefined
  >({
    queryKey: ['files', workspaceId],
    initialPageParam: undefined,
    queryFn: ({ pageParam, signal }) =>
      ask<FilePage>('/files', { query: { workspace_id: workspaceId, cursor: pageParam }, signal }),
    getNextPageParam: ({ cursor }) => cursor ?? undefined,
  });
  const files = read.data?.pages.flatMap(({ data }) => data) ?? [];
  const choose = (): void => chooser.current?.click();
  useShortcut('c', choose);
  const download = async (file: FileObject): Promise<void> => {
    setFailure(null);
    try {
      const response = await send(`/files/${file.id}/content`, { query: { workspace_id: workspaceId } });
      saveAs(await response.blob(), file.filename);
    } catch (thrown) {
      setFailure(thrown);
    }
  };
  const remove = async ({ id, filename }: FileObject): Promise<void> => {
    await send(`/files/${id}`, { method: 'DELETE', query: { workspace_id: workspaceId } });
    toast(`${filename} was deleted.`);
    await queries.invalidateQueries({ queryKey: ['files'] });
  };
  return (
    <>
      <TopBar
        title="Files"
        detail={read.isPending ? undefined : `${count(files.length)}${read.hasNextPage ? '+' : ''}`}
      >
        <input
          ref={chooser}
          class="vh"
          type="file"
          multiple
          tabIndex={-1}
          aria-label="Files to upload"
          onChange={({ currentTarget }) => {
            start([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
        <button class="b pri" type="button" onClick={choose}>
          <Icon name="upload" size={14} />
          Upload files
          <kbd class="wide">C</kbd>
        </button>
      </TopBar>
      {isManager && (
        <search class="filters">
          <WorkspaceChoice all="Default workspace" />
        </search>
      )}
      <main
        id="main"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          start([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        <Uploads uploads={uploads} onRetry={retry} onForget={forget} />
        {(read.isError || failure !== null) && (
          <div class="pad">
            <FailureNote
              error={failure ?? read.error}
              onRetry={failure === null ? () => void read.refetch() : undefined}
            />
          </div>
        )}
        {read.isPending && <SkeletonRows />}
        {read.isSuccess && files.length === 0 && uploads.length === 0 && (
          <Empty title="No files here yet">
            <p>
              Requests name files by their id: documents, pictures and recordings that would be too large to
              send each time. Tools that write files store them here too. At most 100 MiB each; the type is
              read from the content.
            </p>
            <button class="b pri" type="button" onClick={choose}>
              Upload files
            </button>
          </Empty>
        )}
        {files.length > 0 && (
          <DataTable
            label="Files"
            columns={columnsOf(download, setDeleting)}
            rows={files}
            idOf={({ id }) => id}
            onEnd={read.hasNextPage && !read.isFetching ? () => void read.fetchNextPage() : undefined}
          />
        )}
      </main>
      {deleting !== null && (
        <Confirm
          title={`Delete ${deleting.filename}?`}
          action="Delete file"
          keep="Keep it"
          onConfirm={() => remove(deleting)}
          onClose={() => setDeleting(null)}
        >
          <p>
            {bytes(deleting.size_bytes)} are removed from the gateway’s disk for good. Requests that name{' '}
            <code>{deleting.id}</code> get 404.
          </p>
        </Confirm>
      )}
    </>
  );
}

function columnsOf(
  download: (file: FileObject) => void,
  remove: (file: FileObject) => void,
): readonly Column<FileObject>[] {
  return [
    {
      name: 'name',
      title: 'Name',
      cell: ({ filename }) => <b title={filename}>{filename}</b>,
    },
    { name: 'type', title: 'Type', width: 'c-200', priority: 2, cell: ({ mime_type: type }) => type },
    {
      name: 'size',
      title: 'Size',
      width: 'c-92',
      isNumber: true,
      cell: ({ size_bytes: size }) => <span title={`${count(size)} bytes`}>{bytes(size)}</span>,
    },
    {
      name: 'made',
      title: 'Stored',
      width: 'c-130',
      priority: 2,
      cell: ({ created_at: at }) => <span class="dim">{dateTime(Date.parse(at))}</span>,
    },
    {
      name: 'id',
      title: 'Id',
      width: 'c-240',
      priority: 3,
      cell: ({ id }) => (
        <span class="r tight">
          <code class="dim cut">{id}</code>
          <CopyButton text={id} what="the id" />
        </span>
      ),
    },
    {
      name: 'actions',
      title: 'Actions',
      isTitleHidden: true,
      width: 'c-72',
      cell: (file) => (
        <RowMenu
          of={file.filename}
          actions={[
            ...(file.downloadable ? [{ title: 'Download', run: () => download(file) }] : []),
            { title: 'Delete', run: () => remove(file) },
          ]}
        />
      ),
    },
  ];
}

interface UploadsProps {
  readonly uploads: readonly RunningUpload[];
  readonly onRetry: (upload: RunningUpload) => void;
  readonly onForget: (id: number) => void;
}

/** Uploads that run, wait or have failed. */
function Uploads({ uploads, onRetry, onForget }: UploadsProps) {
  if (uploads.length === 0) return null;
  return (
    <ul class="uploads" aria-label="Uploads">
      {uploads.map((upload) => {
        const { id, file, sentBytes, error } = upload;
        const share = file.size === 0 ? 0 : Math.min(1, sentBytes / file.size);
        return (
          <li key={id}>
            <div class="r between">
              <b class="cut">{file.name}</b>
              <span class="dim nw">
                {percent(share, 0)} of {bytes(file.size)}
              </span>
            </div>
            <progress class="vh" max={1} value={share} aria-label={`Upload of ${file.name}`} />
            <svg class="bar" aria-hidden="true">
              <rect class="f" width={`${(share * 100).toFixed(1)}%`} height="100%" />
            </svg>
            {error !== null && (
              <>
                <FailureNote error={error} onRetry={() => onRetry(upload)} />
                <button class="link" type="button" onClick={() => onForget(id)}>
                  Leave it out
                </button>
              </>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** Has the browser save what was fetched. The request needs a header that a link cannot send. */
function saveAs(content: Blob, filename: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = filename;
  link.click();
  URL.revokeObjectURL(link.href);
}
